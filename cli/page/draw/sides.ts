import type { Side, Sides, Steps } from '../model/model.ts';
import { html, type Markup, NOTHING } from './markup.ts';
import type { Prices } from './text.ts';
import { axis, HEIGHT, stepPath, WIDTH } from './timeline.ts';

/** The value at the end of a time. */
function lastOf(steps: Steps): number {
  return steps.at(-1)?.[1] ?? 0;
}

/** Both sides of one amount, on one scale: the first with its area, the second as a line over it. */
function bothRow(
  name: string,
  { sides, seconds }: Sides,
  stepsOf: (side: Side) => Steps,
  show: (value: number) => string,
): Markup {
  const most = Math.max(0, ...sides.flatMap((side) => stepsOf(side).map(([, value]) => value)));
  const plot = {
    ...{ width: WIDTH, height: HEIGHT, most: Math.max(1e-9, most) },
    span: Math.max(1, seconds),
  };
  const [first, second] = sides.map((side) => stepPath(stepsOf(side), plot));
  const said = sides.map((side) => {
    const peak = Math.max(0, ...stepsOf(side).map(([, value]) => value));
    return `${side.name} ${show(peak)} at most, ${show(lastOf(stepsOf(side)))} at the end`;
  });
  const ends = sides.map(
    (side, at) => html`<small class="side${at}">${show(lastOf(stepsOf(side)))}</small>`,
  );
  return html`<div class="curve both"><span class="name">${name}<small>${show(most)} at most</small></span><svg class="plot" role="img" aria-label="${name}: ${said.join('; ')}" width="100%" height="${HEIGHT}" viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none"><path class="area" d="${first?.area ?? ''}"/><path class="line side0" d="${first?.line ?? ''}"/><path class="line side1" d="${second?.line ?? ''}"/></svg><span class="now">${ends}</span></div>`;
}

/** Which line is whose. */
function keys({ sides }: Sides): Markup {
  const items = sides.map(
    ({ name }, at) =>
      html`<li><span class="key"><svg class="plot" aria-hidden="true" width="24" height="12"><line class="line side${at}" x1="0" x2="24" y1="6" y2="6"/></svg>${name}</span></li>`,
  );
  return html`<ul class="legend" aria-label="Lines">${items}</ul>`;
}

/** What both have over time, one under the other. */
export function sidesTimeline(sides: Sides, prices: Prices): Markup {
  const whole = (value: number): string => Math.round(value).toLocaleString('en');
  const rows = [
    bothRow('nodes', sides, ({ nodes }) => nodes, whole),
    bothRow('cost an hour', sides, ({ cost }) => cost, prices.perHour),
    bothRow('pending pods', sides, ({ pending }) => pending, whole),
  ];
  return html`${keys(sides)}<div class="beside">${rows}${axis(Math.max(1, sides.seconds))}</div>`;
}

/** The figures of both, a row each. */
export function sidesTable({ sides, figures }: Sides): Markup {
  if (figures.length === 0) return NOTHING;
  const heads = sides.map(({ name }) => html`<th scope="col" class="number">${name}</th>`);
  const rows = figures.map(([what, values]) => {
    const cells = values.map((each) => html`<td class="number">${each}</td>`);
    return html`<tr><th scope="row" class="what">${what}</th>${cells}</tr>`;
  });
  return html`<div class="scroll" role="region" tabindex="0" aria-label="Figures of both"><table class="differences figures"><thead><tr><th scope="col">What</th>${heads}</tr></thead><tbody>${rows}</tbody></table></div>`;
}
