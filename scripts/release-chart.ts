/** Writes the Helm chart of the CRDs into dist/chart: `npm run release:chart`. */
import { join, relative } from 'node:path';
import { writeChart } from '../infra/chart.ts';
import packageJson from '../package.json' with { type: 'json' };

const root = join(import.meta.dirname, '..');
for (const file of writeChart(packageJson.version, join(root, 'dist/chart'))) {
  process.stdout.write(`${relative(root, file)}\n`);
}
