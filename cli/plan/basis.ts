import type { StackSettings } from '../../shared/app/settings.ts';
import { basisOf, type PlanBasis } from '../../shared/preview/basis.ts';
import type { Previewed } from '../../shared/preview/copy.ts';
import type { LiveCluster } from '../live.ts';
import type { Market } from '../market.ts';

/** What decisions on these prices go by beside the cluster. */
export async function planBasis(
  { catalog: prices, memory, isCurrent, groupUsages }: Market,
  { backoffs }: Pick<LiveCluster, 'backoffs'>,
  stack: StackSettings,
): Promise<PlanBasis> {
  const told = { backoffs: await backoffs(), memory, groupUsages, isCatalogCurrent: isCurrent };
  return basisOf({ prices, ...told }, stack);
}

/** What a preview of a cluster on these prices goes by. */
export async function previewedOn(
  market: Market,
  live: Pick<LiveCluster, 'reader' | 'state' | 'nowMs' | 'backoffs'>,
  stack: StackSettings,
): Promise<Previewed> {
  const { reader, state, nowMs } = live;
  return { ...(await planBasis(market, live, stack)), live: reader, state, nowMs };
}
