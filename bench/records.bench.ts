/**
 * What records of a decision cost: `npm run bench -- records`. Pods of 40 shapes get their nodes in a
 * simulated cluster, with the types of us-east-1. A decision's time is from reading the cluster to its
 * plan; ports answer at once, so it is shorter than any real one.
 */
import { performance } from 'node:perf_hooks';
import { gzipSync } from 'node:zlib';
import { prepareSimulation, runUntil } from '../cli/simulate/run.ts';
import packageJson from '../package.json' with { type: 'json' };
import { loadCatalog } from '../shared/catalog/catalog.ts';
import type { Ports } from '../shared/ports.ts';
import type { Json } from '../shared/sim/json.ts';
import { NODE_CLASS, nodePool, workload } from '../test/builders/recorded-month.ts';

const SHAPES = 40;
const RUNS = 5;
const MINUTES = 3;
/** Of a decision's time, in percent. */
const SHARE_MAX = 5;
/** Of one record. */
const BYTES_MAX = 16 * 1024;

/** Milliseconds and bytes of one run. */
interface Figures {
  decideMs: number;
  recordMs: number;
  records: number;
  recordBytes: number;
  recordBytesMax: number;
  recordingMs: number;
  recordingBytes: number;
}

export async function run(args: readonly string[]): Promise<void> {
  const counts = args.length > 0 ? args.map(Number) : [60, 1000];
  console.log('pods  decide ms  records  ms (%)  bytes each, max  recording ms  bytes');
  for (const count of counts) {
    const runs: Figures[] = [];
    for (let each = 0; each < RUNS; each += 1) runs.push(await measured(count));
    const median = (key: keyof Figures): number =>
      runs.map((each) => each[key]).toSorted((a, b) => a - b)[Math.floor(RUNS / 2)] ?? 0;
    const share = (100 * median('recordMs')) / median('decideMs');
    const cells = [
      count,
      median('decideMs').toFixed(0),
      median('records'),
      `${median('recordMs').toFixed(2)} (${share.toFixed(2)})`,
      `${Math.round(median('recordBytes') / median('records'))}, ${median('recordBytesMax')}`,
      median('recordingMs').toFixed(1),
      median('recordingBytes'),
    ];
    console.log(cells.join('  '));
    if (share > SHARE_MAX || median('recordBytesMax') > BYTES_MAX) {
      throw new Error(`records may take ${SHARE_MAX} % and ${BYTES_MAX} bytes each`);
    }
  }
}

async function measured(pods: number): Promise<Figures> {
  const figures: Figures = {
    decideMs: 0,
    recordMs: 0,
    records: 0,
    recordBytes: 0,
    recordBytesMax: 0,
    recordingMs: 0,
    recordingBytes: 0,
  };
  const simulation = await prepareSimulation({
    catalog: await loadCatalog('us-east-1'),
    seed: 1,
    manifests: [NODE_CLASS, nodePool('default', {}), ...workloads(pods)],
    wrap: (ports) => timed(ports, figures),
  });
  await runUntil(simulation, MINUTES * 60_000);
  if (figures.records === 0 || figures.recordingBytes === 0)
    throw new Error('nothing was recorded');
  return figures;
}

function workloads(pods: number): readonly Json[] {
  return Array.from({ length: SHAPES }, (_, at) => {
    const replicas = Math.floor(pods / SHAPES) + (at < pods % SHAPES ? 1 : 0);
    const requests = { cpu: `${100 + 50 * at}m`, memory: `${256 + 64 * ((at * 7) % SHAPES)}Mi` };
    return workload(`app-${at}`, replicas, requests);
  }).filter((each) => Number(Object(each['spec']).replicas) > 0);
}

/** The ports, with what the functions' recorder would do measured: a line, or a compressed file. */
function timed(ports: Ports, figures: Figures): Ports {
  let readMs = 0;
  const { recorder, cluster } = ports;
  return {
    ...ports,
    cluster: Object.assign(Object.create(cluster), {
      read: async () => {
        readMs = performance.now();
        return await cluster.read();
      },
    }),
    recorder: {
      decision: async (record) => {
        const before = performance.now();
        const bytes = Buffer.byteLength(`${JSON.stringify(record)}\n`);
        figures.recordMs += performance.now() - before;
        figures.records += 1;
        figures.recordBytes += bytes;
        figures.recordBytesMax = Math.max(figures.recordBytesMax, bytes);
        await recorder.decision(record);
      },
      count: (metric, dimensions, by) => recorder.count(metric, dimensions, by),
      measure: (metric, value) => recorder.measure?.(metric, value),
      recording: (_name, _atMs, text) => {
        const before = performance.now();
        figures.decideMs += before - readMs;
        const body = gzipSync(text(packageJson.version));
        figures.recordingMs += performance.now() - before;
        figures.recordingBytes = Math.max(figures.recordingBytes, body.length);
      },
    },
  };
}
