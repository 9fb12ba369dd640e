/** Acts on each of them, some dozens at a time. */
export async function each<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  atOnce = 48,
): Promise<void> {
  const queue = items.values();
  const work = async (): Promise<void> => {
    for (const item of queue) await act(item);
  };
  await Promise.all(Array.from({ length: atOnce }, work));
}

/** `0` to `count - 1`. */
export function upTo(count: number): readonly number[] {
  return [...Array(count).keys()];
}
