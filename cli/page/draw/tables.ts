import type { DecisionModel, PageModel, Scene, StayModel } from '../model/model.ts';
import { podsOn, usageOf } from '../model/use.ts';
import { type Group, groupsOf, zonesText } from './groups.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { amountText, clock, count, namesText, type Prices } from './text.ts';

/** Rows of a table on the page; what is printed as JSON has them all. */
const ROWS_MAX = 300;
const NAMES_MAX = 6;

function cutNote(rows: number, what: string): Markup {
  const more = rows - ROWS_MAX;
  if (more <= 0) return NOTHING;
  return html`<p class="none">${more.toLocaleString('en')} more ${what} are in what -o json prints.</p>`;
}

function nodeRow(scene: Scene, { pool, nodes, first }: Group, prices: Prices): Markup {
  const use = scene.resources.map((resource) => {
    const { used, there } = usageOf(scene, nodes, resource);
    const text =
      there === 0 ? '–' : `${amountText(resource, used)} / ${amountText(resource, there)}`;
    return html`<td class="number">${text}</td>`;
  });
  const names = namesText(
    nodes.map(({ name }) => name),
    2,
  );
  return html`<tr><td class="number">${nodes.length}</td><th scope="row">${first.type}</th><td>${pool}</td><td>${first.capacityType}</td><td>${zonesText(nodes)}</td><td class="number">${prices.perHour(first.listPrice)}</td><td class="number">${prices.perHour(first.price)}</td><td class="number">${podsOn(nodes)}</td>${use}<td>${names}</td></tr>`;
}

/** The picture in words. */
export function nodeTable(scene: Scene, prices: Prices): Markup {
  const groups = groupsOf(scene, 'equal');
  const rows = groups.slice(0, ROWS_MAX).map((group) => nodeRow(scene, group, prices));
  const heads = scene.resources.map(
    (resource) => html`<th scope="col" class="number">${resource} used / there</th>`,
  );
  const label = `Nodes of ${scene.title}, equal ones together`;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table><thead><tr><th scope="col" class="number">Nodes</th><th scope="col">Type</th><th scope="col">NodePool</th><th scope="col">Capacity</th><th scope="col">Zone</th><th scope="col" class="number">List/h</th><th scope="col" class="number">Price/h</th><th scope="col" class="number">Pods</th>${heads}<th scope="col">Names</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(groups.length, 'kinds of nodes')}`;
}

/** The object, and those of which the same is said. */
function objectsMarkup(object: string, others: readonly string[]): Markup {
  if (others.length === 0) return html`${object}`;
  const rest = others.map((each) => html`<li>${each}</li>`);
  return html`<details><summary>${object} and ${others.length} more</summary><ul>${rest}</ul></details>`;
}

function decisionRow({ at, action, object, others, why }: DecisionModel, hasTime: boolean): Markup {
  const time = hasTime
    ? html`<td class="number">${at === undefined ? '' : clock(at)}</td>`
    : NOTHING;
  return html`<tr>${time}<td>${action}</td><th scope="row">${objectsMarkup(object, others)}</th><td>${why}</td></tr>`;
}

/** Everything decided, or that happened, with its reason. */
export function decisionTable(list: readonly DecisionModel[], label: string): Markup {
  if (list.length === 0) return html`<p class="none">Nothing.</p>`;
  const hasTime = list.some(({ at }) => at !== undefined);
  const rows = list.slice(0, ROWS_MAX).map((each) => decisionRow(each, hasTime));
  const time = hasTime ? html`<th scope="col" class="number">After</th>` : NOTHING;
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${label}"><table class="decisions"><thead><tr>${time}<th scope="col">What</th><th scope="col">Object</th><th scope="col">Why</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(list.length, 'lines')}`;
}

function stayRow({ object, more, why, useCase, first, last, times }: StayModel): Markup {
  const who = more > 0 ? `${object} and up to ${more} more` : object;
  const passes = times === null ? '' : times.toLocaleString('en');
  return html`<tr><td class="number">${clock(first)}</td><td class="number">${clock(last)}</td><td class="number">${passes}</td><td>${useCase}</td><th scope="row">${who}</th><td>${why}</td></tr>`;
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
    return html`<tr><td class="number">${count(pods.length, 'pod')}</td><th scope="row">${why}</th><td>${names}</td></tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Pods by reason"><table class="decisions"><thead><tr><th scope="col" class="number">Pods</th><th scope="col">Why</th><th scope="col">Which</th></tr></thead><tbody>${rows}</tbody></table></div>${cutNote(unplaced.length, 'reasons')}`;
}
