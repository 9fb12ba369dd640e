/**
 * What an observation of the function `shadow` takes: `npm run bench -- shadow`. Pods of 40 shapes
 * run on a simulated cluster that Joiner has packed, with the types of us-east-1. The time is that
 * of the plan and of the search for moves; reading a real cluster comes on top.
 */
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { prepareSimulation } from '../cli/simulate/run.ts';
import { stackSettings } from '../shared/app/settings.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import { DEFAULT_SETTINGS } from '../shared/contract/settings.ts';
import { basisOf } from '../shared/preview/basis.ts';
import { observationOf } from '../shared/preview/observation.ts';
import { preview } from '../shared/preview/preview.ts';
import type { Json } from '../shared/sim/json.ts';
import { NODE_CLASS, nodePool, workload } from '../test/builders/recorded-month.ts';

const SHAPES = 40;
const MINUTES = 5;
/** Of one observation, compressed. */
const BYTES_MAX = 64 * 1024;

export async function run(args: readonly string[]): Promise<void> {
  const counts = args.length > 0 ? args.map(Number) : [200, 2000, 10_000];
  console.log('pods  nodes  CPU s  wall s  bytes  compressed');
  for (const count of counts) {
    const { nodes, cpuMs, wallMs, bytes, compressed } = await measured(count);
    const seconds = (ms: number): string => (ms / 1000).toFixed(2);
    console.log([count, nodes, seconds(cpuMs), seconds(wallMs), bytes, compressed].join('  '));
    if (compressed > BYTES_MAX) throw new Error(`an observation may have ${BYTES_MAX} bytes`);
  }
}

async function measured(pods: number) {
  const prices = await loadCatalog('us-east-1');
  const { world } = await prepareSimulation({
    catalog: prices,
    seed: 1,
    manifests: [NODE_CLASS, nodePool('default', {}), ...workloads(pods)],
  });
  await world.run(world.timeline.nowMs() + MINUTES * 60_000);
  const { cluster, clock } = world.ports;
  const state = await cluster.read();
  const stack = stackSettings(DEFAULT_SETTINGS);
  const input = { ...basisOf({ prices }, stack), live: cluster, state, nowMs: clock.nowMs() };
  const [startedMs, cpu] = [performance.now(), process.cpuUsage()];
  const observation = observationOf(input, await preview(input), { cluster: 'x', joiner: 'x' });
  const { user, system } = process.cpuUsage(cpu);
  const text = JSON.stringify(observation);
  return {
    nodes: observation.nodes.length,
    cpuMs: (user + system) / 1000,
    wallMs: performance.now() - startedMs,
    bytes: text.length,
    compressed: gzipSync(text).length,
  };
}

function workloads(pods: number): readonly Json[] {
  return Array.from({ length: SHAPES }, (_, at) => {
    const requests = { cpu: `${100 + 50 * at}m`, memory: `${256 + 64 * ((at * 7) % SHAPES)}Mi` };
    return workload(`app-${at}`, Math.ceil(pods / SHAPES), requests);
  });
}
