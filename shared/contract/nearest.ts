/** Letters that a word may differ in from the one that was meant; of short words it is one. */
function editsMax({ length }: string): number {
  return length <= 4 ? 1 : 2;
}

/** Letters put in, left out, replaced, or exchanged with their neighbour, to make one of the other. */
function edits(from: string, to: string): number {
  const rows: number[][] = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  const at = (row: number, column: number): number => rows[row]?.[column] ?? Infinity;
  for (let row = 1; row <= from.length; row++) {
    const costs = [row];
    rows.push(costs);
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isExchanged = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      costs[column] = Math.min(
        at(row - 1, column) + 1,
        at(row, column - 1) + 1,
        at(row - 1, column - 1) + (isSame ? 0 : 1),
        isExchanged ? at(row - 2, column - 2) + 1 : Infinity,
      );
    }
  }
  return at(from.length, to.length);
}

/**
 * The known word that was probably meant; undefined where none is near. Upper and lower case do
 * not count; of words that are equally near it is the first.
 */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  const lower = word.toLowerCase();
  const most = editsMax(word);
  let best: { readonly each: string; readonly count: number } | undefined;
  for (const each of known) {
    // Words of other lengths are not near: their distances need not be computed.
    if (Math.abs(each.length - word.length) > most) continue;
    const count = edits(lower, each.toLowerCase());
    if (count <= most && count < (best?.count ?? Infinity)) best = { each, count };
  }
  return best?.each;
}

/** What was probably meant by a name that nothing has, such as ` (did you mean web?)`; else empty. */
export function meant(name: string, known: Iterable<string>): string {
  const near = nearest(name, known);
  return near === undefined ? '' : ` (did you mean ${near}?)`;
}
