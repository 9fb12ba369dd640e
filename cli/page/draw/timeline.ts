import type { DecisionModel, History, PageModel, Scene, Steps } from '../model/model.ts';
import { nodeSteps } from '../model/moment.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import { clock, count, type Prices } from './text.ts';

export const WIDTH = 1000;
export const HEIGHT = 48;
/** Marks nearer than this share of the time are one. */
const NEAR = 0.006;
const TICKS = 6;
/** Decisions of one mark that its name tells; the panel has them all. */
const TOLD_MAX = 4;

/** Decisions and events that are one mark. */
export interface Mark {
  readonly at: number;
  readonly list: readonly DecisionModel[];
}

export function marksOf(list: readonly DecisionModel[], seconds: number): readonly Mark[] {
  const marks: { at: number; list: DecisionModel[] }[] = [];
  const timed = list.filter(({ at }) => at !== undefined);
  for (const each of timed.toSorted((a, b) => (a.at ?? 0) - (b.at ?? 0))) {
    const last = marks.at(-1);
    const at = each.at ?? 0;
    if (last !== undefined && at - last.at <= seconds * NEAR) last.list.push(each);
    else marks.push({ at, list: [each] });
  }
  return marks;
}

/** Where steps are drawn. */
export interface Plot {
  readonly width: number;
  readonly height: number;
  /** The value at the top. */
  readonly most: number;
  /** How long the width is, in the unit of the steps. */
  readonly span: number;
}

/** The line and the area under it, as steps. */
export function stepPath(
  steps: Steps,
  { width, height, most, span }: Plot,
): { readonly line: string; readonly area: string } {
  const x = (at: number): string => ((at / span) * width).toFixed(1);
  const y = (value: number): string => (height - 2 - (value / most) * (height - 6)).toFixed(1);
  let line = `M0 ${y(steps[0]?.[1] ?? 0)}`;
  for (const [at, value] of steps) line += `H${x(at)}V${y(value)}`;
  line += `H${width}`;
  return { line, area: `${line}V${height}H0Z` };
}

function curve(
  name: string,
  steps: Steps,
  seconds: number,
  show: (value: number) => string,
): Markup {
  const most = Math.max(0, ...steps.map(([, value]) => value));
  const plot = { width: WIDTH, height: HEIGHT, most: Math.max(1e-9, most), span: seconds };
  const { line, area } = stepPath(steps, plot);
  const last = steps.at(-1)?.[1] ?? 0;
  const said = `${name}: ${show(most)} at most, ${show(last)} at the end`;
  return html`<div class="curve ${name.split(' ')[0] ?? ''}"><span class="name">${name}<small>${show(most)} at most</small></span><svg class="plot" role="img" aria-label="${said}" width="100%" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"><path class="area" d="${area}"/><path class="line" d="${line}"/></svg><output class="now" data-now="${name}">${show(last)}</output></div>`;
}

function thingsIn(list: readonly DecisionModel[]): number {
  return list.reduce((sum, { others }) => sum + 1 + others.length, 0);
}

/** When the last of a mark was decided; undefined: all at one time, as clocks read. */
export function untilOf(list: readonly DecisionModel[]): number | undefined {
  const [first, last] = [list[0]?.at ?? 0, list.at(-1)?.at ?? 0];
  return clock(first) === clock(last) ? undefined : last;
}

function markRow(name: string, kind: string, marks: readonly Mark[], seconds: number): Markup {
  if (marks.length === 0) return NOTHING;
  const drawn = marks.map(({ at, list }, index) => {
    const things = thingsIn(list);
    const until = untilOf(list);
    const when = until === undefined ? clock(at) : `${clock(at)} to ${clock(until)}`;
    const told = list.slice(0, TOLD_MAX).map((each) => {
      const who = each.others.length > 0 ? ` and ${each.others.length} more` : '';
      const time = until === undefined ? '' : `after ${clock(each.at ?? at)} `;
      return `${time}${each.action} ${each.object}${who}: ${each.why}`;
    });
    const rest = thingsIn(list.slice(TOLD_MAX));
    const more = rest === 0 ? [] : [`And ${rest.toLocaleString('en')} more`];
    const said = `${when}: ${count(things, name.toLowerCase().replace(/s$/, ''))}. ${[...told, ...more].join('. ')}`;
    const x = Math.round((at / seconds) * 10000) / 100;
    const size = Math.min(8, 4 + Math.log2(things));
    return html`<g class="mark" role="button" tabindex="${index === 0 ? 0 : -1}" data-marks="${kind}" data-mark="${index}" aria-label="${said}"><circle cx="${x}%" cy="10" r="${size.toFixed(1)}"/></g>`;
  });
  const label = `${name} over time`;
  return html`<div class="curve marks ${kind}"><span class="name">${name}</span><svg class="plot" role="group" aria-label="${label}" width="100%" height="20"><line class="axis" x1="0" x2="100%" y1="10" y2="10"/>${drawn}</svg><span class="now"></span></div>`;
}

/** In percent of the time: a shorter span is not seen. */
const SPAN_MIN = 0.4;

/** When launches or disruptions were paused, as bands. */
function pauseRow(pauses: History['pauses'], seconds: number): Markup {
  if (pauses.length === 0) return NOTHING;
  const bands = pauses.map(({ part, from, to }) => {
    const x = Math.round((from / seconds) * 10000) / 100;
    const end = to ?? seconds;
    const width = Math.max(SPAN_MIN, Math.round(((end - from) / seconds) * 10000) / 100);
    const y = part === 'launch' ? 1 : 10;
    return html`<rect class="${part}" x="${x}%" y="${y}" width="${width}%" height="8"/>`;
  });
  const said = pauses.map(({ nodePool, part, window, from, to }) => {
    const end = to === null ? 'the end' : clock(to);
    const what = part === 'launch' ? 'launches' : 'disruptions';
    return `${what} of NodePool ${nodePool} from ${clock(from)} to ${end} (${window})`;
  });
  return html`<div class="curve pauses"><span class="name">paused<small>launches, disruptions</small></span><svg class="plot" role="img" aria-label="Paused: ${said.join('; ')}" width="100%" height="19"><title>${said.join('; ')}</title>${bands}</svg><span class="now"></span></div>`;
}

export function axis(seconds: number): Markup {
  const ticks = Array.from({ length: TICKS + 1 }, (_, at) => {
    const anchor = at === 0 ? 'start' : at === TICKS ? 'end' : 'middle';
    const x = Math.round((at / TICKS) * 10000) / 100;
    // In a narrow window only every second fits.
    const fits = at % 2 === 0 ? '' : 'wide';
    return html`<text class="${fits}" x="${x}%" y="11" text-anchor="${anchor}">${clock((seconds * at) / TICKS)}</text>`;
  });
  return html`<div class="curve"><span class="name"></span><svg class="plot ticks" aria-hidden="true" width="100%" height="14">${ticks}</svg><span class="now"></span></div>`;
}

/** What the moment that the slider is at comes to. */
export function momentText(at: number, nodes: number, pending: number, cost: string): string {
  return `${clock(at)}: ${count(nodes, 'node')}, ${count(pending, 'pod')} pending, ${cost} an hour`;
}

export function timeline(
  { decisions, events }: Pick<PageModel, 'decisions' | 'events'>,
  { seconds, frames, pauses }: History,
  scene: Scene,
  prices: Prices,
): Markup {
  const total = Math.max(1, seconds);
  const start = [0, 0] as const;
  const costs = frames.map(({ at, pricePerHour }) => [at, pricePerHour] as const);
  const pending = frames.map((each) => [each.at, each.pending] as const);
  const whole = (value: number): string => value.toLocaleString('en');
  const end = frames.at(-1);
  const said = momentText(
    total,
    nodeSteps(scene).at(-1)?.[1] ?? 0,
    end?.pending ?? 0,
    prices.perHour(end?.pricePerHour ?? 0),
  );
  return html`<div class="timeline">${curve('nodes', nodeSteps(scene), total, whole)}${curve('pending pods', [start, ...pending], total, whole)}${curve('cost an hour', [start, ...costs], total, prices.perHour)}${pauseRow(pauses, total)}${markRow('Decisions', 'decisions', marksOf(decisions, total), total)}${markRow('Events', 'events', marksOf(events, total), total)}${axis(total)}<div class="curve scrub"><span class="name"><label for="scrub">Time</label></span><input id="scrub" type="range" min="0" max="${Math.ceil(total)}" step="1" value="${Math.ceil(total)}" aria-valuetext="${said}"><span class="now steps"><button type="button" id="earlier" aria-label="Previous change">‹</button><button type="button" id="later" aria-label="Next change">›</button></span></div><p id="moment" role="status">${said}</p></div>`;
}
