/** Acts on each of them, so many at once; what throws ends it all. */
export async function atOnce<Item>(
  limit: number,
  items: readonly Item[],
  act: (item: Item) => Promise<void>,
): Promise<void> {
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) await act(item);
  };
  await Promise.all(Array.from({ length: limit }, work));
}
