import { NODE_POOL, REPLACES } from '../../model/labels.ts';
import type { NodeClaim } from '../../model/provisioning.ts';

/** NodeClaims that are created within this time of the first of them answer the same pods. */
const TOGETHER_MS = 60_000;

/**
 * How long what a move of the pool's nodes saves is saved, on average: until pods want the room
 * that it gave up, and a node is launched for them. It is the horizon divided by the launches for
 * pods within the horizon before now, as far as their NodeClaims are left; undefined: none was.
 */
export function savingsLastMs(
  nodeClaims: readonly NodeClaim[],
  nodePool: string,
  nowMs: number,
  horizonMs: number,
): number | undefined {
  const times = nodeClaims
    .filter(
      ({ labels, annotations, createdAtMs }) =>
        labels[NODE_POOL] === nodePool &&
        annotations[REPLACES] === undefined &&
        createdAtMs > nowMs - horizonMs,
    )
    .map(({ createdAtMs }) => createdAtMs)
    .sort((a, b) => a - b);
  let launches = 0;
  let firstMs = Number.NEGATIVE_INFINITY;
  for (const at of times) {
    if (at - firstMs <= TOGETHER_MS) continue;
    launches += 1;
    firstMs = at;
  }
  return launches === 0 ? undefined : horizonMs / launches;
}
