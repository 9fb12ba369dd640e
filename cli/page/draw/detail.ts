import { boundText, runnerUpKind } from '../model/facts.ts';
import type { DecisionModel, Ladder, Scene } from '../model/model.ts';
import { amount, podsOn, usageOf } from '../model/use.ts';
import { useText } from './bars.ts';
import type { Group } from './groups.ts';
import { ladderTable } from './ladder.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { overlayText } from './picture.ts';
import { amountText, clock, namesText, type Prices, podsText } from './text.ts';
import { untilOf } from './timeline.ts';
import { whyMarkup } from './why.ts';

function pair(name: string, value: string): Markup {
  return value === '' ? NOTHING : html`<dt>${name}</dt><dd>${value}</dd>`;
}

/** `$0.0499`, or from the lowest to the highest. */
function rangeText(amounts: readonly (number | null)[], prices: Prices): string {
  const known = amounts.filter((each) => each !== null).sort((a, b) => a - b);
  return toText(prices.perHour(known[0] ?? null), prices.perHour(known.at(-1) ?? null));
}

function toText(least: string, most: string): string {
  return least === most ? least : `${least} to ${most}`;
}

function priceText({ nodes }: Group, prices: Prices): string {
  const listPrices = nodes.map(({ listPrice }) => listPrice);
  const list = `${rangeText(listPrices, prices)}/h${nodes.length > 1 ? ' each' : ''}`;
  if (nodes.every(({ price, listPrice }) => price === listPrice)) return list;
  const after = [...new Set(nodes.flatMap(({ overlays }) => overlays))].join(', ') || 'overlays';
  const adjusted = nodes.map(({ price }) => price);
  return `${list} list, ${rangeText(adjusted, prices)} after ${after}`;
}

/** What is said of the nodes of a row, or of which rows it is said one by one. */
function alike(
  { nodes, first }: Group,
  textFor: (node: Group['first']) => string,
  finer = 'equal nodes',
): string {
  const text = textFor(first);
  if (nodes.every((each) => textFor(each) === text)) return text;
  return `not the same for all: show ${finer}`;
}

function overlaysText(node: Group['first']): string {
  const effect = overlayText(node).replace(/^overlay(: )?/, '');
  const names = node.overlays.join(', ');
  return names === effect.trim() || names === '' ? names : `${names}: ${effect}`;
}

const LIVED = [
  ['launched', 'launched'],
  ['ready', 'ready'],
  ['draining', 'drained from'],
  ['gone', 'gone'],
] as const;

/** When each was launched and so on: one time, or from the first to the last of several nodes. */
function lifeText({ nodes }: Group): string {
  const lives = nodes.flatMap(({ life }) => (life === null ? [] : [life]));
  return LIVED.flatMap(([key, said]) => {
    const times = lives.flatMap((life) => life[key] ?? []).sort((a, b) => a - b);
    const [first, last] = [times[0], times.at(-1)];
    if (first === undefined || last === undefined) return [];
    const some = times.length < nodes.length ? ` (${times.length} of ${nodes.length})` : '';
    return [`${said} ${toText(clock(first), clock(last))}${some}`];
  }).join(', ');
}

function podRows(scene: Scene, { nodes }: Group, picked: number | undefined): readonly Markup[] {
  const pods = new Map<number, number>();
  for (const node of nodes) {
    for (const [index, each] of node.pods) pods.set(index, (pods.get(index) ?? 0) + each);
  }
  const inOrder = [...pods].sort(
    ([a], [b]) =>
      (scene.workloads[a]?.colour ?? Number.MAX_SAFE_INTEGER) -
      (scene.workloads[b]?.colour ?? Number.MAX_SAFE_INTEGER),
  );
  return inOrder.flatMap(([index, all]) => {
    const workload = scene.workloads[index];
    if (workload === undefined) return [];
    const [cpu, memory] = ['cpu', 'memory'].map((each) =>
      amount(workload.requests, each) === 0
        ? '–'
        : amountText(each, amount(workload.requests, each)),
    );
    return [
      html`<tr class="${index === picked ? 'picked' : ''}"><th scope="row">${workload.label} <small>${workload.kind}</small></th><td class="number">${all.toLocaleString('en')}</td><td class="number">${cpu ?? ''}</td><td class="number">${memory ?? ''}</td></tr>`,
    ];
  });
}

/** The best offering that was not chosen, or why there is none. */
function runnerUpText(node: Group['first'], ladder: Ladder | undefined, prices: Prices): string {
  const next = node.runnerUp;
  if (next === null)
    return ladder === undefined ? '' : ['none', boundText(ladder)].filter(Boolean).join(': ');
  const kind = runnerUpKind(node, next);
  return `${next.type} ${next.capacityType} in ${next.zone} at ${prices.perHour(next.price)}/h, ${kind}: ${next.why}`;
}

/** Without the runner-up, which is told apart. */
function whyText({ why }: Group['first']): string {
  return why.replace(/; (runner-up .*|no other offering fits)$/, '');
}

/** Why it goes; what was decided later is not known before. */
function wentText({ state, went }: Group['first']): string {
  return state === 'leaves' ? went : '';
}

/** How details are told. */
interface Told {
  readonly prices: Prices;
  /** Which of several scenes it is, or which moment; empty: there is one. */
  readonly when: string;
  /** The workload that is pointed at. */
  readonly picked: number | undefined;
}

/** A node that is not there at another time, or in another scene. */
export function goneDetail(name: string, when: string): Markup {
  return html`<h2>${name} <small>${when}</small></h2><p class="none">This node is not there.</p>`;
}

/** What is known of the nodes of one row. */
export function nodeDetail(scene: Scene, group: Group, { prices, when, picked }: Told): Markup {
  const { first, nodes } = group;
  const ladder = scene.ladders[first.ladder ?? -1];
  const zones = [...new Set(nodes.map(({ zone }) => zone))].sort().join(', ');
  const used = scene.resources
    .filter((resource) => usageOf(scene, nodes, resource).there > 0)
    .map((resource) => pair(resource, `${useText(scene, group, resource)} requested`));
  const claims = nodes.flatMap(({ claim }) => (claim === '' ? [] : [claim]));
  const runner = alike(
    group,
    (node) => runnerUpText(node, scene.ladders[node.ladder ?? -1], prices),
    'every node',
  );
  return html`<h2>${nodes.length > 1 ? `${nodes.length} × ` : ''}${first.type} <small>${when}</small></h2><dl>${pair('NodePool', first.pool)}${pair('Capacity', first.capacityType)}${pair('Zone', zones)}${pair('Price', priceText(group, prices))}${pair('NodeOverlays', alike(group, overlaysText))}${used}${pair('Why', alike(group, whyText))}${pair('Runner-up', runner)}${pair('Why it goes', alike(group, wentText))}${pair('Life', lifeText(group))}${pair(nodes.length > 1 ? 'Nodes' : 'Node', namesText(nodes.map(({ name }) => name)))}${pair(nodes.length > 1 ? 'NodeClaims' : 'NodeClaim', namesText(claims))}</dl><table><caption>${podsText(podsOn(scene, nodes))}${nodes.length > 1 ? ` on ${nodes.length} nodes` : ''}</caption><thead><tr><th scope="col">Workload</th><th scope="col" class="number">Pods</th><th scope="col" class="number">Cpu each</th><th scope="col" class="number">Memory each</th></tr></thead><tbody>${podRows(scene, group, picked)}</tbody></table>${ladder === undefined ? NOTHING : html`<details><summary>Price ladder${nodes.length > 1 ? ` of ${first.name}` : ''}</summary>${ladderTable(ladder, first, prices, 'Offerings for this row', true)}</details>`}`;
}

/** Decisions of one mark; where they are of several moments, each with its own. */
export function decisionDetail(list: readonly DecisionModel[]): Markup {
  const [first] = list;
  const until = untilOf(list);
  const title =
    first?.at === undefined
      ? 'Decisions'
      : `After ${clock(first.at)}${until === undefined ? '' : ` to ${clock(until)}`}`;
  const items = list.map(({ at, action, object, others, why }) => {
    const time =
      until === undefined || at === undefined ? NOTHING : html`<small>after ${clock(at)}</small> `;
    const also = others.length > 0 ? `, ${namesText(others)}` : '';
    return html`<li>${time}<b>${action}</b> ${object}${also}<br>${whyMarkup(why)}</li>`;
  });
  return html`<h2>${title}</h2><ul class="said">${items}</ul>`;
}
