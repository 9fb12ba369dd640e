import type { NodeModel, Scene } from '../model/model.ts';
import {
  isStarting,
  momentsOf,
  type PriceSum,
  podsOn,
  priceSum,
  ROOM_MIN,
  roomOf,
  shareOf,
  usageOf,
} from '../model/use.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { count, type Prices, percent, podsText } from './text.ts';

type Nodes = readonly NodeModel[];

const STATES: Readonly<Record<string, string>> = {
  new: 'new',
  leaves: 'leaves',
  starting: 'starts',
  runs: '',
};

/** That a node comes or goes; nothing where all are new. */
export function stateBadge({ nodes }: Pick<Scene, 'nodes'>, { state }: NodeModel): Markup {
  const isMixed = state !== 'new' || nodes.some((each) => each.state !== 'new');
  const text = isMixed ? (STATES[state] ?? '') : '';
  return text === '' ? NOTHING : html`<span class="badge ${state}">${text}</span>`;
}

export function resourceName(resource: string): string {
  return resource.split('/').at(-1) ?? resource;
}

/** How much of each resource is requested, of what there is. */
export function shares(scene: Scene, nodes: Nodes): readonly (readonly [string, string])[] {
  return scene.resources.flatMap((resource) => {
    const use = usageOf(scene, nodes, resource);
    return use.there > 0 ? [[resourceName(resource), percent(shareOf(use))] as const] : [];
  });
}

/** `$0.1920/h`, or what it is at least; an unknown price is never nothing. */
export function costText({ known, unknown, nodes }: PriceSum, prices: Prices): string {
  if (unknown === 0) return `${prices.perHour(known)}/h`;
  if (unknown === nodes) return 'price unknown';
  return `at least ${prices.perHour(known)}/h`;
}

/** What some nodes cost, and of how many that is not known. */
export function costOf(nodes: Nodes, prices: Prices): string {
  const sum = priceSum(nodes);
  const isPart = sum.unknown > 0 && sum.unknown < sum.nodes;
  const more = isPart ? `, ${count(sum.unknown, 'node')} of unknown price` : '';
  return `${costText(sum, prices)}${more}`;
}

/** The price of each node of a row; of several prices their mean. */
export function eachPrice(nodes: Nodes, prices: Prices): Markup {
  const known = nodes.flatMap(({ listPrice }) => listPrice ?? []);
  if (known.length === 0) return html`–<small>price unknown</small>`;
  const mean = known.reduce((sum, each) => sum + each, 0) / known.length;
  const sign = new Set(known).size > 1 ? '⌀ ' : '';
  const unit = nodes.length > 1 ? 'an hour each' : 'an hour';
  return html`${sign}${prices.perHour(mean)}<small>${unit}</small>`;
}

function roomText(scene: Scene, nodes: Nodes, prices: Prices): readonly string[] {
  if (priceSum(nodes).unknown > 0 || nodes.every(isStarting)) return [];
  const room = roomOf(scene, nodes);
  return [
    room > ROOM_MIN ? `room for more pods ${prices.perHour(room)}/h` : 'no room for more pods',
  ];
}

function shareTexts(scene: Scene, nodes: Nodes): readonly string[] {
  return shares(scene, nodes).map(([name, share]) => `${name} ${share}`);
}

/**
 * What some nodes are and cost, in a line. Nodes that come and nodes that go are never there
 * together: their sums are those before the plan and those after it. What is requested after it is
 * known only where no node goes whose pods move.
 */
export function sumText(scene: Scene, nodes: Nodes, prices: Prices): string {
  const moments = momentsOf(scene, nodes);
  const use = [...shareTexts(scene, nodes), ...roomText(scene, nodes, prices)];
  const pods = podsText(podsOn(scene, nodes));
  if (moments === undefined) {
    return [count(nodes.length, 'node'), pods, costOf(nodes, prices), ...use].join(' · ');
  }
  const { now, after } = moments;
  const isWhole = after.length === nodes.length;
  return [
    `${count(now.length, 'node')} now, ${after.length.toLocaleString('en')} after`,
    [...momentCost(now, 'now', prices), ...momentCost(after, 'after', prices)].join(', '),
    ...(isWhole ? [`after: ${pods}`, ...use] : []),
  ].join(' · ');
}

function momentCost(nodes: Nodes, when: string, prices: Prices): readonly string[] {
  if (nodes.length === 0) return [];
  const sum = priceSum(nodes);
  const more = sum.unknown > 0 ? ` (${count(sum.unknown, 'node')} of unknown price)` : '';
  return [`${costText(sum, prices)} ${when}${more}`];
}
