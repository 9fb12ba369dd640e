/** docs/operate/dashboard.svg: the dashboard of the stack with sample data. */
import { escaped } from '../../../cli/page/draw/markup.ts';
import { type Plot, stepPath } from '../../../cli/page/draw/timeline.ts';
import type { Steps } from '../../../cli/page/model/model.ts';
import { dashboardWidgets, type Widget } from './body.ts';
import { SPAN_MINUTES, sampleOf, sampleRows } from './sample.ts';

/** Pixels of one column and of one unit of height. */
const COLUMN = 50;
const UNIT = 30;
const GAP = 8;
const COLOURS = 6;
/** Pixels above the plot, below it, and left of it. */
const [TOP, BOTTOM, LEFT] = [24, 44, 40];
const STYLE = `
text { font: 11px system-ui, sans-serif; fill: var(--ink) }
.question { font-size: 17px; font-weight: 600 }
.title { font-weight: 600 }
.small, .axis text { font-size: 9.5px; fill: var(--soft) }
.box { fill: var(--paper); stroke: var(--line) }
.axis line { stroke: var(--line) }
.limit { stroke: #d62728; stroke-dasharray: 4 3 }
.limit-text { font-size: 9.5px; fill: #d62728 }
.ok { fill: #2a9d5c }
path { fill: none; stroke-width: 1.5 }
.c0 { stroke: var(--c0); fill: var(--c0) } .c1 { stroke: var(--c1); fill: var(--c1) }
.c2 { stroke: var(--c2); fill: var(--c2) } .c3 { stroke: var(--c3); fill: var(--c3) }
.c4 { stroke: var(--c4); fill: var(--c4) } .c5 { stroke: var(--c5); fill: var(--c5) }
path.c0, path.c1, path.c2, path.c3, path.c4, path.c5 { fill: none }
svg { --ink: #1b1f24; --soft: #5b6570; --paper: #ffffff; --back: #f3f5f7; --line: #d3d9df;
  --c0: #1f6fb2; --c1: #c76a12; --c2: #2a8f4e; --c3: #8b4fb3; --c4: #b0368a; --c5: #6b7480 }
.back { fill: var(--back) }
@media (prefers-color-scheme: dark) {
  svg { --ink: #e6e9ec; --soft: #a3adb7; --paper: #161b20; --back: #0d1115; --line: #353e47;
    --c0: #6cb2ef; --c1: #f0a45c; --c2: #6fcf93; --c3: #c59be6; --c4: #ec86c6; --c5: #a9b3bd }
}`;

type Graph = Extract<Widget, { readonly type: 'graph' }>;

function text(x: number, y: number, words: string, kind = '', more = ''): string {
  const named = kind === '' ? '' : ` class="${kind}"`;
  return `<text x="${x}" y="${y}"${named}${more}>${escaped(words)}</text>`;
}

/** Pixels of a letter, about. */
const LETTER = 5.6;

/** The text as far as it fits. */
function cut(words: string, width: number): string {
  const most = Math.floor(width / LETTER);
  return words.length > most ? `${words.slice(0, Math.max(1, most - 1))}…` : words;
}

/** The words of a line of Markdown; links by their text, since an image has none. */
export function wordsOf(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

/** In lines that fit the width, broken between words. */
function wrapped(words: string, width: number): readonly string[] {
  const lines: string[] = [];
  for (const word of words.split(' ')) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length * LETTER <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines.map((line) => cut(line, width));
}

function stepsOf(label: string): Steps {
  const steps = sampleOf(label);
  if (steps === undefined) throw new Error(`there is no sample of the line "${label}"`);
  return steps;
}

/** A round number that is not below. */
function roundUp(value: number): number {
  const power = 10 ** Math.floor(Math.log10(value));
  const step = [1, 2, 5, 10].find((each) => each * power >= value - 1e-9) ?? 10;
  return step * power;
}

function mostOf({ max, limits }: Graph, all: readonly Steps[]): number {
  if (max !== undefined) return max;
  const values = all.flatMap((steps) => steps.map(([, value]) => value));
  const most = Math.max(0, ...values, ...limits.map(({ value }) => value * 1.2));
  return most === 0 ? 1 : roundUp(most);
}

function axes({ axis }: Graph, { width, height, most }: Plot): string {
  const times = ['09:00', '10:00', '11:00', '12:00'].map((time, at) =>
    text((width * at) / 3, height + 12, time, '', ' text-anchor="middle"'),
  );
  const lines = [0, 0.5, 1].map((share) => {
    const y = height - 2 - share * (height - 6);
    const value = Number((most * share).toPrecision(3));
    const number = text(-5, y + 3, String(value), '', ' text-anchor="end"');
    return `<line x1="0" x2="${width}" y1="${y}" y2="${y}"/>${number}`;
  });
  return `<g class="axis">${lines.join('')}${times.join('')}${text(0, -4, axis)}</g>`;
}

function limitLines({ limits }: Graph, { width, height, most }: Plot): string {
  return limits
    .map(({ value, label }) => {
      const y = height - 2 - (value / most) * (height - 6);
      const line = `<line class="limit" x1="0" x2="${width}" y1="${y}" y2="${y}"/>`;
      return `${line}${text(width, y - 3, label, 'limit-text', ' text-anchor="end"')}`;
    })
    .join('');
}

/** The letters of small text, about. */
const SMALL = 5.2;
const LEGEND_LINE = 12;

interface LegendEntry {
  readonly label: string;
  /** Which of the lines it is. */
  readonly at: number;
  readonly x: number;
}

/** The labels in as many lines as they need. */
function legendLines(
  labels: readonly string[],
  width: number,
): readonly (readonly LegendEntry[])[] {
  const lines: LegendEntry[][] = [];
  let x = width;
  for (const [at, label] of labels.entries()) {
    const length = 12 + label.length * SMALL;
    if (x + length > width) {
      lines.push([]);
      x = 0;
    }
    lines.at(-1)?.push({ label, at, x });
    x += length + 12;
  }
  return lines;
}

function signs(lines: readonly (readonly LegendEntry[])[], width: number): readonly string[] {
  return lines.map((line) =>
    line
      .map(({ label, at, x }) => {
        const sign = `<rect class="c${at % COLOURS}" x="${x}" y="-5" width="8" height="3"/>`;
        return `${sign}${text(x + 12, 0, cut(label, width - x - 12), 'small')}`;
      })
      .join(''),
  );
}

/** `errors: watch, provision`: what many lines are called, which colours cannot tell apart. */
export function groupedLabels(labels: readonly string[]): readonly string[] {
  const parts = labels.map((label) => label.split(': '));
  return [...Map.groupBy(parts, ([name = '', what = name]) => what)].map(
    ([what, of]) => `${what}: ${of.map(([name]) => name).join(', ')}`,
  );
}

/** The lines of the legend, the first of them at 0. */
function legend(labels: readonly string[], width: number): readonly string[] {
  if (labels.length <= COLOURS) return signs(legendLines(labels, width), width);
  return groupedLabels(labels)
    .flatMap((each) => wrapped(each, width))
    .map((line) => text(0, 0, line, 'small'));
}

function graph(widget: Graph, width: number, height: number): string {
  const shown = widget.lines.filter(({ isHidden }) => !isHidden);
  const all = shown.map(({ label }) => stepsOf(label));
  const names = legend(
    shown.map(({ label }) => label),
    width - 20,
  );
  const legendHeight = (names.length - 1) * LEGEND_LINE;
  const plot = {
    width: width - LEFT - 14,
    height: height - TOP - BOTTOM - 8 - legendHeight,
    most: mostOf(widget, all),
    span: SPAN_MINUTES,
  };
  const paths = all.map((steps, at) => {
    return `<path class="c${at % COLOURS}" d="${stepPath(steps, plot).line}"/>`;
  });
  const inner = `${axes(widget, plot)}${paths.join('')}${limitLines(widget, plot)}`;
  const first = height - 8 - legendHeight;
  const below = names.map(
    (line, at) => `<g transform="translate(10 ${first + at * LEGEND_LINE})">${line}</g>`,
  );
  return `<g transform="translate(${LEFT} ${TOP + 10})">${inner}</g>${below.join('')}`;
}

function rows(title: string, width: number): string {
  const found = sampleRows(title);
  if (found === undefined) throw new Error(`there is no sample of the table "${title}"`);
  const columns = found[0]?.length ?? 1;
  const widths = Array.from({ length: columns }, (_, column) => {
    const longest = Math.max(...found.map((row) => row[column]?.length ?? 0));
    return longest * (LETTER + 0.6) + 18;
  });
  return found
    .flatMap((row, at) => {
      let x = 10;
      return row.map((cell, column) => {
        const from = x;
        x += widths[column] ?? 0;
        const words = cut(cell, width - from - 8);
        return text(from, TOP + 20 + at * 18, words, at === 0 ? 'small' : '');
      });
    })
    .join('');
}

function alarmList(alarms: readonly string[], width: number): string {
  const columns = 6;
  return alarms
    .map((name, at) => {
      const x = 10 + ((at % columns) * (width - 20)) / columns;
      const y = TOP + 20 + Math.floor(at / columns) * 24;
      return `<circle class="ok" cx="${x + 5}" cy="${y - 4}" r="5"/>${text(x + 15, y, `${name}: OK`)}`;
    })
    .join('');
}

function inside(widget: Exclude<Widget, { readonly type: 'text' }>, width: number, height: number) {
  if (widget.type === 'graph') return graph(widget, width, height);
  return widget.type === 'table' ? rows(widget.title, width) : alarmList(widget.alarms, width);
}

function drawn(widget: Widget): string {
  const width = widget.width * COLUMN - GAP;
  const height = widget.height * UNIT - GAP;
  const place = `translate(${widget.x * COLUMN + GAP / 2} ${widget.y * UNIT + GAP / 2})`;
  if (widget.type === 'text') {
    const [question = '', help = ''] = widget.markdown.split('\n');
    const said = wrapped(wordsOf(help), width - 8)
      .map((line, at) => text(4, 43 + at * 13, line))
      .join('');
    return `<g transform="${place}">${text(4, 24, question.replace('## ', ''), 'question')}${said}</g>`;
  }
  const box = `<rect class="box" width="${width}" height="${height}" rx="3"/>`;
  const title = text(10, 16, cut(widget.title, width - 50), 'title');
  return `<g transform="${place}">${box}${title}${inside(widget, width, height)}</g>`;
}

/** The whole dashboard as an image that follows the colour scheme of the reader. */
export function dashboardDrawing(): string {
  const widgets = dashboardWidgets();
  const height = Math.max(...widgets.map((each) => each.y + each.height)) * UNIT + GAP;
  const width = 24 * COLUMN;
  const said = 'The dashboard of a stack with sample data, row by row';
  const back = `<rect class="back" width="${width}" height="${height}"/>`;
  const parts = widgets.map(drawn).join('\n');
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${said}"><!-- Written by npm run generate, from test/infra/golden/defaults.json. --><style>${STYLE}</style>${back}
${parts}
</svg>
`;
}
