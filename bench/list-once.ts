/**
 * One list in a process of its own: `node list-once.ts MODE`, MODE being a key of the
 * table below. The API server is named in the environment; the answer is a line of JSON.
 */
import { readFileSync } from 'node:fs';
import { kindDecoders } from '../shared/api/kinds.ts';
import { RESOURCES } from '../shared/api/resources.ts';
import { loadCatalog } from '../shared/catalog/catalog.ts';
import { instanceTypesFor } from '../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../shared/catalog/settings.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { KubeClient } from '../shared/kube/client.ts';
import { clusterReader } from '../shared/kube/cluster-reader.ts';
import { NODE, POD } from '../shared/kube/fields.ts';
import { listEach } from '../shared/kube/list.ts';
import { systemTiming } from '../shared/kube/time.ts';
import { fixedToken } from '../shared/kube/token.ts';
import { httpTransport } from '../shared/kube/transport.ts';
import type { ClusterState } from '../shared/ports.ts';

const url = process.env['BENCH_URL'] ?? '';
const caFile = process.env['BENCH_CA'] ?? '';
const token = process.env['BENCH_TOKEN'] ?? '';
/** Absent: plain HTTP. */
const caPem = caFile === '' ? undefined : readFileSync(caFile, 'utf8');
const [, , mode = ''] = process.argv;
const REGION = 'us-east-1';

/** Kept until the end: what was read is what a decision is made from. */
let kept: unknown;

function thinClient(): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url, ...(caPem === undefined ? {} : { caPem }) }),
    tokens: fixedToken(token),
    timing: systemTiming,
    name: 'bench',
    version: 'bench',
  });
}

/** Everything that a function reads, through the mirrors that it keeps. */
async function readState(): Promise<ClusterState> {
  const reader = clusterReader({
    client: thinClient(),
    decoders: kindDecoders('server'),
    onInvalid: (object) => {
      throw new Error(`${object} cannot be read`);
    },
  });
  return await reader.read();
}

async function readCluster(): Promise<number> {
  const state = await readState();
  kept = state;
  return state.objects.pods.length;
}

/** All of `provision` but its writes; answers how many pods got a place. */
async function readAndDecide(): Promise<number> {
  const { objects } = await readState();
  const catalog = await loadCatalog(REGION);
  const types = instanceTypesFor(catalog, { ...DEFAULT_LAUNCH_SETTINGS, zones: catalog.zones });
  const instanceTypes = new Map(objects.nodePools.map(({ name }) => [name, types]));
  const plan = solve({ ...objects, instanceTypes }, DEFAULT_SCHEDULING_SETTINGS);
  kept = { objects, plan };
  const planned = [...plan.newNodeClaims, ...plan.existing].flatMap((each) => each.pods);
  if (planned.length === 0) throw new Error('nothing was decided');
  return objects.pods.length;
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
  const caData = Buffer.from(caPem ?? '').toString('base64');
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
  'joiner-decide': async () => readAndDecide,
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
