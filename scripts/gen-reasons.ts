/** Writes docs/reasons.md from the list of reasons. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { reasonsPage } from './reasons-page.ts';

writeFileSync(join(import.meta.dirname, '..', 'docs', 'reasons.md'), reasonsPage());
