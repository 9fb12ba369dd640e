import packageJson from '../../package.json' with { type: 'json' };
import type { ReadDecision } from '../../shared/api/decision-record.ts';
import { type DocumentFormat, documentText } from '../output.ts';
import { visibleLine } from '../terminal.ts';

/** The widths are fixed, so that lines that are written one by one stand below each other. */
const COLUMNS = [
  ['AT', 20],
  ['BY', 9],
  ['ACTION', 13],
  ['OBJECT', 36],
] as const;
/** What `-o wide` adds before the reason in words. */
const WIDE = [
  ['ID', 24],
  ['CODES', 36],
] as const;

/** To the second, UTC. */
export function timeText(atMs: number): string {
  return new Date(atMs).toISOString().replace(/\.\d+Z$/, 'Z');
}

const WHY = ['WHY', 0] as const;

function columnsOf(isWide: boolean) {
  return isWide ? [...COLUMNS, ...WIDE, WHY] : [...COLUMNS, WHY];
}

function lineOf(cells: readonly string[], isWide: boolean): string {
  const widths = columnsOf(isWide).map(([, width]) => width);
  return `${cells
    .map((cell, at) => visibleLine(cell).padEnd(widths[at] ?? 0))
    .join('  ')
    .trimEnd()}\n`;
}

/** The first line of the list. */
export function headLine(isWide: boolean): string {
  return lineOf(
    columnsOf(isWide).map(([title]) => title),
    isWide,
  );
}

/** One line a record; wide ones have the record's id and the codes of its reasons, too. */
export function recordLines(records: readonly ReadDecision[], isWide: boolean): string {
  return records
    .map(({ id, atMs, useCase, action, object, reasons, message }) => {
      const codes = reasons.map(({ code }) => code).join(',') || '-';
      const further = isWide ? [id, codes] : [];
      const why = message.replaceAll(/\s+/g, ' ');
      return lineOf([timeText(atMs), useCase, action, object, ...further, why], isWide);
    })
    .join('');
}

/** All records as one document. */
export function recordsText(
  cluster: string | undefined,
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
