import { type ConditionClaim, readiness, withConditions } from '../../core/lifecycle/conditions.ts';
import type { ConditionChange } from '../../ports.ts';

/** Of which the condition `Ready` of a NodeClaim is the sum. */
const REQUIRED = ['Launched', 'Registered', 'Initialized'];

/** Sets these and what follows from them; what others say meanwhile stays. */
export function withReadiness(set: readonly ConditionClaim[], nowMs: number): ConditionChange {
  return (now) => {
    const merged = withConditions(now, set, nowMs);
    return withConditions(merged, [readiness(merged, REQUIRED)], nowMs);
  };
}
