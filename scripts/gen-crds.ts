/** Writes infra/crds from the schemas of shared/api: `npm run generate`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { crdFiles } from '../shared/api/crds/text.ts';

const folder = new URL('../infra/crds/', import.meta.url);

mkdirSync(folder, { recursive: true });
for (const [name, text] of crdFiles()) {
  writeFileSync(new URL(name, folder), text);
  console.log(`infra/crds/${name}`);
}
