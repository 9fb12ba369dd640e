import { isEmpty } from '../../core/disruption/candidates.ts';
import { isConsolidatable } from '../../core/disruption/pod-events.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import type { PoolCandidate } from './candidates.ts';
import type { DisruptPass } from './pass.ts';

/** Why its pool never lets the node go, or not so soon; empty: it may go. */
export function reasonsNotDue(
  { nowMs }: Pick<DisruptPass, 'nowMs'>,
  each: PoolCandidate,
): readonly Reason[] {
  const { pool } = each;
  const { consolidationPolicy, consolidateAfter } = pool.disruption;
  const isNever = consolidateAfter === 'Never';
  const isSoon = !isNever && !isConsolidatable(each, consolidateAfter, nowMs);
  const isOther = consolidationPolicy === 'WhenEmpty' && !isEmpty(each);
  return [
    ...(pool.replicas === undefined
      ? []
      : [reason('nodepool-static-stays', { nodePool: pool.name })]),
    ...(isOther ? [reason('policy-when-empty', {})] : []),
    ...(isNever ? [reason('consolidate-after-never', {})] : []),
    ...(isSoon ? [reason('pods-changed-recently', {})] : []),
  ];
}
