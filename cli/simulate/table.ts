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

/** `45s`, `2m5s`, `3h20m`, as kubectl writes ages. */
export function age(seconds: number): string {
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  return hours < 8 && minutes % 60 > 0 ? `${hours}h${minutes % 60}m` : `${hours}h`;
}
