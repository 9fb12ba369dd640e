/** Letters that a word may differ in from the one that was meant. */
const EDITS_MAX = 2;

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

/** The known word that was probably meant; undefined where none is near. */
export function nearest(word: string, known: Iterable<string>): string | undefined {
  let best: { readonly each: string; readonly count: number } | undefined;
  for (const each of known) {
    const count = edits(word, each);
    if (count <= EDITS_MAX && count < (best?.count ?? Infinity)) best = { each, count };
  }
  return best?.each;
}
