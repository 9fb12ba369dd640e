import type { DecisionModel, Difference, PageModel, Scene, StayModel } from '../model/model.ts';
import { podsOn, usageOf } from '../model/use.ts';
import { type Group, groupsOf } from './groups.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { stateBadge } from './sums.ts';
import { amountText, clock, count, namesText, type Prices } from './text.ts';
import { whyMarkup } from './why.ts';

/** Rows of a table on the page; what is printed as JSON has them all. */
const ROWS_MAX = 300;
const NAMES_MAX = 6;
/** Names of equal nodes in one row: at once, and when it is opened. */
const NODES_MAX = 4;
const NODES_OPENED_MAX = 200;

function cutNote(rows: number, what: string): Markup {
  const more = rows - ROWS_MAX;
  if (more <= 0) return NOTHING;
  return html`<p class="none">${more.toLocaleString('en')} more ${what} are in what -o json prints.</p>`;
}

/** Breaks between words only, not at the hyphens in them. */
function unbroken(words: readonly string[]): Markup {
  return html`${words.map((each, at) => html`${at === 0 ? '' : ', '}<span class="whole">${each}</span>`)}`;
}

/** The names of equal nodes: some, and the others folded under them. */
function nodeNames(nodes: Group['nodes']): Markup {
  const names = nodes.map(({ name, claim }) => (claim === '' ? name : `${name} (${claim})`));
  const rest = names.slice(NODES_MAX);
  if (rest.length === 0) return html`${names.join(', ')}`;
  return html`${names.slice(0, NODES_MAX).join(', ')}<details><summary>and ${rest.length.toLocaleString('en')} more</summary>${namesText(rest, NODES_OPENED_MAX)}</details>`;
}

function nodeRow(
  scene: Scene,
  { pool, nodes, first }: Group,
  { prices, hasEffects }: NodeColumns,
): Markup {
  const zones = [...new Set(nodes.map(({ zone }) => zone))].sort();
  const use = scene.resources.map((resource) => {
    const { used, there } = usageOf(scene, nodes, resource);
    const text =
      there === 0 ? '–' : `${amountText(resource, used)} / ${amountText(resource, there)}`;
    return html`<td class="number">${text}</td>`;
  });
  const pods = podsOn(scene, nodes);
  const daemons = pods.daemons === 0 ? '' : ` + ${pods.daemons.toLocaleString('en')}`;
  const price = hasEffects ? html`<td class="number">${prices.perHour(first.price)}</td>` : NOTHING;
  return html`<tr><td class="number">${nodes.length.toLocaleString('en')}</td><th scope="row">${first.type} ${stateBadge(scene, first)}</th><td>${pool}</td><td class="whole">${first.capacityType}</td><td>${unbroken(zones)}</td><td class="number">${prices.perHour(first.listPrice)}</td>${price}<td class="number">${pods.own.toLocaleString('en')}${daemons}</td>${use}<td class="names">${nodeNames(nodes)}</td></tr>`;
}

/** What the rows of the table of nodes have in common. */
interface NodeColumns {
  readonly prices: Prices;
  /** NodeOverlays change the price of some node. */
  readonly hasEffects: boolean;
}

/** The picture in words. */
export function nodeTable(scene: Scene, prices: Prices): Markup {
  const groups = groupsOf(scene, 'equal');
  const hasEffects = scene.nodes.some(({ listPrice, price }) => listPrice !== price);
  const columns = { prices, hasEffects };
  const rows = groups.slice(0, ROWS_MAX).map((group) => nodeRow(scene, group, columns));
  const heads = scene.resources.map(
    (resource) => html`<th scope="col" class="number">${resource} requested / there, all</th>`,
  );
  const priceHeads = hasEffects
    ? html`<th scope="col" class="number">List/h, each</th><th scope="col" class="number">Price/h, each</th>`
    : html`<th scope="col" class="number">Price/h, each</th>`;
  const hasDaemons = podsOn(scene, scene.nodes).daemons > 0;
  const label = `Nodes of ${scene.title}, equal ones together`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table class="packed"><thead><tr><th scope="col" class="number">Nodes</th><th scope="col">Type</th><th scope="col">NodePool</th><th scope="col">Capacity</th><th scope="col">Zone</th>${priceHeads}<th scope="col" class="number">${hasDaemons ? "Pods + DaemonSets', all" : 'Pods, all'}</th>${heads}<th scope="col">Names</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(groups.length, 'kinds of nodes')}`;
}

/** Names of what pictures show, as decisions have them, with the names in the picture. */
export type Drawn = ReadonlyMap<string, string>;

/** Nodes of the scenes, by their own names and by those of their NodeClaims. */
export function drawnIn(scenes: readonly Scene[]): Drawn {
  return new Map(
    scenes.flatMap(({ nodes }) =>
      nodes.flatMap(({ name, claim }) => [[name, name] as const, [claim || name, name] as const]),
    ),
  );
}

/** An object; a node leads to where it is in the picture. */
function objectMarkup(object: string, drawn: Drawn): Markup {
  const own = object.replace(/^(NodeClaim|Node)\//, '');
  const node = drawn.get(own);
  if (node === undefined) return html`${object}`;
  const also = node === own ? NOTHING : html` <small>${node}</small>`;
  return html`<a href="#packing" data-node="${node}">${object}</a>${also}`;
}

/** The object, and those of which the same is said. */
function objectsMarkup({ object, others }: DecisionModel, drawn: Drawn): Markup {
  const first = objectMarkup(object, drawn);
  if (others.length === 0) return first;
  const rest = others.map((each) => html`<li>${objectMarkup(each, drawn)}</li>`);
  return html`${first}<details><summary>and ${others.length} more</summary><ul>${rest}</ul></details>`;
}

function decisionRow(decision: DecisionModel, hasTime: boolean, drawn: Drawn): Markup {
  const { at, action, why } = decision;
  const time = hasTime
    ? html`<td class="number">${at === undefined ? '' : clock(at)}</td>`
    : NOTHING;
  return html`<tr>${time}<td>${action}</td><th scope="row">${objectsMarkup(decision, drawn)}</th><td>${whyMarkup(why)}</td></tr>`;
}

/** What heads the columns of what was decided, of the object and of the reason. */
export type Heads = readonly [what: string, object: string, why: string];

const DECISION_HEADS: Heads = ['What', 'Object', 'Why'];

/** Everything decided, or that happened, with its reason. */
export function decisionTable(
  list: readonly DecisionModel[],
  label: string,
  drawn: Drawn,
  heads: Heads = DECISION_HEADS,
): Markup {
  if (list.length === 0) return html`<p class="none">Nothing.</p>`;
  const hasTime = list.some(({ at }) => at !== undefined);
  const rows = list.slice(0, ROWS_MAX).map((each) => decisionRow(each, hasTime, drawn));
  const names = heads.map((each) => html`<th scope="col">${each}</th>`);
  const time = hasTime ? html`<th scope="col" class="number">After</th>` : NOTHING;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table class="decisions"><thead><tr>${time}${names}</tr></thead><tbody>${rows}</tbody></table></div>${cutNote(list.length, 'lines')}`;
}

/** In what several ways of the same differ. */
export function differenceTable(list: readonly Difference[], scenes: readonly Scene[]): Markup {
  const heads = scenes.map(({ title }) => html`<th scope="col">${title}</th>`);
  const rows = list.map(([what, values]) => {
    const cells = values.map((each) => html`<td>${each}</td>`);
    return html`<tr><th scope="row" class="what">${what}</th>${cells}</tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Differences, one by one"><table class="differences"><thead><tr><th scope="col">What</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

function stayRow({ object, more, why, useCase, first, last, times }: StayModel): Markup {
  const who = more > 0 ? `${object} and up to ${more} more` : object;
  const passes = times === null ? '' : times.toLocaleString('en');
  return html`<tr><td class="number">${clock(first)}</td><td class="number">${clock(last)}</td><td class="number">${passes}</td><td>${useCase}</td><th scope="row">${who}</th><td>${whyMarkup(why)}</td></tr>`;
}

/** What was not done, with the reason; what passes repeat is one row. */
export function stayTable(list: readonly StayModel[]): Markup {
  const rows = list.slice(0, ROWS_MAX).map(stayRow);
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Reasons, one by one"><table class="decisions"><thead><tr><th scope="col" class="number">First</th><th scope="col" class="number">Last</th><th scope="col" class="number">Passes</th><th scope="col">Who</th><th scope="col">Object</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(list.length, 'reasons')}`;
}

/** Pods without a node, by the reason. */
export function unplacedTable({ unplaced }: PageModel): Markup {
  if (unplaced.length === 0) return html`<p class="none">Every pod has a place.</p>`;
  const rows = unplaced.slice(0, ROWS_MAX).map(({ why, pods }) => {
    const names = namesText(pods, NAMES_MAX);
    return html`<tr><td class="number">${count(pods.length, 'pod')}</td><th scope="row">${whyMarkup(why)}</th><td>${names}</td></tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Pods by reason"><table class="decisions"><thead><tr><th scope="col" class="number">Pods</th><th scope="col">Why</th><th scope="col">Which</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(unplaced.length, 'reasons')}`;
}
