import { missing } from '../../shared/core/missing.ts';
/** Columns padded to their widest cell, two spaces apart, as kubectl prints them. */
export function table(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  indent = '',
): string {
  const widths = header.map((title, column) =>
    Math.max(title.length, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    (
      indent +
      cells.map((cell, column) => cell.padEnd(widths[column] ?? missing(column))).join('   ')
    ).trimEnd();
  return [header, ...rows].map(line).join('\n');
}
