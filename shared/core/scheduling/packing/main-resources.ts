import { mostOf } from '../../extremes.ts';
import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { cheapestAlone } from './duals.ts';
import type { PodShape } from './pattern.ts';

/** Of devices, so many kinds at most: the number of mixes grows with the power of it. */
const DEVICES_MAX = 1;

/** Of such a share of the pods on, those that are many for their size decide what nodes hold. */
const CROWDED_LEAST = 0.25;

/**
 * Resources whose use decides what a node costs: cpu and memory, where they are asked for, and the
 * device for which most nodes are needed, since it is dearer than both; and places for pods, where
 * many are so small that a node has no more of these long before it is full.
 */
export function mainResources(
  shapes: readonly PodShape[],
  resources: readonly string[],
  left: Float64Array,
  options: readonly LaunchOption[],
): readonly number[] {
  const asked = (r: number) =>
    shapes.reduce(
      (sum, { id, requests }) => sum + (left[id] ?? missing(id)) * (requests[r] ?? missing(r)),
      0,
    );
  const basic = ['cpu', 'memory'].map((name) => resources.indexOf(name)).filter((r) => r >= 0);
  // Of what device plugins count every node may have plenty, as of `/dev/fuse`: nodes tell.
  const most = (r: number) => mostOf(options.map(({ free }) => free[r] ?? missing(r)));
  const devices = resources
    .map((name, r) => ({ r, nodes: name.includes('/') ? asked(r) / most(r) : 0 }))
    .filter(({ nodes }) => nodes > 0)
    .sort((a, b) => b.nodes - a.nodes)
    .slice(0, DEVICES_MAX);
  const found = [...basic.filter((r) => asked(r) > 0), ...devices.map(({ r }) => r)];
  const places = resources.indexOf('pods');
  if (found.length === 0) return [Math.max(0, places)];
  const crowded = shapes.filter((shape) => isCrowded(shape, options, found, places));
  const count = (some: readonly PodShape[]) =>
    some.reduce((sum, { id }) => sum + (left[id] ?? missing(id)), 0);
  return count(crowded) > CROWDED_LEAST * count(shapes) ? [...found, places] : found;
}

/** Whether the node that holds such pods at the least cost for each holds no more for their number. */
function isCrowded(
  shape: PodShape,
  options: readonly LaunchOption[],
  main: readonly number[],
  places: number,
): boolean {
  if (places < 0) return false;
  const isFull = ({ free }: LaunchOption): boolean => {
    const most = free[places] ?? missing(places);
    return main.every((r) => most * (shape.requests[r] ?? missing(r)) <= (free[r] ?? missing(r)));
  };
  if (!options.some(isFull)) return false;
  const alone = cheapestAlone(shape, options, Number.POSITIVE_INFINITY, 0);
  return alone !== undefined && isFull(alone.option);
}
