/**
 * What a run takes that finds nothing to do, by the size of the cluster: `npm run bench -- idle`.
 * The real handlers of provision, lifecycle and nodeclass, against a real API server and AWS over
 * the wire; the cluster's objects are as after a launch, and no pod is pending. Sizes as
 * `nodes:pods` may follow. The figures of bench/idle.md are inputs of `joiner cost`.
 */

import { RESOURCES } from '../shared/api/resources.ts';
import { ENV } from '../shared/contract.ts';
import type { KubeClient } from '../shared/kube/client.ts';
import { CLUSTER, type WireCloud } from '../test/support/aws/cloud.ts';
import { contextOf, environmentOf, type Handler } from '../test/support/closed-loop/functions.ts';
import { nodeClass, nodePool } from '../test/support/closed-loop/manifests.ts';
import { establishCrds, ourCrds } from '../test/support/control-plane/crds.ts';
import { applyManifests, applyRights } from '../test/support/control-plane/manifests.ts';
import { each, upTo } from './at-once.ts';
import { startWorld, type World } from './large-cluster.ts';

const SIZES = ['10:200', '100:2000', '1000:20000'];
const RUNS = 7;
const INVOCATION_MS = 300_000;
const NAMES = ['provision', 'lifecycle', 'nodeclass'] as const;

export async function run(args: readonly string[] = []): Promise<void> {
  const sizes = args.length > 0 ? args : SIZES;
  console.log('nodes   pods     function    first ms   then ms   CPU ms');
  for (const size of sizes) {
    const [nodes = 0, pods = 0] = size.split(':').map(Number);
    await measure(nodes, pods);
  }
}

async function measure(nodes: number, pods: number): Promise<void> {
  const world = await startWorld({ controllers: false });
  try {
    await populate(world, nodes, pods);
    const quiet = { [ENV.version]: 'bench', [ENV.logLevel]: 'ERROR' };
    Object.assign(process.env, environmentOf(world.cloud, quiet));
    const { closeSandboxes } = await import('../functions/runtime/sandbox.ts');
    for (const name of NAMES) report(nodes, pods, name, await runsOf(name));
    await closeSandboxes();
  } finally {
    await world.stop();
  }
}

/** Milliseconds of one run by the clock, and of this process's CPU; AWS on loopback is in both. */
interface Run {
  readonly wallMs: number;
  readonly cpuMs: number;
}

async function runsOf(name: (typeof NAMES)[number]): Promise<readonly Run[]> {
  process.env[ENV.function] = name;
  const { handler } = (await import(`../functions/${name}/handler.ts`)) as { handler: Handler };
  const runs: Run[] = [];
  for (let at = 0; at < RUNS; at += 1) {
    const startMs = performance.now();
    const start = process.cpuUsage();
    await handler({}, contextOf(name, INVOCATION_MS));
    const { user, system } = process.cpuUsage(start);
    runs.push({ wallMs: performance.now() - startMs, cpuMs: (user + system) / 1000 });
  }
  return runs;
}

function report(nodes: number, pods: number, name: string, runs: readonly Run[]): void {
  const [first, ...warm] = runs;
  const median = (of: (run: Run) => number): number =>
    warm.map(of).toSorted((a, b) => a - b)[Math.floor(warm.length / 2)] ?? 0;
  const cells = [first?.wallMs ?? 0, median((run) => run.wallMs), median((run) => run.cpuMs)];
  const shown = cells.map((each) => each.toFixed(0).padStart(8)).join('  ');
  console.log(`${String(nodes).padEnd(7)} ${String(pods).padEnd(8)} ${name.padEnd(10)} ${shown}`);
}

const IMAGE = 'ami-0123456789abcdef0';
const TYPE = 'm6i.large';

async function populate({ admin, cloud }: World, nodes: number, pods: number): Promise<void> {
  const path = '/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard';
  cloud.account.parameters.set(`${path}/recommended/image_id`, IMAGE);
  cloud.account.images = [
    { ImageId: IMAGE, Name: 'al2023', Architecture: 'x86_64', State: 'available', OwnerId: '1' },
  ];
  await establishCrds(admin, await ourCrds());
  await applyRights(admin);
  const arch = { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] };
  await applyManifests(admin, [nodeClass, nodePool('general', [arch])]);
  await each(upTo(nodes), (at) => node(admin, cloud, at));
  await each(upTo(pods), (at) => pod(admin, at, at % nodes));
}

/** A claim, its instance and its node, as they are once the node is initialised. */
async function node(admin: KubeClient, cloud: WireCloud, at: number): Promise<void> {
  const name = `general-${at}`;
  const id = `i-${at.toString(16).padStart(17, '0')}`;
  const zone = `us-east-1${'abc'[at % 3]}`;
  const providerID = `aws:///${zone}/${id}`;
  const labels = {
    'karpenter.sh/nodepool': 'general',
    'karpenter.k8s.aws/ec2nodeclass': 'default',
    'karpenter.sh/capacity-type': 'on-demand',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
    'node.kubernetes.io/instance-type': TYPE,
    'topology.kubernetes.io/zone': zone,
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/hostname': name,
  };
  const finalizers = ['karpenter.sh/termination'];
  const annotations = { 'karpenter.k8s.aws/tagged': 'true' };
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const capacity = { cpu: '2', memory: '7Gi', pods: '29', 'ephemeral-storage': '20Gi' };
  const lastTransitionTime = new Date().toISOString();
  const isTrue = (type: string) => ({
    type,
    status: 'True',
    reason: type,
    message: '',
    lastTransitionTime,
  });
  const conditions = ['Launched', 'Registered', 'Initialized', 'Ready'].map(isTrue);
  await admin.create(RESOURCES.nodeClaims, {
    metadata: { name, labels, annotations, finalizers },
    spec: {
      nodeClassRef,
      requirements: [{ key: 'karpenter.sh/nodepool', operator: 'In', values: ['general'] }],
    },
  });
  const status = {
    providerID,
    nodeName: name,
    imageID: IMAGE,
    capacity,
    allocatable: capacity,
    conditions,
  };
  await admin.patch(RESOURCES.nodeClaims, { name }, { kind: 'merge', value: { status } }, 'status');
  await admin.create(RESOURCES.nodes, {
    metadata: { name, labels, finalizers },
    spec: { providerID },
  });
  const ready = { capacity, allocatable: capacity, conditions: [isTrue('Ready')] };
  const value = { status: ready };
  await admin.patch(RESOURCES.nodes, { name }, { kind: 'merge', value }, 'status');
  addInstance(cloud, id, zone, name);
}

function addInstance(cloud: WireCloud, id: string, zone: string, claim: string): void {
  cloud.account.instances.set(id, {
    id,
    instanceType: TYPE,
    zone,
    subnetId: 'subnet-0000000000000000a',
    imageId: IMAGE,
    market: 'on-demand',
    reservationId: undefined,
    launchedAtMs: Date.now(),
    template: {},
    state: 'running',
    tags: Object.entries({
      [`kubernetes.io/cluster/${CLUSTER}`]: 'owned',
      'eks:eks-cluster-name': CLUSTER,
      'karpenter.sh/nodepool': 'general',
      'karpenter.sh/nodeclaim': claim,
      Name: claim,
    }).map(([Key, Value]) => ({ Key, Value })),
  });
}

async function pod(admin: KubeClient, at: number, on: number): Promise<void> {
  const app = `app-${at % 40}`;
  const resources = { requests: { cpu: '50m', memory: '128Mi' } };
  const object = {
    metadata: { name: `pod-${at}`, labels: { app } },
    spec: { nodeName: `general-${on}`, containers: [{ name: 'app', image: 'app', resources }] },
  };
  await admin.create(RESOURCES.pods, object, 'default');
}
