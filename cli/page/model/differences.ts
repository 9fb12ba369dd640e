import { costOf } from '../draw/sums.ts';
import { amountText, count, type Prices, percent, podsText } from '../draw/text.ts';
import type { Difference, NodeModel, Scene } from './model.ts';
import { podsOn, priceOf, roomOf, shareOf, usageOf } from './use.ts';

/** Amounts of cpu are thousandths of a core. */
const MILLI = 1000;
/** Prices an hour that differ by less read the same. */
export const SHOWN_MIN = 5e-5;
const CAPACITY_TYPES = ['on-demand', 'spot', 'reserved'];

function boughtText(nodes: readonly NodeModel[], prices: Prices): string {
  if (nodes.length === 0) return 'none';
  return `${count(nodes.length, 'node')}, ${costOf(nodes, prices)}`;
}

/** `2 × m6g.4xlarge on-demand`, the most expensive kind first. */
function typesText({ nodes }: Scene): string {
  const alike = Map.groupBy(nodes, ({ type, capacityType }) => `${type} ${capacityType}`);
  return [...alike]
    .toSorted(([a, x], [b, y]) => priceOf(y) - priceOf(x) || (a < b ? -1 : 1))
    .map(([kind, own]) => `${own.length} × ${kind}`)
    .join(', ');
}

function requestedText(scene: Scene, resource: string): string {
  const use = usageOf(scene, scene.nodes, resource);
  const [used, there] = [use.used, use.there].map((each) => amountText(resource, each));
  return `${percent(shareOf(use))} of ${there ?? ''} (${used ?? ''})`;
}

/** The price of the nodes, over the cores that they have for pods. */
function coreOf(scene: Scene): number {
  const { there } = usageOf(scene, scene.nodes, 'cpu');
  return there > 0 ? (priceOf(scene.nodes) * MILLI) / there : 0;
}

/** In what packings differ that cost another price. */
export function differencesOf(scenes: readonly Scene[], prices: Prices): readonly Difference[] {
  const row = (what: string, say: (scene: Scene) => string): Difference => [what, scenes.map(say)];
  const bought = CAPACITY_TYPES.filter((each) =>
    scenes.some(({ nodes }) => nodes.some(({ capacityType }) => capacityType === each)),
  );
  return [
    row('Cost an hour', ({ nodes }) => costOf(nodes, prices).replace(/\/h/, '')),
    row('Nodes', ({ nodes }) => nodes.length.toLocaleString('en')),
    row('Pods', (scene) => podsText(podsOn(scene, scene.nodes))),
    ...bought.map((each) =>
      row(each.charAt(0).toUpperCase() + each.slice(1), ({ nodes }) => {
        const own = nodes.filter(({ capacityType }) => capacityType === each);
        return boughtText(own, prices);
      }),
    ),
    row('A core costs', (scene) => `${prices.perHour(coreOf(scene))}/h`),
    row('cpu requested', (scene) => requestedText(scene, 'cpu')),
    row('memory requested', (scene) => requestedText(scene, 'memory')),
    row('Room for more pods', (scene) => `${prices.perHour(roomOf(scene, scene.nodes))}/h`),
    row('Instance types', typesText),
  ];
}

/**
 * How much of what the second costs more than the first comes from dearer cores, and how much from
 * more of them; empty where either has no nodes, or both cost the same. The parts add up to the
 * difference.
 */
export function partsText(first: Scene, second: Scene, prices: Prices): string {
  if (Math.abs(priceOf(second.nodes) - priceOf(first.nodes)) < SHOWN_MIN) return '';
  const [mine, theirs] = [first, second].map((scene) => ({
    core: coreOf(scene),
    cores: usageOf(scene, scene.nodes, 'cpu').there / MILLI,
  }));
  if (mine === undefined || theirs === undefined || mine.core * theirs.core === 0) return '';
  const dearer = (theirs.core - mine.core) * mine.cores;
  const more = theirs.core * (theirs.cores - mine.cores);
  const [a, b] = [mine, theirs].map(({ core }) => prices.perHour(core));
  const [c, d] = [mine, theirs].map(({ cores }) => Math.round(cores).toLocaleString('en'));
  return (
    `Of the difference, ${prices.perHour(dearer)} an hour comes from the price of a core ` +
    `(${a} instead of ${b}), and ${prices.perHour(more)} from the number of cores ` +
    `(${c} instead of ${d}).`
  );
}
