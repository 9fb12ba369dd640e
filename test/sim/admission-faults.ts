import { unmetTexts } from '../../shared/core/launch/unmet.ts';
import { SIMULATED_DURATION } from '../../shared/core/model/labels.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import { untoleratedTaint } from '../../shared/core/model/taint.ts';
import type { PodWebhook } from '../../shared/sim/admission.ts';
import { deletePod } from '../../shared/sim/controllers/workloads.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { setCondition } from '../../shared/sim/objects.ts';
import type { Prng } from '../../shared/sim/prng.ts';
import type { KubeObject } from '../../shared/sim/store.ts';
import type { World } from '../../shared/sim/world.ts';

const SECOND = 1000;
const MINUTE = 60_000;
export const WORLD_MINUTES = 30;

/** What somebody does in the cluster; pods that they delete, and Jobs, are counted. */
export type Fault = (random: Prng, world: World, counted: { pods: number; jobs: number }) => void;

function isOf(pod: Json, app: string): boolean {
  return textAt(pod, 'metadata', 'labels', 'app') === app;
}

function withSpec<Object extends Json>(object: Object, more: Json): Object {
  return { ...object, spec: { ...objectAt(object, 'spec'), ...more } };
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
function onNodes(world: World, change: (node: KubeObject) => KubeObject, afterMs = 0): void {
  world.store.onChange(({ kind, object }) => {
    if (kind !== 'created' || object.kind !== 'Node') return;
    if (afterMs === 0) world.store.update(object, change);
    else world.timeline.after(afterMs, () => void world.store.update(object, change));
  });
}

/** Does something at a fixed pace, to the end of the world. */
function each(everyMs: number, world: World, act: (at: number) => void): void {
  for (let at = 0; at * everyMs < WORLD_MINUTES * MINUTE; at += 1) {
    world.timeline.after(at * everyMs + SECOND, () => act(at));
  }
}

const GANG = 'gang';

/** A scheduler that binds all of its pods that wait, or none. */
export function bindGang(world: World): void {
  const { nodes, pods } = readState(world.store).objects;
  const waiting = pods.filter(
    ({ spec, nodeName, phase }) =>
      spec.schedulerName === GANG && nodeName === undefined && phase === 'Pending',
  );
  const taken: Pod[] = pods.filter(({ phase }) => phase !== 'Succeeded' && phase !== 'Failed');
  const found = waiting.map((pod) => {
    const node = nodes.find(
      (each) =>
        untoleratedTaint(pod.spec.tolerations, each.taints) === undefined &&
        unmetTexts(
          pod,
          each,
          taken.filter(({ nodeName }) => nodeName === each.name),
        ).length === 0,
    );
    if (node !== undefined) taken.push({ ...pod, nodeName: node.name });
    return { pod, node };
  });
  const isWhole = found.every(({ node }) => node !== undefined);
  const now = world.timeline.isoNow();
  for (const { pod, node } of found) {
    const object = world.store.get('Pod', pod.namespace, pod.name);
    if (object === undefined) continue;
    world.store.update(object, (latest) => {
      if (isWhole && node !== undefined) {
        const bound = withSpec(latest, { nodeName: node.name });
        return setCondition(bound, { type: 'PodScheduled', status: 'True' }, now);
      }
      const why = { reason: 'Unschedulable', message: 'the gang does not fit' };
      return setCondition(latest, { type: 'PodScheduled', status: 'False', ...why }, now);
    });
  }
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

export const FAULTS: Readonly<Record<string, Fault>> = {
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
  'nodes get a taint late, which evicts pods': (random, world) => {
    const afterMs = random.between(20, 240) * SECOND;
    const taint = { key: 'example.com/late', effect: 'NoExecute' };
    onNodes(
      world,
      (node) => {
        for (const pod of world.store.list('Pod')) {
          const isThere = textAt(pod, 'spec', 'nodeName') === node.metadata.name;
          if (isThere && !isOf(pod, 'agent')) deletePod(world.store, pod);
        }
        const taints = [...listAt(node, 'spec', 'taints'), taint];
        return withSpec(node, { taints });
      },
      afterMs,
    );
  },
  'nodes get a DaemonSet late': (random, world) => {
    const afterMs = random.between(5, 240) * SECOND;
    const requests = { cpu: `${random.between(500, 4000)}m`, memory: '64Mi' };
    world.store.create(daemonSet({ requests }, 'late', { 'example.com/late': 'true' }));
    onNodes(world, (node) => withLabels(node, { 'example.com/late': 'true' }), afterMs);
  },
  'DaemonSets come and go': (random, world) => {
    each(random.between(120, 480) * SECOND, world, (at) => {
      const name = (number: number): string => `puller-${number}`;
      for (const set of world.store.list('DaemonSet')) {
        if (set.metadata.name === name(at - 1)) world.store.delete(set);
      }
      const requests = { cpu: '1m', memory: '1Mi' };
      world.store.create(daemonSet({ requests }, name(at)));
    });
  },
  'Jobs come and replace each other': (random, world, counted) => {
    const cpu = `${random.between(500, 3500)}m`;
    const annotations = { [SIMULATED_DURATION]: `${random.between(10, 150)}s` };
    const containers = [{ name: 'main', image: 'job', resources: { requests: { cpu } } }];
    const template = { metadata: { labels: { app: 'job' }, annotations }, spec: { containers } };
    each(random.between(30, 180) * SECOND, world, (at) => {
      for (const job of world.store.list('Job')) world.store.delete(job);
      world.store.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: `job-${at}`, namespace: 'default' },
        spec: { template },
      });
      counted.jobs += 1;
    });
  },
  'pods are bound all at once or not at all': (_, world) => {
    world.webhooks.push(onlyOf('web', (pod) => withSpec(pod, { schedulerName: GANG })));
    each(5 * SECOND, world, () => bindGang(world));
  },
  'nodes come with other labels': (_, world) => {
    onNodes(world, (node) => withLabels(node, { 'kubernetes.io/arch': 'riscv64' }));
  },
  'pods are deleted every few seconds': (random, world, counted) => {
    const everyMs = random.between(3, 90) * 1000;
    for (let atMs = everyMs; atMs < WORLD_MINUTES * MINUTE; atMs += everyMs) {
      world.timeline.after(atMs, () => {
        const [pod] = world.store.list('Pod').filter((each) => isOf(each, 'web'));
        if (pod === undefined) return;
        deletePod(world.store, pod);
        counted.pods += 1;
      });
    }
  },
};

/** Of a priority at which its pods take the room of others. */
export function daemonSet(resources: Json = {}, name = 'agent', nodeSelector: Json = {}): Json {
  const labels = { app: name };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system' },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          nodeSelector,
          containers: [{ name: 'main', image: name, resources }],
        },
      },
    },
  };
}
