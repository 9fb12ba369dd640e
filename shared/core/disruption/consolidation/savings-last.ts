import { NODE_POOL, REPLACES } from '../../model/labels.ts';
import type { NodeClaim } from '../../model/provisioning.ts';

/** NodeClaims that are created within this time of the first of them answer the same pods. */
const TOGETHER_MS = 60_000;

/**
 * Launches that come with a mean time between them are over after so many times of it: were they to
 * go on, one would have come by then in 99 of 100 cases.
 */
const OVER_AFTER = 5;

/** Launches for pods of the pool within the horizon, those of the same pods once, oldest first. */
function launchesOf(
  nodeClaims: readonly NodeClaim[],
  nodePool: string,
  nowMs: number,
  horizonMs: number,
): readonly number[] {
  const times = nodeClaims
    .filter(
      ({ labels, annotations, createdAtMs }) =>
        labels[NODE_POOL] === nodePool &&
        annotations[REPLACES] === undefined &&
        createdAtMs > nowMs - horizonMs,
    )
    .map(({ createdAtMs }) => createdAtMs)
    .sort((a, b) => a - b);
  const launches: number[] = [];
  for (const at of times) {
    if (at - (launches.at(-1) ?? Number.NEGATIVE_INFINITY) > TOGETHER_MS) launches.push(at);
  }
  return launches;
}

/** Until when the launches, which followed one another, may go on. */
function overAtMs(firstMs: number, lastMs: number, count: number): number {
  const meanMs = count < 2 ? TOGETHER_MS : Math.max(TOGETHER_MS, (lastMs - firstMs) / (count - 1));
  return lastMs + OVER_AFTER * meanMs;
}

/**
 * What launches that followed one another and are over count as: just then the mean, of factors, of
 * all of them and of one, and half as much above one each time that twice as long has gone by with
 * nothing launched. It changes in steps, so that nothing is looked at again in between.
 */
function faded(firstMs: number, lastMs: number, count: number, nowMs: number): number {
  const times = (nowMs - lastMs) / (overAtMs(firstMs, lastMs, count) - firstMs);
  const halvings = Math.max(0, Math.floor(Math.log2(times)));
  return 1 + (Math.sqrt(count) - 1) / 2 ** halvings;
}

/**
 * How long what a move of the pool's nodes saves is saved, on average: until pods want the room
 * that it gave up, and a node is launched for them. It is the horizon divided by the launches for
 * pods within the horizon before now, as far as their NodeClaims are left; undefined: none was.
 * Launches that followed one another and are over, as of a cluster that grew to its size and was
 * still from then on, may come again or not: they count for fewer.
 */
export function savingsLastMs(
  nodeClaims: readonly NodeClaim[],
  nodePool: string,
  nowMs: number,
  horizonMs: number,
): number | undefined {
  let over = 0;
  let [firstMs, lastMs, count] = [0, 0, 0];
  for (const at of launchesOf(nodeClaims, nodePool, nowMs, horizonMs)) {
    const isNext = count > 0 && at <= overAtMs(firstMs, lastMs, count);
    if (!isNext) over += Math.sqrt(count);
    [firstMs, lastMs, count] = isNext ? [firstMs, at, count + 1] : [at, at, 1];
  }
  if (count === 0) return undefined;
  const isOver = nowMs > overAtMs(firstMs, lastMs, count);
  return horizonMs / (over + (isOver ? faded(firstMs, lastMs, count, nowMs) : count));
}
