/** Writes infra/rbac from what the functions were seen to ask for: `npm run generate`. */
import { readFileSync, writeFileSync } from 'node:fs';
import { rightsFiles, withFurther } from '../infra/rights/files.ts';

const folder = new URL('../infra/rbac/', import.meta.url);
const [record, further] = ['requests', 'further-requests'].map((name) => {
  const file = new URL(`../test/infra/golden/${name}.json`, import.meta.url);
  return JSON.parse(readFileSync(file, 'utf8'));
});

for (const [name, text] of rightsFiles(withFurther(record, further))) {
  writeFileSync(new URL(name, folder), text);
  console.log(`infra/rbac/${name}`);
}
