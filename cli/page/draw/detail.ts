import { boundText, runnerUpKind } from '../model/facts.ts';
import type { DecisionModel, Ladder, Scene } from '../model/model.ts';
import { amount, podsOn, usageOf } from '../model/use.ts';
import { useText } from './bars.ts';
import type { Group } from './groups.ts';
import { ladderTable } from './ladder.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { overlayText } from './picture.ts';
import { amountText, clock, namesText, type Prices, podsText } from './text.ts';
import { whyMarkup } from './why.ts';

function pair(name: string, value: string): Markup {
  return value === '' ? NOTHING : html`<dt>${name}</dt><dd>${value}</dd>`;
}

function priceText({ first, nodes }: Group, prices: Prices): string {
  const { listPrice, price, overlays } = first;
  const list = `${prices.perHour(listPrice)}/h${nodes.length > 1 ? ' each' : ''}`;
  if (price === listPrice) return list;
  return `${list} list, ${prices.perHour(price)} after ${overlays.join(', ') || 'overlays'}`;
}

function overlaysText(node: Group['first']): string {
  const effect = overlayText(node).replace(/^overlay(: )?/, '');
  const names = node.overlays.join(', ');
  return names === effect.trim() || names === '' ? names : `${names}: ${effect}`;
}

function lifeText({ life }: Group['first']): string {
  if (life === null) return '';
  const { launched, ready, draining, gone } = life;
  return [
    `launched ${clock(launched)}`,
    ...(ready === null ? [] : [`ready ${clock(ready)}`]),
    ...(draining === null ? [] : [`drained from ${clock(draining)}`]),
    ...(gone === null ? [] : [`gone ${clock(gone)}`]),
  ].join(', ');
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
      html`<tr class="${index === picked ? 'picked' : ''}"><th scope="row">${workload.label} <small>${workload.kind}</small></th><td class="number">${all}</td><td class="number">${cpu ?? ''}</td><td class="number">${memory ?? ''}</td></tr>`,
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
  const isOneReason = nodes.every(
    ({ why, runnerUp }) => why === first.why && runnerUp?.why === first.runnerUp?.why,
  );
  const runner = isOneReason ? runnerUpText(first, ladder, prices) : '';
  return html`<h2>${nodes.length > 1 ? `${nodes.length} × ` : ''}${first.type} <small>${when}</small></h2><dl>${pair('NodePool', first.pool)}${pair('Capacity', first.capacityType)}${pair('Zone', zones)}${pair('Price', priceText(group, prices))}${pair('NodeOverlays', overlaysText(first))}${used}${pair('Why', isOneReason ? whyText(first) : 'not the same for all: show equal nodes')}${pair('Runner-up', runner)}${pair('Life', lifeText(first))}${pair(nodes.length > 1 ? 'Nodes' : 'Node', namesText(nodes.map(({ name }) => name)))}${pair(nodes.length > 1 ? 'NodeClaims' : 'NodeClaim', namesText(claims))}</dl><table><caption>${podsText(podsOn(scene, nodes))}${nodes.length > 1 ? ` on ${nodes.length} nodes` : ''}</caption><thead><tr><th scope="col">Workload</th><th scope="col" class="number">Pods</th><th scope="col" class="number">Cpu each</th><th scope="col" class="number">Memory each</th></tr></thead><tbody>${podRows(scene, group, picked)}</tbody></table>${ladder === undefined ? NOTHING : html`<details><summary>Price ladder</summary>${ladderTable(ladder, first, prices, 'Offerings for this row')}</details>`}`;
}

/** Decisions of one moment. */
export function decisionDetail(list: readonly DecisionModel[]): Markup {
  const [first] = list;
  const title = first?.at === undefined ? 'Decisions' : `After ${clock(first.at)}`;
  const items = list.map(
    ({ action, object, others, why }) =>
      html`<li><b>${action}</b> ${object}${others.length > 0 ? `, ${namesText(others)}` : ''}<br>${whyMarkup(why)}</li>`,
  );
  return html`<h2>${title}</h2><ul class="said">${items}</ul>`;
}
