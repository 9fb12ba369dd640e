import { CAPACITY_TYPE, INSTANCE_TYPE, type Labels, SPOT, ZONE } from '../core/model/labels.ts';
import type { Catalog } from './facts.ts';

/** How EKS's own node groups say what Karpenter's label says. */
const EKS_CAPACITY_TYPE = 'eks.amazonaws.com/capacityType';

/** How a node is paid, by Karpenter's label or by that of EKS; undefined: neither says. */
export function capacityTypeOf(labels: Labels): string | undefined {
  return labels[CAPACITY_TYPE] ?? labels[EKS_CAPACITY_TYPE]?.toLowerCase().replace('_', '-');
}

/** The list price of what the labels name; on-demand where they do not say how it is paid. */
export function listPrice({ types }: Catalog, labels: Labels): number | undefined {
  const facts = types.find(({ name }) => name === labels[INSTANCE_TYPE]);
  const isSpot = capacityTypeOf(labels) === SPOT;
  return isSpot ? facts?.spotPrices[labels[ZONE] ?? ''] : facts?.onDemandPrice;
}
