/** A cluster of any size on a real control plane, and AWS over the wire, for the benchmarks. */

import { RESOURCES } from '../shared/api/resources.ts';
import { KubeClient } from '../shared/kube/client.ts';
import { systemTiming } from '../shared/kube/time.ts';
import { fixedToken } from '../shared/kube/token.ts';
import { httpTransport } from '../shared/kube/transport.ts';
import { ensureNamespace } from '../test/contract/kube-objects.ts';
import { FUNCTION_GROUPS } from '../test/support/authorisation/rights.ts';
import { CLUSTER, WireCloud } from '../test/support/aws/cloud.ts';
import { furnish as furnishAccount, IMAGES } from '../test/support/aws/furnish.ts';
import { awsByDefault, makeRealistic } from '../test/support/aws/realism.ts';
import { KEYS, REGION } from '../test/support/closed-loop/functions.ts';
import { nodeClass, nodePool } from '../test/support/closed-loop/manifests.ts';
import { findAssets } from '../test/support/control-plane/assets.ts';
import { establishCrds, ourCrds } from '../test/support/control-plane/crds.ts';
import {
  type ControlPlane,
  type ControlPlaneOptions,
  launchControlPlane,
} from '../test/support/control-plane/launch.ts';
import { applyManifests, applyRights } from '../test/support/control-plane/manifests.ts';
import { startTokenWebhook } from '../test/support/control-plane/token-webhook.ts';
import { each, upTo } from './at-once.ts';

/** A control plane, an account, and the cluster's admin. */
export interface World {
  readonly plane: ControlPlane;
  readonly cloud: WireCloud;
  readonly admin: KubeClient;
  stop(): Promise<void>;
}

export async function startWorld(options: ControlPlaneOptions = {}): Promise<World> {
  const assets = await findAssets();
  if (assets.kind === 'absent') throw new Error(assets.reason);
  const known = { ...KEYS, username: 'joiner', groups: FUNCTION_GROUPS };
  const webhook = await startTokenWebhook(CLUSTER, REGION, [known]);
  const plane = await launchControlPlane(assets.folder, {
    ...options,
    tokenWebhookUrl: webhook.url,
  });
  const cloud = new WireCloud();
  cloud.account.useClock(() => Date.now());
  await cloud.start();
  const data = Buffer.from(plane.caPem).toString('base64');
  cloud.cluster = { ...cloud.cluster, endpoint: plane.url, certificateAuthority: { data } };
  const admin = new KubeClient({
    transport: httpTransport({ url: plane.url, caPem: plane.caPem }),
    tokens: fixedToken(plane.adminToken),
    timing: systemTiming,
    name: 'bench',
    version: 'bench',
  });
  for (const namespace of ['default', 'kube-system']) await ensureNamespace(admin, namespace);
  return {
    plane,
    cloud,
    admin,
    stop: async () => {
      await admin.close();
      await plane.stop();
      await cloud.stop();
      await webhook.close();
    },
  };
}

const TYPE = 'm6i.large';
const POOL = 'general';

/** Definitions, rights, a NodeClass and a NodePool; prices and images of the account. */
export async function furnish({ admin, cloud }: World): Promise<void> {
  await furnishAccount(cloud.account);
  const realism = awsByDefault();
  if (realism !== undefined) makeRealistic(cloud, realism);
  // The cluster is larger than a new account may have.
  cloud.account.standardVcpus.clear();
  await establishCrds(admin, await ourCrds());
  await applyRights(admin);
  const either = (key: string, values: readonly string[]) => ({ key, operator: 'In', values });
  const pool = nodePool(POOL, [
    either('kubernetes.io/arch', ['amd64', 'arm64']),
    either('karpenter.sh/capacity-type', ['spot', 'on-demand']),
  ]);
  await applyManifests(admin, [nodeClass, pool]);
}

export function nodeName(at: number): string {
  return `${POOL}-${at}`;
}

/** Far from those that the account gives to new instances. */
export function instanceId(at: number): string {
  return `i-${at.toString(16).padStart(17, 'f00000000')}`;
}

function zoneOf(at: number): string {
  return `us-east-1${'abc'[at % 3]}`;
}

function labelsOf(at: number): Readonly<Record<string, string>> {
  return {
    'karpenter.sh/nodepool': POOL,
    'karpenter.k8s.aws/ec2nodeclass': 'default',
    'karpenter.sh/capacity-type': 'spot',
    'karpenter.sh/registered': 'true',
    'karpenter.sh/initialized': 'true',
    'node.kubernetes.io/instance-type': TYPE,
    'topology.kubernetes.io/zone': zoneOf(at),
    'kubernetes.io/arch': 'amd64',
    'kubernetes.io/os': 'linux',
    'kubernetes.io/hostname': nodeName(at),
  };
}

function isTrue(type: string) {
  const lastTransitionTime = new Date().toISOString();
  return { type, status: 'True', reason: type, message: '', lastTransitionTime };
}

const CAPACITY = { cpu: '2', memory: '7Gi', pods: '29', 'ephemeral-storage': '20Gi' };

/** As kubelets report them: 40 images make most of a node's bytes. */
const NODE_IMAGES = Array.from({ length: 40 }, (_, at) => ({
  names: [`registry.example.com/image-${at}@sha256:${'a'.repeat(64)}`],
  sizeBytes: 100_000_000,
}));

/** A node as it is once it is initialised. */
export function nodeManifest(at: number): object {
  return {
    metadata: {
      name: nodeName(at),
      labels: labelsOf(at),
      finalizers: ['karpenter.sh/termination'],
    },
    spec: { providerID: `aws:///${zoneOf(at)}/${instanceId(at)}` },
    status: {
      capacity: CAPACITY,
      allocatable: CAPACITY,
      conditions: [isTrue('Ready')],
      images: NODE_IMAGES,
    },
  };
}

/** Without claim and instance. */
export async function createNode(admin: KubeClient, at: number): Promise<void> {
  await admin.create(RESOURCES.nodes, nodeManifest(at));
}

/** The claim that a node came from, and the instance. */
export async function createClaim({ admin, cloud }: World, at: number): Promise<void> {
  const name = nodeName(at);
  const finalizers = ['karpenter.sh/termination'];
  const annotations = { 'karpenter.k8s.aws/tagged': 'true' };
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' };
  const requirements = [{ key: 'karpenter.sh/nodepool', operator: 'In', values: [POOL] }];
  await admin.create(RESOURCES.nodeClaims, {
    metadata: { name, labels: labelsOf(at), annotations, finalizers },
    spec: { nodeClassRef, requirements },
  });
  const status = {
    providerID: `aws:///${zoneOf(at)}/${instanceId(at)}`,
    nodeName: name,
    imageID: IMAGES.x86_64,
    capacity: CAPACITY,
    allocatable: CAPACITY,
    conditions: ['Launched', 'Registered', 'Initialized', 'Ready'].map(isTrue),
  };
  await admin.patch(RESOURCES.nodeClaims, { name }, { kind: 'merge', value: { status } }, 'status');
  addInstance(cloud, at);
}

function addInstance({ account }: WireCloud, at: number): void {
  const tags = {
    [`kubernetes.io/cluster/${CLUSTER}`]: 'owned',
    'eks:eks-cluster-name': CLUSTER,
    'karpenter.sh/nodepool': POOL,
    'karpenter.sh/nodeclaim': nodeName(at),
    'karpenter.k8s.aws/ec2nodeclass': 'default',
    Name: nodeName(at),
  };
  account.instances.set(instanceId(at), {
    id: instanceId(at),
    instanceType: TYPE,
    zone: zoneOf(at),
    subnetId: 'subnet-0000000000000000a',
    imageId: IMAGES.x86_64,
    market: 'spot',
    reservationId: undefined,
    launchedAtMs: Date.now(),
    template: {},
    state: 'running',
    tags: Object.entries(tags).map(([Key, Value]) => ({ Key, Value })),
  });
}

/** What a real pod carries and no decision reads; `count` variables of about 150 bytes. */
function variables(count: number) {
  return Array.from({ length: count }, (_, at) => ({
    name: `VARIABLE_NUMBER_${at}`,
    value: `some value that is rather long ${'x'.repeat(60)}${at}`,
  }));
}

/** 14 KB of JSON with the default of 60 variables. */
export function boundPod(at: number, node: string, variableCount = 60): object {
  const app = `app-${at % 50}`;
  const labels = { app, tier: 'backend', 'pod-template-hash': `abcde${at % 50}` };
  const resources = { requests: { cpu: '180m', memory: '256Mi' }, limits: { memory: '512Mi' } };
  const env = variables(variableCount);
  const labelSelector = { matchLabels: { app } };
  const podAffinityTerm = { topologyKey: 'topology.kubernetes.io/zone', labelSelector };
  const spread = [{ weight: 100, podAffinityTerm }];
  return {
    metadata: { name: `pod-${at}`, namespace: 'default', labels },
    spec: {
      nodeName: node,
      containers: [{ name: 'app', image: 'registry.example.com/app:1', env, resources }],
      tolerations: [{ key: 'dedicated', operator: 'Exists' }],
      affinity: {
        podAntiAffinity: { preferredDuringSchedulingIgnoredDuringExecution: spread },
      },
    },
  };
}

export async function createPod(admin: KubeClient, at: number, node: string): Promise<void> {
  await admin.create(RESOURCES.pods, boundPod(at, node), 'default');
  const conditions = ['PodScheduled', 'Initialized', 'ContainersReady', 'Ready'].map(isTrue);
  const status = { phase: 'Running', startTime: new Date().toISOString(), conditions };
  const address = { namespace: 'default', name: `pod-${at}` };
  await admin.patch(RESOURCES.pods, address, { kind: 'merge', value: { status } }, 'status');
}

/** Nodes of ours that are ready and nearly full, with claims, instances and running pods. */
export async function fill(world: World, nodes: number, pods: number): Promise<void> {
  await each(upTo(nodes), async (at) => {
    await createClaim(world, at);
    await createNode(world.admin, at);
  });
  await each(upTo(pods), (at) => createPod(world.admin, at, nodeName(at % nodes)));
}
