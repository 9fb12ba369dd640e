/** Writes infra/rbac from what the functions were seen to ask for: `npm run generate`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rightsFiles } from '../infra/rights/files.ts';

const record = new URL('../test/infra/golden/requests.json', import.meta.url);
const folder = new URL('../infra/rbac/', import.meta.url);

for (const [name, text] of rightsFiles(JSON.parse(readFileSync(record, 'utf8')))) {
  writeFileSync(new URL(name, folder), text);
  console.log(`infra/rbac/${name}`);
}
