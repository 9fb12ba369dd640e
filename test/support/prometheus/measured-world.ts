import { vi } from 'vitest';
import { RemoteWriter } from '../../../functions/metrics/writer.ts';
import { logRecorder, publishMetrics, telemetry } from '../../../functions/runtime/telemetry.ts';
import { ENV, type FunctionName } from '../../../shared/contract.ts';
import { timesOf } from '../../../shared/kube/cluster-view.ts';
import { decodeConditions } from '../../../shared/kube/decoders.ts';
import type { ClusterView } from '../../../shared/ports/metrics.ts';
import type { Ports } from '../../../shared/ports.ts';
import type { Post } from '../../../shared/prometheus/sender.ts';
import { readState } from '../../../shared/sim/decode.ts';
import type { Json } from '../../../shared/sim/json.ts';
import type { Scenario } from '../../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';
import { deliveryOf, measurementLine, reportLine } from './deliveries.ts';

const MINUTE = 60_000;
const RUN_BY_SCHEDULE = ['watch', 'provision', 'lifecycle', 'disrupt'] as const;

export interface MeasuredWorld {
  readonly world: World;
  readonly startMs: number;
  readonly endMs: number;
  /** Samples that the endpoint took, and what it said of others. */
  readonly written: number;
  readonly faults: readonly string[];
  /** Series in each minute's writing. */
  readonly series: readonly number[];
}

/**
 * Runs a simulated world for so many minutes. What its use cases measure goes the way of what is
 * deployed: the functions' own recorder and the lines that it writes, deliveries of CloudWatch Logs,
 * the totals in the bucket, and a writing each minute.
 */
async function runMeasured(
  manifests: readonly Json[],
  scenario: Scenario,
  minutes: number,
  endpoint: { readonly address: URL; readonly post: Post },
): Promise<MeasuredWorld> {
  vi.stubEnv(ENV.measurements, 'on');
  vi.stubEnv('POWERTOOLS_METRICS_DISABLED', 'true');
  vi.stubEnv('LOG_LEVEL', 'SILENT');
  const tools = telemetry('demo');
  const wrap = (ports: Ports): Ports => {
    const { decision } = ports.recorder;
    const recorder = { ...logRecorder(tools), decision: decision.bind(ports.recorder) };
    return { ...ports, recorder };
  };
  const { world } = await smallWorld(manifests, { scenario, wrap });
  const writer = writerOf(world, endpoint);
  const series: number[] = [];
  const faults = new Set<string>();
  let written = 0;
  for (let minute = 1; minute <= minutes; minute += 1) {
    const nowMs = WORLD_START_MS + minute * MINUTE;
    await world.run(nowMs);
    const lines = linesOf(() => publishMetrics(tools));
    for (const [at, name] of RUN_BY_SCHEDULE.entries()) {
      await writer.count(delivery(name, minute, nowMs, name === 'provision' ? lines : [], at));
    }
    const sent = await writer.write();
    written += sent.written;
    series.push(sent.series);
    for (const fault of sent.faults) faults.add(fault);
  }
  vi.unstubAllEnvs();
  const endMs = WORLD_START_MS + minutes * MINUTE;
  return { world, startMs: WORLD_START_MS, endMs, written, faults: [...faults], series };
}

/** Lambda's report is not of the world: a run of each function, of a duration of its own. */
function delivery(
  name: FunctionName,
  minute: number,
  nowMs: number,
  lines: readonly string[],
  at: number,
) {
  const id = `${name}-${minute}`;
  const report = reportLine(`${id}-report`, nowMs, 100 * (at + 1) + minute);
  const measured = lines.map((message, index) => ({
    ...measurementLine(`${id}-${index}`, nowMs, []),
    message,
  }));
  return deliveryOf('demo', name, [...measured, report]);
}

/** What is written to the log meanwhile, as lines. */
function linesOf(write: () => void): readonly string[] {
  let text = '';
  const output = vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  try {
    write();
  } finally {
    output.mockRestore();
  }
  return text.split('\n').filter((line) => line !== '');
}

function writerOf(
  world: World,
  { address, post }: { readonly address: URL; readonly post: Post },
): RemoteWriter {
  let stored: { readonly body: Uint8Array; readonly etag: string } | undefined;
  const objects = {
    read: async () => stored ?? ('absent' as const),
    write: async (_: string, body: Uint8Array, etag: string | undefined) => {
      if (etag !== stored?.etag) return 'conflict' as const;
      stored = { body, etag: `${Number(etag ?? 0) + 1}` };
      return { etag: stored.etag };
    },
  };
  return new RemoteWriter({
    cluster: 'demo',
    version: '1.2.3',
    perPod: true,
    store: { objects, key: 'totals', sleep: async () => undefined },
    sender: {
      endpoint: address,
      authorize: async (_, headers) => headers,
      version: '1.2.3',
      post,
      sleep: async () => undefined,
    },
    view: async () => viewOf(world),
    // The simulated world hands its notices over at once.
    queueDepth: async () => 0,
    functionOf: (group) => /joiner-demo-(\w+)$/.exec(group)?.[1],
    nowMs: () => world.timeline.nowMs(),
  });
}

function viewOf({ store }: World): ClusterView {
  const { objects, nodePoolUsage } = readState(store);
  const { nodes, nodeClaims, nodePools, pods } = objects;
  const podTimes = new Map(
    store.list('Pod').map((pod) => [pod.metadata.uid, timesOf(decodeConditions(pod))]),
  );
  return { nodes, nodeClaims, nodePools, usage: nodePoolUsage, pods, podTimes };
}

export const SAMPLE_MINUTES = 40;
const scale = (minute: number, name: string, replicas: number): Scenario['steps'][number] => ({
  at: minute * 60_000,
  scale: { kind: 'Deployment', namespace: 'default', name, replicas },
});

const daemons = {
  apiVersion: 'apps/v1',
  kind: 'DaemonSet',
  metadata: { name: 'agent', namespace: 'kube-system' },
  spec: {
    selector: { matchLabels: { app: 'agent' } },
    template: {
      metadata: { labels: { app: 'agent' } },
      spec: { containers: [{ name: 'a', image: 'a', resources: { requests: { cpu: '50m' } } }] },
    },
  },
};

const MANIFESTS = [
  nodeClass,
  nodePool(['spot', 'on-demand'], {
    limits: { cpu: '200', memory: '800Gi' },
    disruption: { consolidateAfter: '0s', budgets: [{ nodes: '100%' }] },
  }),
  daemons,
  deployment('web', 12, '800m'),
];

const STEPS = [
  scale(5, 'web', 24),
  { at: 12 * MINUTE, interrupt: {} },
  scale(15, 'web', 2),
  scale(30, 'web', 12),
];

/** Nodes come, go and come again; EC2 takes one back. */
export async function runSample(endpoint: {
  readonly address: URL;
  readonly post: Post;
}): Promise<MeasuredWorld> {
  return await runMeasured(MANIFESTS, { steps: STEPS } as Scenario, SAMPLE_MINUTES, endpoint);
}
