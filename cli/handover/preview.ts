import type { StackSettings } from '../../shared/app/settings.ts';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { preview } from '../../shared/preview/preview.ts';
import { BadInput } from '../bad-input.ts';
import { type Line, ok, warn } from '../doctor/line.ts';
import type { LiveCluster } from '../live.ts';
import { type MarketOptions, marketOf } from '../market.ts';
import { previewedOn } from '../plan/basis.ts';
import { counted, someOf } from '../words.ts';

/** Nodes that Joiner would call drifted, though Karpenter does not. */
function driftLines(
  live: LiveCluster,
  drifted: readonly { readonly nodeClaim: string; readonly reason: string }[],
): readonly Line[] {
  const before = new Set(
    live.state.objects.nodeClaims.filter((each) => isTrue(each, 'Drifted')).map(({ name }) => name),
  );
  const news = drifted.filter(({ nodeClaim }) => !before.has(nodeClaim));
  if (news.length === 0) {
    return [ok('drift', `no node becomes drifted; ${before.size} have drifted already`)];
  }
  const names = someOf(news.map(({ nodeClaim, reason }) => `${nodeClaim} (${reason})`));
  const advice = 'joiner plan says why; until that is settled, the step verify stops';
  return [warn('drift', `Joiner would call drifted: ${names}`, advice)];
}

/**
 * What Joiner would do with the cluster as it is. Where no prices are known, nothing of it can be
 * said, and a line says so.
 */
export async function checkPlan(
  live: LiveCluster,
  stack: StackSettings,
  options: MarketOptions,
): Promise<readonly Line[]> {
  try {
    const market = await marketOf(live, options);
    const { launches, removals, drifted, plan } = await preview(
      await previewedOn(market, live, stack),
    );
    const { size } = plan.unplaced;
    const pending = size === 0 ? '' : `; ${counted(size, 'pod')} stay pending`;
    const removed = counted(removals.length, 'node');
    const message = `Joiner would launch ${launches.length} and remove ${removed}${pending}`;
    const isIdle = launches.length + removals.length === 0;
    const what = isIdle ? ok('plan', message) : warn('plan', message, 'joiner plan lists them');
    return [...driftLines(live, drifted), what];
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    return [warn('plan', `not made: ${error.message}`, 'give --catalog FILE or --bucket NAME')];
  }
}
