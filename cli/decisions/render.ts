import packageJson from '../../package.json' with { type: 'json' };
import type { ReadDecision } from '../../shared/api/decision-record.ts';
import { type DocumentFormat, documentText } from '../output.ts';

const HEAD = ['AT', 'BY', 'ACTION', 'OBJECT', 'WHY'] as const;
/** So that lines that are written one by one stand below each other. */
const WIDTHS = [20, 9, 13, 36] as const;

/** To the second, UTC. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

function lineOf(cells: readonly string[]): string {
  return `${cells.map((cell, at) => cell.padEnd(WIDTHS[at] ?? 0)).join('  ')}`.trimEnd();
}

/** The first line of the list. */
export function headLine(): string {
  return `${lineOf(HEAD)}\n`;
}

/** One line a record. */
export function recordLines(records: readonly ReadDecision[]): string {
  return records
    .map(({ atMs, useCase, action, object, message }) => {
      const why = message.replaceAll(/\s+/g, ' ');
      return `${lineOf([timeText(atMs), useCase, action, object, why])}\n`;
    })
    .join('');
}

/** All records as one document. */
export function recordsText(
  cluster: string,
  sinceMs: number,
  decisions: readonly ReadDecision[],
  format: DocumentFormat,
): string {
  const since = new Date(sinceMs).toISOString();
  return documentText({ joiner: packageJson.version, cluster, since, decisions }, format);
}

/** A document for each record, as `--follow` writes them: JSON in one line, YAML after `---`. */
export function recordsStream(records: readonly ReadDecision[], format: DocumentFormat): string {
  return records
    .map((each) =>
      format === 'json' ? `${JSON.stringify(each)}\n` : `---\n${documentText(each, format)}`,
    )
    .join('');
}
