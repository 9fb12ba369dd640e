import { obstaclesIn } from './parameters.ts';
import type { Reason } from './reason.ts';

/**
 * What pods with equal obstacles have in common, to count them by: of the NodePool that came
 * nearest what leaves nothing, of other reasons the code.
 */
export function briefly(reasons: readonly Reason[]): string {
  return reasons.map(causeOf).join(' and ');
}

function causeOf({ code, parameters }: Reason): string {
  if (code !== 'pod-unplaced') return code;
  const [nearest] = parameters.nodePools;
  const obstacles = obstaclesIn(nearest?.stages ?? []);
  return obstacles.length === 0 ? 'no NodePool' : obstacles.map(({ what }) => what).join(' and ');
}
