/**
 * One list in a process of its own: `node list-once.ts MODE`, MODE being `joiner`, `joiner-json` or
 * `client-node`. The API server is named in the environment; the answer is a line of JSON.
 */
import { readFileSync } from 'node:fs';
import { apiDecoders } from '../shared/kube/api-decoders.ts';
import { KubeClient } from '../shared/kube/client.ts';
import { clusterReader } from '../shared/kube/cluster-reader.ts';
import { NODE, POD } from '../shared/kube/fields.ts';
import { listEach } from '../shared/kube/list.ts';
import { RESOURCES } from '../shared/kube/resources.ts';
import { systemTiming } from '../shared/kube/time.ts';
import { fixedToken } from '../shared/kube/token.ts';
import { httpTransport } from '../shared/kube/transport.ts';

const url = process.env['BENCH_URL'] ?? '';
const caFile = process.env['BENCH_CA'] ?? '';
const token = process.env['BENCH_TOKEN'] ?? '';
const caPem = readFileSync(caFile, 'utf8');
const [, , mode = ''] = process.argv;

/** Kept until the end: what was read is what a decision is made from. */
let kept: unknown;

function thinClient(): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url, caPem }),
    tokens: fixedToken(token),
    timing: systemTiming,
    name: 'bench',
    version: 'bench',
  });
}

/** Everything that a function reads, through the mirrors that it keeps. */
async function readCluster(): Promise<number> {
  const reader = clusterReader({
    client: thinClient(),
    decoders: apiDecoders(),
    onInvalid: (object) => {
      throw new Error(`${object} cannot be read`);
    },
  });
  const state = await reader.read();
  kept = state;
  return state.objects.pods.length;
}

/** Pods and nodes projected, as JSON or protobuf. */
async function listProjected(protobuf: boolean): Promise<number> {
  const client = thinClient();
  const all: unknown[] = [];
  const visit = { start: () => undefined, object: (each: unknown) => void all.push(each) };
  await listEach(client, { resource: RESOURCES.pods, shape: POD, protobuf }, visit);
  const pods = all.length;
  await listEach(client, { resource: RESOURCES.nodes, shape: NODE, protobuf }, visit);
  kept = all;
  return pods;
}

async function clientNode(): Promise<() => Promise<number>> {
  const { CoreV1Api, KubeConfig } = await import('@kubernetes/client-node');
  const config = new KubeConfig();
  const caData = Buffer.from(caPem).toString('base64');
  const user = { name: 'bench', token };
  config.loadFromClusterAndUser({ name: 'bench', server: url, caData, skipTLSVerify: false }, user);
  const api = config.makeApiClient(CoreV1Api);
  return async () => {
    const pods = await api.listPodForAllNamespaces({});
    kept = [pods, await api.listNode({})];
    return pods.items.length;
  };
}

const MODES: Readonly<Record<string, () => Promise<() => Promise<number>>>> = {
  joiner: async () => readCluster,
  'joiner-protobuf': async () => () => listProjected(true),
  'joiner-json': async () => () => listProjected(false),
  'client-node': clientNode,
};

const list = await MODES[mode]?.();
if (list === undefined) throw new Error(`no mode is called ${mode}`);
const idle = process.memoryUsage().rss;
const cpu = process.cpuUsage();
const startMs = performance.now();
const pods = await list();
const ms = performance.now() - startMs;
const { user, system } = process.cpuUsage(cpu);
// The kernel's own high-water mark, in KiB: no moment is missed.
const peak = process.resourceUsage().maxRSS * 1024;
const line = { pods, ms, cpuMs: (user + system) / 1000, idle, peak, isKept: kept !== undefined };
process.stdout.write(`${JSON.stringify(line)}\n`, () => process.exit(0));
