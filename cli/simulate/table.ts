import { missing } from '../../shared/core/missing.ts';
import { visibleLine } from '../terminal.ts';

/** Columns padded to their widest cell, two spaces apart, as kubectl prints them. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  indent = '',
): string {
  const lines = [header, ...rows.map((row) => row.map(visibleLine))];
  const widths = header.map((title, column) =>
    Math.max(title.length, ...lines.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    (
      indent +
      cells.map((cell, column) => cell.padEnd(widths[column] ?? missing(column))).join('   ')
    ).trimEnd();
  return lines.map(line).join('\n');
}
