import type { PageModel, Scene } from '../model/model.ts';
import { shownFirst } from '../model/moment.ts';
import { ROOM_MIN, roomOf } from '../model/use.ts';
import { costTable } from './cost.ts';
import { groupsOf, LEVELS, type Level, levelFor } from './groups.ts';
import { ladders } from './ladder.ts';
import { html, Markup, NOTHING } from './markup.ts';
import { legend, picture } from './picture.ts';
import { priceChangeTables } from './price-changes.ts';
import { sidesTable, sidesTimeline } from './sides.ts';
import {
  decisionTable,
  differenceTable,
  drawnIn,
  type Heads,
  nodeTable,
  stayTable,
  unplacedTable,
} from './tables.ts';
import { type Prices, pricesIn } from './text.ts';
import { timeline } from './timeline.ts';

/** What makes a page beside its contents. */
export interface Frame {
  readonly style: string;
  readonly script: string;
  /** Content of the Content-Security-Policy. */
  readonly policy: string;
}

const LEVEL_NAMES: Readonly<Record<Level, string>> = {
  type: 'Types',
  equal: 'Equal nodes',
  each: 'Every node',
};

function section(id: string, title: string, body: Markup, lead: Markup | string = ''): Markup {
  const under = lead === '' ? NOTHING : html`<p class="lead">${lead}</p>`;
  return html`<section id="${id}" aria-labelledby="${id}-title"><h2 id="${id}-title">${title}</h2>${under}${body}</section>`;
}

function controls(scenes: readonly Scene[], level: Level): Markup {
  const ways = scenes.map(
    ({ title }, at) =>
      html`<label><input type="radio" name="scene" value="${at}"${at === 0 ? html` checked` : NOTHING}>${title}</label>`,
  );
  const which =
    scenes.length > 1 ? html`<fieldset><legend>Which</legend>${ways}</fieldset>` : NOTHING;
  const levels = LEVELS.map(
    (each) =>
      html`<label><input type="radio" name="level" value="${each}"${each === level ? html` checked` : NOTHING}>${LEVEL_NAMES[each]}</label>`,
  );
  return html`<div class="controls">${which}<fieldset><legend>One row for</legend>${levels}</fieldset><label><input type="checkbox" id="to-size">Bars as long as nodes are large</label></div>`;
}

/** In a narrow window there are no details before something is clicked. */
const POINT = html`<span class="wide">Point at a row, or move with the arrow keys, for details; click to keep them.</span><span class="narrow">Click a row, or move with the arrow keys and press Enter, for details; Tab leads to them.</span>`;

/** How to read the picture: only what there is to be seen in it. */
function pictureLead(scenes: readonly Scene[]): Markup {
  const nodes = Math.max(...scenes.map((scene) => scene.nodes.length));
  const hasMore = scenes.some(({ resources }) => resources.length > 2);
  const isAlike = (scene: Scene) => groupsOf(scene, 'type').length < scene.nodes.length;
  const hasAlike = scenes.some(isAlike);
  const hasRoom = scenes.some((scene) => roomOf(scene, scene.nodes) > ROOM_MIN);
  return html`A row is a node${hasAlike ? ', or several that are equal' : ''}. Its bars are what it has for pods: cpu above, memory below${hasMore ? ', then what else pods ask for' : ''}. Blocks are pods, in the colour of their workload; what is empty is paid for, and no pod requests it. ${hasRoom ? "“Room for more pods” is the share of a node's price that is free of its fullest resource, which is what limits further pods. " : ''}${hasAlike ? 'Rows of types open to the nodes in them. ' : ''}${nodes > 0 ? POINT : NOTHING}`;
}

function pictureSection(model: PageModel, prices: Prices): Markup {
  const scene = shownFirst(model);
  const scenes = scene === undefined ? [] : [scene, ...model.scenes.slice(1)];
  if (scene === undefined) return NOTHING;
  const level = levelFor(scene);
  const drawn = picture(scene, { level, toSize: false, prices, open: new Set() });
  const tables = scenes.map(
    (each) =>
      html`<details class="words"><summary>${scenes.length > 1 ? `${each.title}: ` : ''}nodes as a table</summary>${nodeTable(each, prices)}</details>`,
  );
  const body = html`${controls(scenes, level)}<div id="legend">${legend(scene)}</div><div id="picture">${drawn}</div>${tables}`;
  return section('packing', 'Where the pods are', body, pictureLead(model.scenes));
}

function timeSection(model: PageModel, prices: Prices): Markup {
  const { history, scenes } = model;
  const [scene] = scenes;
  if (history === null || scene === undefined) return NOTHING;
  const lead = html`Move the slider to see the cluster at another time: the picture below follows. Each mark is a decision, or something that happened; <span class="wide">point at it, or focus it, for the reason.</span><span class="narrow">click it, or focus it and press Enter, for the reason.</span>`;
  return section('time', 'What happened', timeline(model, history, scene, prices), lead);
}

function sidesSection({ sides }: PageModel, prices: Prices): Markup {
  if (sides === undefined) return NOTHING;
  const [first, second] = sides.sides;
  const lead = `${first.name}'s nodes, and what ${second.name} would have made of them at the same moments, on one scale. At the right, the end.`;
  const over = section('time', 'Both over the time', sidesTimeline(sides, prices), lead);
  return html`${over}${section('figures', 'Both in figures', sidesTable(sides))}`;
}

function headlines({ headlines: list }: PageModel): Markup {
  return html`<ul class="headlines">${list.map(({ value, label }) => html`<li><b>${value}</b> <span>${label}</span></li>`)}</ul>`;
}

function notesSection({ notes, facts }: PageModel): Markup {
  const items = notes.map((each) => html`<li>${each}</li>`);
  const list = items.length === 0 ? NOTHING : html`<ul>${items}</ul>`;
  const about = facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>`);
  return section('about', 'About this page', html`${list}<dl class="facts">${about}</dl>`);
}

/** What is decided, by the command; of others decisions. */
const DECISION_TITLES: Readonly<Record<string, string>> = {
  diagnose: 'NodeOverlays',
  compare: 'Decisions of Joiner',
  shadow: 'What both launched and removed',
};

const DECISION_HEADS: Readonly<Record<string, Heads>> = {
  diagnose: ['State', 'NodeOverlay', 'Weight, what its status says, and what it changes'],
  shadow: ['What', 'NodePool or NodeClaim', 'Instance type, price, and why'],
};

const PRICES_LEAD =
  'List prices are what AWS bills. Joiner compares prices after NodeOverlays when it chooses instance types.';

function pricesSection({ priceChanges }: PageModel, prices: Prices): Markup {
  if (priceChanges === undefined) return NOTHING;
  const tables = priceChangeTables(priceChanges, prices);
  return section('prices', 'What NodeOverlays change', tables, PRICES_LEAD);
}

function differenceSection({ differences, scenes, basis }: PageModel): Markup {
  if (differences === undefined) return NOTHING;
  const table = differenceTable(differences, scenes);
  return section('differences', 'Where the difference comes from', table, basis);
}

const DECISIONS_LEAD =
  "Nodes are launched for the pods of a plan. kube-scheduler binds the pods, on any node that has room: the picture shows where they are. A node's name leads to its row.";

const STAYS_LEAD =
  'Why passes changed nothing. Passes one after the other with the same reason are one row. A paused NodePool is a row from the start of its pause to the end.';

function staysSection({ stays }: PageModel): Markup {
  if (stays.length === 0) return NOTHING;
  return section('stays', 'What was not done, and why', stayTable(stays), STAYS_LEAD);
}

function decisionSection({ command, decisions, events, scenes, history }: PageModel): Markup {
  const drawn = drawnIn(scenes);
  const title = DECISION_TITLES[command] ?? 'Decisions';
  const decided = decisionTable(decisions, `${title}, one by one`, drawn, DECISION_HEADS[command]);
  const lead = history === null ? '' : DECISIONS_LEAD;
  const happened =
    events.length === 0
      ? NOTHING
      : html`<details class="words"><summary>What else happened</summary>${decisionTable(events, 'Events, one by one', drawn)}</details>`;
  return section('decisions', title, html`${decided}${happened}`, lead);
}

function contents(model: PageModel, prices: Prices): Markup {
  const [scene] = model.scenes;
  const { unplaced, costs } = model;
  const cost =
    costs.length === 0 ? NOTHING : section('cost', 'What it costs', costTable(model, prices));
  const left =
    scene === undefined && unplaced.length === 0
      ? NOTHING
      : section('unplaced', 'Pods without a node', unplacedTable(model));
  // Nodes of both ways have the same names.
  const ladderTitle =
    model.command === 'compare' ? 'Why Joiner chooses its instances' : 'Why these instances';
  const why =
    scene === undefined ? NOTHING : section('ladder', ladderTitle, ladders(scene, prices));
  const decided = decisionSection(model);
  return html`${cost}${differenceSection(model)}${unplaced.length > 0 ? left : NOTHING}${timeSection(model, prices)}${sidesSection(model, prices)}${pictureSection(model, prices)}${why}${decided}${staysSection(model)}${pricesSection(model, prices)}${unplaced.length > 0 ? NOTHING : left}${notesSection(model)}`;
}

/** What could end a script element, or turn the direction of text. */
const UNSAFE = /[<>&\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Data in a script element: nothing in it can end the element. */
function dataText(model: PageModel): Markup {
  return new Markup(JSON.stringify(model).replace(UNSAFE, escapedUnit));
}

function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Laid over a colour that is used a second time. */
const STRIPES = html`<svg width="0" height="0" class="defs" aria-hidden="true"><defs><pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="2.5" height="6"/></pattern></defs></svg>`;

const SCHEME = html`<meta name="color-scheme" content="light dark">`;

/** The whole page. */
export function documentText(model: PageModel, { style, script, policy }: Frame): string {
  const prices = pricesIn(model.currency);
  const title = `joiner ${model.command} ${model.subject}`;
  const head = html`<meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><meta name="viewport" content="width=device-width, initial-scale=1">${SCHEME}<title>${title}</title><style>${new Markup(style)}</style>`;
  const top = html`<header><p class="command">joiner ${model.command} <span>${model.subject}</span></p><h1>${model.lead}</h1>${headlines(model)}</header>`;
  const isDrawn = model.scenes.length > 0;
  const skip = isDrawn
    ? html`<a class="skip" href="#packing">To the picture</a>`
    : html`<a class="skip" href="#decisions">To the contents</a>`;
  const aside = html`<aside id="detail" aria-live="polite" aria-label="Details" tabindex="-1"><p class="none">Details of what you point at or focus are shown here.</p></aside>`;
  const side = isDrawn ? aside : NOTHING;
  const body = html`${STRIPES}${skip}${top}<div class="page${isDrawn ? '' : ' alone'}"><main>${contents(model, prices)}</main>${side}</div>`;
  const page = html`<!doctype html><html lang="en"><head>${head}</head><body>${body}<script type="application/json" id="model">${dataText(model)}</script><script>${new Markup(script)}</script></body></html>`;
  return `${page.text}\n`;
}
