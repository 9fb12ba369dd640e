import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CLASSES, type Exception } from './exceptions.ts';
import { KARPENTER } from './module.ts';
import type { Result } from './results.ts';
import { SUITES } from './suites.ts';

const BEGIN = '<!-- Karpenter suites: begin; npm run test:karpenter -- --write-table -->';
const END = '<!-- Karpenter suites: end -->';
const PAGE = join(import.meta.dirname, '../../docs/compatibility.md');

function row(cells: readonly (string | number)[]): string {
  return `| ${cells.map((cell) => String(cell).replaceAll('|', '\\|')).join(' | ')} |`;
}

function heading(cells: readonly string[]): readonly string[] {
  return [row(cells), `|${cells.map(() => '---').join('|')}|`];
}

function kindOf({ class: kind }: Exception): string {
  return kind === undefined ? 'a defect, to be mended' : CLASSES[kind];
}

/** The results as the page has them. */
export function table(
  results: Readonly<Record<string, Result>>,
  exceptions: readonly Exception[],
): string {
  const counted = SUITES.map(({ name, title }) => {
    const found = results[name];
    if (found === undefined) return row([name, title, 'not yet run as a whole', '', '', '']);
    const { cases, passed, skipped, excepted } = found;
    return row([name, title, cases, passed, skipped, excepted]);
  });
  const reasons = exceptions.map((each) =>
    row([each.suites.join(', '), each.cases.length, kindOf(each), each.reason]),
  );
  return [
    `Of Karpenter ${KARPENTER}; a case that the suite itself skips asks for what its cluster has not.`,
    '',
    ...heading(['suite', 'what is run', 'cases', 'pass', 'skipped', 'exceptions']),
    ...counted,
    '',
    ...heading(['suites', 'cases that do not pass', 'which is', 'reason']),
    ...reasons,
  ].join('\n');
}

/** What stands between the marks. */
export function tableOnPage(): string {
  const page = readFileSync(PAGE, 'utf8');
  return page.slice(page.indexOf(BEGIN) + BEGIN.length, page.indexOf(END)).trim();
}

export function writeTable(text: string): void {
  const page = readFileSync(PAGE, 'utf8');
  const [before, after] = [page.indexOf(BEGIN), page.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${PAGE} lacks the marks of the table`);
  const head = page.slice(0, before + BEGIN.length);
  writeFileSync(PAGE, `${head}\n\n${text}\n\n${page.slice(after)}`);
}
