/** Objects written at the same time: each takes the API server some 10 ms, and it serves others. */
export const WRITES_AT_ONCE = 8;

/**
 * Acts on each of them, so many at once, and begins with them in order. Once one throws none is
 * begun; those that are under way end before it is thrown on.
 */
export async function atOnce<Item>(
  limit: number,
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const errors: unknown[] = [];
  const work = async (): Promise<void> => {
    for (const item of queue) {
      if (errors.length > 0) return;
      await act(item).catch((error: unknown) => errors.push(error));
    }
  };
  await Promise.all(Array.from({ length: limit }, work));
  if (errors.length > 0) throw errors[0];
}
