/** Parts of generated pages. */

/** What every generated page begins with. */
export function heading(title: string, source: string): readonly string[] {
  return [`# ${title}`, '', `<!-- Written by npm run generate, from ${source}. -->`, ''];
}

/** A cell's text: a bar would end the cell, an angle bracket would begin HTML. */
export function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ').trim();
}

/** In code nothing but the bar means anything. */
export function code(text: string): string {
  return text === '' ? '' : `\`${text.replaceAll('|', '\\|').replaceAll('`', "'")}\``;
}

/** A table; the cells are Markdown. */
export function table(
  columns: readonly string[],
  rows: readonly (readonly string[])[],
): readonly string[] {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  return [line(columns), `|${columns.map(() => '---').join('|')}|`, ...rows.map(line), ''];
}

/** A whole page of its lines. */
export function pageOf(lines: readonly string[]): string {
  return `${lines.join('\n').trimEnd()}\n`;
}
