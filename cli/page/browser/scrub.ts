import { decisionDetail } from '../draw/detail.ts';
import { clock, type Prices } from '../draw/text.ts';
import { marksOf, momentText } from '../draw/timeline.ts';
import type { DecisionModel, History, PageModel } from '../model/model.ts';
import { changeTimes, momentAt } from '../model/moment.ts';
import type { Details } from './details.ts';
import { around, byId, numberOf } from './elements.ts';
import type { PictureView } from './picture-view.ts';

function output(name: string, text: string): void {
  const found = document.querySelector(`output[data-now="${name}"]`);
  if (found !== null) found.textContent = text;
}

/** A line through all plots at this share of the time. */
function cursor(share: number): void {
  for (const plot of document.querySelectorAll<SVGElement>('.timeline .plot:not(.ticks)')) {
    plot.querySelector('.cursor')?.remove();
    const line = document.createElementNS('http://www.w3.org/2000/svg', 'line');
    const isScaled = plot.hasAttribute('viewBox');
    const at = isScaled ? `${share * 1000}` : `${share * 100}%`;
    for (const name of ['x1', 'x2']) line.setAttribute(name, at);
    line.setAttribute('y1', '0');
    line.setAttribute('y2', '100%');
    line.setAttribute('class', 'cursor');
    plot.append(line);
  }
}

function listenToMarks(
  { decisions, events }: PageModel,
  seconds: number,
  details: Details,
  go: Go,
): void {
  const lists: Readonly<Record<string, readonly DecisionModel[]>> = { decisions, events };
  const time = byId('time');
  const markOf = (mark: HTMLElement | SVGElement) => {
    const list = lists[mark.dataset['marks'] ?? ''] ?? [];
    return marksOf(list, seconds)[numberOf(mark, 'mark') ?? -1];
  };
  const glance = (event: Event): void => {
    const mark = around(event, 'g.mark');
    const found = mark === null ? undefined : markOf(mark);
    if (found !== undefined) details.glance(decisionDetail(found.list));
  };
  time.addEventListener('mouseover', glance);
  time.addEventListener('focusin', glance);
  time.addEventListener('mouseleave', () => details.leave());
  time.addEventListener('click', (event) => {
    const mark = around(event, 'g.mark');
    const found = mark === null ? undefined : markOf(mark);
    if (mark === null || found === undefined) return;
    go(found.at);
    details.keep(decisionDetail(found.list), mark);
  });
}

/** Shows the moment that many seconds after the start. */
export type Go = (at: number) => void;

/** The slider, its buttons and the marks of the timeline. */
export function scrub(
  model: PageModel,
  history: History,
  view: PictureView,
  details: Details,
  prices: Prices,
): Go {
  const [scene] = model.scenes;
  const slider = byId('scrub');
  if (scene === undefined || !(slider instanceof HTMLInputElement)) {
    throw new Error('the page has no timeline');
  }
  const seconds = Math.max(1, history.seconds);
  const draw = (): void => {
    // The slider has whole seconds: what happens within one is seen at its end.
    const at = Math.min(seconds, Number(slider.value) + 0.999);
    const moment = momentAt(scene, history, at);
    const { pricePerHour, pending } = moment;
    const nodes = moment.scene.nodes.length;
    const text = momentText(Number(slider.value), nodes, pending, prices.perHour(pricePerHour));
    slider.setAttribute('aria-valuetext', text);
    byId('moment').textContent = text;
    output('nodes', nodes.toLocaleString('en'));
    output('pending pods', pending.toLocaleString('en'));
    output('cost an hour', prices.perHour(pricePerHour));
    cursor(Number(slider.value) / seconds);
    view.draw(moment.scene, `After ${clock(Number(slider.value))}`);
  };
  const go = (at: number): void => {
    slider.value = String(Math.floor(at));
    draw();
  };
  const times = changeTimes(scene, history, [...model.decisions, ...model.events]);
  const now = (): number => Number(slider.value);
  let isAsked = false;
  slider.addEventListener('input', () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => {
      isAsked = false;
      draw();
    });
  });
  byId('earlier').addEventListener('click', () => {
    const earlier = times.filter((each) => each < now()).at(-1);
    if (earlier !== undefined) go(earlier);
  });
  byId('later').addEventListener('click', () => {
    const later = times.find((each) => each > now());
    if (later !== undefined) go(later);
  });
  listenToMarks(model, seconds, details, go);
  draw();
  return go;
}
