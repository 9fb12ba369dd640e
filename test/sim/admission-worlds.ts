import { launchedFor, PodGroups } from '../../shared/core/launch/pod-groups.ts';
import {
  addResources,
  amountOf,
  CPU,
  MEMORY,
  NO_RESOURCES,
} from '../../shared/core/model/resources.ts';
import type { PodWebhook } from '../../shared/sim/admission.ts';
import { deletePod } from '../../shared/sim/controllers/workloads.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { Prng } from '../../shared/sim/prng.ts';
import type { KubeObject } from '../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
export const WORLD_MINUTES = 30;

/** What a random world came to. */
export interface AdmissionResult {
  readonly seed: number;
  /** What its API server does to pods and nodes. */
  readonly faults: readonly string[];
  /** Pods that the Deployments want, and those that somebody has deleted. */
  readonly wanted: number;
  readonly launched: number;
  /** The most launches for the pods of one Deployment, for each of its pods. */
  readonly launchesPerPod: number;
  /** Pods that have waited for two minutes and of which nobody has said why. */
  readonly unexplained: readonly string[];
  /** Share of the allocatable CPU of all nodes that pods request; undefined: there is no node. */
  readonly cpuUtilization: number | undefined;
}

/** What somebody does in the cluster; the pods that they delete are counted. */
type Fault = (random: Prng, world: World, deleted: { pods: number }) => void;

function isOf(pod: Json, app: string): boolean {
  return textAt(pod, 'metadata', 'labels', 'app') === app;
}

function withSpec(pod: Json, more: Json): Json {
  return { ...pod, spec: { ...objectAt(pod, 'spec'), ...more } };
}

/** Every container asks for so many milli-cores more. */
function asking(more: number): PodWebhook {
  return (pod) => {
    const containers = listAt(pod, 'spec', 'containers').map((each) => {
      const before = textAt(each, 'resources', 'requests', 'cpu') ?? '0';
      const cpu = before.endsWith('m') ? Number(before.slice(0, -1)) : Number(before) * 1000;
      const requests = { ...objectAt(each, 'resources', 'requests'), cpu: `${cpu + more}m` };
      return { ...objectAt(each), resources: { requests } };
    });
    return withSpec(pod, { containers });
  };
}

function onlyOf(app: string, webhook: PodWebhook): PodWebhook {
  return (pod) => (isOf(pod, app) ? webhook(pod) : pod);
}

/** Changes each Node as it is created, as a kubelet's configuration or a webhook would. */
function onNodes(world: World, change: (node: KubeObject) => KubeObject): void {
  world.store.onChange(({ kind, object }) => {
    if (kind === 'created' && object.kind === 'Node') world.store.update(object, change);
  });
}

function withLabels(node: KubeObject, labels: Readonly<Record<string, string>>): KubeObject {
  const { metadata } = node;
  return { ...node, metadata: { ...metadata, labels: { ...metadata.labels, ...labels } } };
}

const LABELS = [
  'karpenter.k8s.aws/nitro-sandbox',
  'karpenter.k8s.aws/placement-group-id',
  'example.com/team',
] as const;

const FAULTS: Readonly<Record<string, Fault>> = {
  'DaemonSet pods ask for more': (random, world) => {
    world.webhooks.push(onlyOf('agent', asking(random.between(200, 4000))));
  },
  'DaemonSet pods ask for more each time': (random, world) => {
    const step = random.between(100, 1500);
    let asked = 0;
    world.webhooks.push((pod) => {
      if (!isOf(pod, 'agent')) return pod;
      asked += step;
      return asking(Math.min(asked, 7000))(pod);
    });
  },
  'pods ask for more each time': (random, world) => {
    const step = random.between(50, 500);
    let asked = 0;
    world.webhooks.push((pod) => {
      if (!isOf(pod, 'web')) return pod;
      asked += step;
      return asking(Math.min(asked, 5000))(pod);
    });
  },
  'pods select a label that no node has': (random, world) => {
    const key = LABELS[random.between(0, LABELS.length - 1)] ?? '';
    world.webhooks.push(onlyOf('web', (pod) => withSpec(pod, { nodeSelector: { [key]: 'a' } })));
  },
  'pods tolerate everything': (_, world) => {
    const tolerations = [{ operator: 'Exists' }];
    world.webhooks.push((pod) => withSpec(pod, { tolerations }));
  },
  'nodes come with a taint': (_, world) => {
    const taint = { key: 'example.com/agent', effect: 'NoSchedule' };
    onNodes(world, (node) => {
      const taints = [...listAt(node, 'spec', 'taints'), taint];
      return { ...node, spec: { ...objectAt(node, 'spec'), taints } };
    });
  },
  'nodes come with other labels': (_, world) => {
    onNodes(world, (node) => withLabels(node, { 'kubernetes.io/arch': 'riscv64' }));
  },
  'pods are deleted every few seconds': (random, world, deleted) => {
    const everyMs = random.between(3, 90) * 1000;
    for (let atMs = everyMs; atMs < WORLD_MINUTES * MINUTE; atMs += everyMs) {
      world.timeline.after(atMs, () => {
        const [pod] = world.store.list('Pod').filter((each) => isOf(each, 'web'));
        if (pod === undefined) return;
        deletePod(world.store, pod);
        deleted.pods += 1;
      });
    }
  },
};

/** Of a priority at which its pods take the room of others. */
export function daemonSet(resources: Json = {}): Json {
  const labels = { app: 'agent' };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name: 'agent', namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          containers: [{ name: 'main', image: 'agent', resources }],
        },
      },
    },
  };
}

function limitRange(random: Prng): Json {
  const cpu = `${random.between(100, 2500)}m`;
  return {
    apiVersion: 'v1',
    kind: 'LimitRange',
    metadata: { name: 'defaults', namespace: random.next() < 0.5 ? 'kube-system' : 'default' },
    spec: { limits: [{ type: 'Container', defaultRequest: { cpu, memory: '64Mi' } }] },
  };
}

function cpuUtilization(world: World): number | undefined {
  const { nodes, pods } = readState(world.store).objects;
  const total = nodes.reduce(
    (sum, { allocatable }) => addResources(sum, allocatable),
    NO_RESOURCES,
  );
  const used = pods
    .filter(({ nodeName, phase }) => nodeName !== undefined && phase === 'Running')
    .reduce((sum, { spec }) => addResources(sum, spec.requests), NO_RESOURCES);
  const share = Math.max(
    amountOf(used, CPU) / amountOf(total, CPU),
    amountOf(used, MEMORY) / amountOf(total, MEMORY),
  );
  return nodes.length === 0 ? undefined : share;
}

/** NodeClaims that were written for pods of each application. */
function countLaunches(world: World): ReadonlyMap<string, number> {
  const launches = new Map<string, number>();
  world.store.onChange(({ kind, object }) => {
    if (kind !== 'created' || object.kind !== 'NodeClaim') return;
    const ids = launchedFor(object.metadata).groups.map((group) => group.id);
    const groups = new PodGroups();
    const { pods } = readState(world.store).objects;
    const apps = pods
      .filter((pod) => groups.of(pod).some(({ id }) => ids.includes(id)))
      .map(({ labels }) => labels['app'] ?? '');
    for (const app of new Set(apps)) launches.set(app, (launches.get(app) ?? 0) + 1);
  });
  return launches;
}

/** Half an hour of a cluster whose admission changes pods and nodes in ways that nobody planned. */
export async function admissionWorld(seed: number): Promise<AdmissionResult> {
  const random = new Prng(seed, 'admission');
  const replicas = random.between(1, 4);
  const others = random.between(0, 4);
  const manifests = [
    nodeClass,
    nodePool(['on-demand']),
    daemonSet({
      requests: { cpu: random.next() < 0.3 ? '0' : `${random.between(50, 500)}m`, memory: '64Mi' },
    }),
    ...(random.next() < 0.5 ? [limitRange(random)] : []),
    deployment('web', replicas, `${random.between(500, 3500)}m`),
    ...(others === 0 ? [] : [deployment('other', others, `${random.between(200, 2000)}m`)]),
  ];
  const { world } = await smallWorld(manifests, { seed });
  const names = Object.keys(FAULTS).filter(() => random.next() < 0.3);
  const deleted = { pods: 0 };
  for (const name of names) FAULTS[name]?.(random, world, deleted);
  const launches = countLaunches(world);
  await world.run(WORLD_START_MS + WORLD_MINUTES * MINUTE);
  const waiting = readState(world.store).objects.pods.filter(
    ({ nodeName, unschedulable, controller, createdAtMs }) =>
      nodeName === undefined &&
      unschedulable &&
      createdAtMs + 2 * MINUTE < world.timeline.nowMs() &&
      controller?.kind !== 'DaemonSet',
  );
  return {
    seed,
    faults: names,
    wanted: replicas + others + deleted.pods,
    launched: world.launched,
    launchesPerPod: Math.max(
      (launches.get('web') ?? 0) / (replicas + deleted.pods),
      (launches.get('other') ?? 0) / Math.max(1, others),
    ),
    unexplained: waiting
      .map(({ namespace, name }) => `${namespace}/${name}`)
      .filter((pod) => !world.unplaced.has(pod)),
    cpuUtilization: cpuUtilization(world),
  };
}
