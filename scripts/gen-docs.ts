/** Writes the generated pages of the documentation: `npm run generate`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { generatedFiles } from './docs/generated.ts';
import { root } from './docs/repository.ts';

for (const [file, text] of await generatedFiles()) {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
  console.log(file);
}
