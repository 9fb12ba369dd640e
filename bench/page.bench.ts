/**
 * What a page takes by its nodes and pods: `npm run bench -- page`. Each is made from what a
 * command prints as JSON, for a cluster of pods of 40 shapes; with chromium in PATH (CHROMIUM names
 * another) also until it is laid out there.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import type { PackedNode, Packing } from '../cli/packing/packing.ts';
import { pageOf } from '../cli/page/page.ts';
import { METHOD, shadowReport } from '../cli/shadow/report.ts';
import type { Observation } from '../shared/api/observation.ts';
import { anObservation } from '../test/builders/observations.ts';
import { Chromium, chromiumPath } from '../test/support/chromium.ts';

const SHAPES = 40;
/** The bench fails where a page takes longer until it is laid out. */
const SIZES = [
  { nodes: 100, pods: 1000, secondsMax: 2 },
  { nodes: 1000, pods: 10_000, secondsMax: 4 },
  { nodes: 5000, pods: 50_000, secondsMax: Number.POSITIVE_INFINITY },
] as const;
const DAYS = [1, 7] as const;
const MINUTES_A_DAY = 1440;

export async function run(): Promise<void> {
  const path = chromiumPath();
  const folder = mkdtempSync(join(tmpdir(), 'joiner-bench-page-'));
  const chromium = path === undefined ? undefined : await Chromium.start(path);
  console.log('| page | made, s | MB | laid out, s |\n|---|---|---|---|');
  try {
    for (const { nodes, pods, secondsMax } of SIZES) {
      const json = { pricePerHour: { now: nodes, after: nodes }, packing: packed(nodes, pods) };
      const name = `plan, ${nodes} nodes, ${pods} pods`;
      const page = () => pageOf({ command: 'plan', subject: 'x', json });
      const seconds = await measure(name, page, folder, chromium);
      if (seconds > secondsMax) throw new Error(`${name}: ${seconds} s, at most ${secondsMax}`);
    }
    for (const days of DAYS) {
      const all = observed(days * MINUTES_A_DAY);
      const page = () => {
        const json = { ...shadowReport(all), method: METHOD };
        return pageOf({ command: 'shadow', subject: 'report x', json });
      };
      await measure(`shadow, ${days} d, 100 nodes`, page, folder, chromium);
    }
  } finally {
    await chromium?.stop();
    rmSync(folder, { recursive: true });
  }
}

/** Prints a row; the seconds until the page was laid out, 0 without a browser. */
async function measure(
  name: string,
  make: () => Promise<string>,
  folder: string,
  chromium: Chromium | undefined,
): Promise<number> {
  const startedMs = performance.now();
  const text = await make();
  const made = (performance.now() - startedMs) / 1000;
  const file = join(folder, 'page.html');
  writeFileSync(file, text);
  const openedMs = performance.now();
  const tab = await chromium?.open(file, 'light');
  await tab?.value('document.body.offsetHeight');
  const seconds = (performance.now() - openedMs) / 1000;
  const shown = tab === undefined ? '-' : seconds.toFixed(2);
  const size = (text.length / 1e6).toFixed(2);
  console.log(`| ${name} | ${made.toFixed(2)} | ${size} | ${shown} |`);
  return tab === undefined ? 0 : seconds;
}

function packed(nodes: number, pods: number): Packing {
  const workloads = Array.from({ length: SHAPES }, (_, at) => ({
    namespace: 'default',
    kind: 'Deployment',
    name: `web-${at}`,
    requests: { cpu: `${100 + 10 * at}m`, memory: '128Mi' },
  }));
  const each = pods / nodes;
  const list = Array.from({ length: nodes }, (_, at): PackedNode => {
    const own = new Map<number, number>();
    for (let pod = 0; pod < each; pod += 1) {
      const shape = (at * 7 + pod * 3) % SHAPES;
      own.set(shape, (own.get(shape) ?? 0) + 1);
    }
    return {
      ...{ name: `node-${at}`, nodeClaim: `claim-${at}`, nodePool: `pool-${at % 5}` },
      ...{ instanceType: 'm6i.2xlarge', zone: 'us-east-1a', capacityType: 'on-demand' },
      ...{ listPrice: 1, price: 1, overlays: [], overlaid: {}, reserved: {}, ladder: null },
      ...{ state: 'runs', allocatable: { cpu: '8', memory: '32Gi' }, pods: [...own] },
      ...{ runnerUp: null, replaces: [], why: null, life: null },
    };
  });
  return { workloads, ladders: [], nodes: list };
}

/** A look a minute: 100 nodes, and one more in every second hour. */
function observed(minutes: number): readonly Observation[] {
  const machine = {
    ...{ nodePool: 'default', instanceType: 'm6i.xlarge', zone: 'us-east-1a' },
    ...{ capacityType: 'on-demand', usdPerHour: 0.192 },
  };
  return Array.from({ length: minutes }, (_, minute) => {
    const at = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
    const hour = Math.floor(minute / 60);
    const names = Array.from({ length: 100 }, (__, each) => `default-${each}`);
    const all = hour % 2 === 1 ? [...names, `default-more-${hour}`] : names;
    const facts = { ...machine, createdAt: at, isLeaving: false, pods: 10 };
    const nodes = all.map((nodeClaim) => ({ nodeClaim, ...facts }));
    const now = 0.192 * nodes.length;
    return anObservation({ at, nodes, usdPerHour: { now, after: now } });
  });
}
