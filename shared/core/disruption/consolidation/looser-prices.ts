/**
 * USD an hour that a node is charged for beside its price. A tight plan may leave a pod over, since
 * kube-scheduler binds in its own order; the more a node is charged for, the fewer and larger there
 * are, and on a single one nothing is left over.
 */
const LOOSER_NODE_PRICES = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 3] as const;

/**
 * What nodes are charged for in plans that are looser than one with this price: all that there are,
 * or as many as plans may be made, evenly from the list and the loosest one always.
 */
export function looserNodePrices(nodePrice: number, plansMax: number): readonly number[] {
  const prices = LOOSER_NODE_PRICES.filter((each) => each > nodePrice);
  const count = Math.min(prices.length, Math.max(0, plansMax));
  return prices.filter(
    (_, at) =>
      Math.floor(((at + 1) * count) / prices.length) > Math.floor((at * count) / prices.length),
  );
}
