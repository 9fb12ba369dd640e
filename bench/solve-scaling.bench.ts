import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DEFAULT_SCHEDULING_SETTINGS } from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { snapshotOf } from '../test/builders/scheduling.ts';
import { mixedPods, priceList } from './workload.ts';

const PLOT = join(import.meta.dirname, '..', 'docs', 'solve-scaling.svg');

/** What is varied while the other stays at its middle. */
const PODS = [1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000];
const TYPES = [50, 100, 200, 400, 800, 1_300];
const MIDDLE = { pods: 10_000, types: 400 };

interface Point {
  readonly x: number;
  readonly ms: number;
}

/** The least CPU time of five solves, the first of which warms up. */
function cpuMs(pods: number, types: number): number {
  const snapshot = snapshotOf({ pods: mixedPods(pods), types: priceList(types) });
  const times = Array.from({ length: 5 }, () => {
    const before = process.cpuUsage();
    solve(snapshot, DEFAULT_SCHEDULING_SETTINGS);
    const { user, system } = process.cpuUsage(before);
    return (user + system) / 1000;
  });
  return Math.min(...times);
}

/** The exponent that fits best: 1 = time grows in proportion. */
function exponent(points: readonly Point[]): number {
  const logs = points.map(({ x, ms }) => [Math.log(x), Math.log(ms)] as const);
  const mean = (at: 0 | 1) => logs.reduce((sum, each) => sum + each[at], 0) / logs.length;
  const [mx, my] = [mean(0), mean(1)];
  const over = logs.reduce((sum, [x, y]) => sum + (x - mx) * (y - my), 0);
  return over / logs.reduce((sum, [x]) => sum + (x - mx) ** 2, 0);
}

const WIDTH = 360;
const HEIGHT = 260;
const MARGIN = 48;

/** One chart with logarithmic axes; the dashed line grows in proportion. */
function chart(title: string, points: readonly Point[], left: number): string {
  const xs = points.map(({ x }) => x);
  const [low, high] = [Math.min(...xs), Math.max(...xs)];
  const [least, most] = [1, 10_000];
  const at = (value: number, from: number, to: number) =>
    Math.log(value / from) / Math.log(to / from);
  const px = (x: number) => left + MARGIN + at(x, low, high) * (WIDTH - 2 * MARGIN);
  const py = (ms: number) => HEIGHT - MARGIN - at(ms, least, most) * (HEIGHT - 2 * MARGIN);
  const path = points.map(({ x, ms }) => `${px(x).toFixed(1)},${py(ms).toFixed(1)}`).join(' ');
  const [first] = points;
  const start = first?.ms ?? 1;
  const dots = points.map(
    ({ x, ms }) =>
      `<circle cx="${px(x).toFixed(1)}" cy="${py(ms).toFixed(1)}" r="3"/>` +
      `<text x="${px(x).toFixed(1)}" y="${HEIGHT - MARGIN + 16}" text-anchor="middle">${x >= 1000 ? `${x / 1000}k` : x}</text>`,
  );
  const lines = [1, 10, 100, 1_000, 10_000].map(
    (ms) =>
      `<line class="grid" x1="${left + MARGIN}" x2="${left + WIDTH - MARGIN}" y1="${py(ms)}" y2="${py(ms)}"/>` +
      `<text x="${left + MARGIN - 6}" y="${py(ms) + 4}" text-anchor="end">${ms}</text>`,
  );
  const proportional =
    `<line class="proportional" x1="${px(low)}" y1="${py(start).toFixed(1)}" ` +
    `x2="${px(high)}" y2="${py((start * high) / low).toFixed(1)}"/>`;
  return [
    ...lines,
    proportional,
    `<polyline points="${path}"/>`,
    ...dots,
    `<text x="${left + WIDTH / 2}" y="20" text-anchor="middle">${title}</text>`,
  ].join('\n');
}

function plot(byPods: readonly Point[], byTypes: readonly Point[]): string {
  const style =
    'svg{background:#fff}text{font:11px sans-serif;fill:#333}circle{fill:#06c}' +
    'polyline{fill:none;stroke:#06c;stroke-width:2}.grid{stroke:#ddd}' +
    '.proportional{stroke:#999;stroke-dasharray:4}';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${2 * WIDTH} ${HEIGHT}">`,
    '<title>CPU time of a solve by pods and by instance types</title>',
    `<style>${style}</style>`,
    chart(`CPU ms by pods (${MIDDLE.types} types)`, byPods, 0),
    chart(`CPU ms by instance types (${MIDDLE.pods / 1000}k pods)`, byTypes, WIDTH),
    '</svg>',
    '',
  ].join('\n');
}

/** How the time of a solve grows with pods and with types; draws docs/solve-scaling.svg. */
export function run(): void {
  const show = (name: string, points: readonly Point[]) => {
    for (const { x, ms } of points) process.stdout.write(`${x} ${name}: ${ms.toFixed(0)} CPU ms\n`);
    process.stdout.write(`grows with ${name} to the power of ${exponent(points).toFixed(2)}\n`);
  };
  const byPods = PODS.map((x) => ({ x, ms: cpuMs(x, MIDDLE.types) }));
  show('pods', byPods);
  const byTypes = TYPES.map((x) => ({ x, ms: cpuMs(MIDDLE.pods, x) }));
  show('types', byTypes);
  writeFileSync(PLOT, plot(byPods, byTypes));
}
