import { RESOURCES, type Resource } from '../shared/api/resources.ts';
import { nominatePods } from '../shared/app/lifecycle/nomination/nominations.ts';
import { TOGETHER_MAX } from '../shared/app/lifecycle/nomination/register-nodes.ts';
import type { Pod } from '../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../shared/core/model/snapshot.ts';
import { solve } from '../shared/core/scheduling/solve.ts';
import { KubeClient } from '../shared/kube/client.ts';
import { clusterWriter } from '../shared/kube/cluster-writer.ts';
import { property, text } from '../shared/kube/list.ts';
import { systemTiming } from '../shared/kube/time.ts';
import { fixedToken } from '../shared/kube/token.ts';
import { httpTransport } from '../shared/kube/transport.ts';
import { nodeOf, snapshotOf } from '../test/builders/scheduling.ts';
import { findAssets } from '../test/support/control-plane/assets.ts';
import { launchControlPlane } from '../test/support/control-plane/launch.ts';
import { joinNode } from '../test/support/kubelet.ts';
import { each } from './at-once.ts';
import { mixedPods, priceList } from './workload.ts';

const PODS = 1000;
const TYPES = 400;
/** Small nodes are packed tightly: it takes the planned pods to fill them. */
const CPU_MAX = 8000;
const SERVICE_ACCOUNTS: Resource = {
  group: '',
  version: 'v1',
  plural: 'serviceaccounts',
  kind: 'ServiceAccount',
  namespaced: true,
};
const NO_EVENTS = { record: async () => undefined };

function refuse(): never {
  throw new Error('nothing here reads a NodeClaim');
}

const TAINT = { key: 'karpenter.sh/unregistered', effect: 'NoExecute' };

function nameOf(key: string): string {
  return key.slice(key.indexOf('/') + 1);
}

/** Waits until the API server takes pods: the default service account comes a little late. */
async function accepting(client: KubeClient): Promise<void> {
  const target = { namespace: 'default', name: 'default' };
  for (let tries = 100; tries > 0; tries--) {
    const isThere = await client.get(SERVICE_ACCOUNTS, target).then(
      () => true,
      () => false,
    );
    if (isThere) return;
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Waits until kube-scheduler has bound what it can; returns where each pod is. */
async function settled(client: KubeClient, names: readonly string[]) {
  const nodes = new Map<string, string>();
  for (let before = -1; before < nodes.size; ) {
    before = nodes.size;
    await new Promise((resolve) => setTimeout(resolve, 10_000));
    await each(names, async (name) => {
      if (nodes.has(name)) return;
      const pod = await client.get(RESOURCES.pods, { namespace: 'default', name });
      const node = text(property(property(pod, 'spec'), 'nodeName'));
      if (node !== '') nodes.set(name, node);
    });
  }
  return nodes;
}

async function play(client: KubeClient, nominates: boolean): Promise<void> {
  const pods = mixedPods(PODS);
  const types = priceList(TYPES).filter(({ capacity }) => (capacity['cpu'] ?? 0) <= CPU_MAX);
  const plan = solve(snapshotOf({ pods, types }), DEFAULT_SCHEDULING_SETTINGS);
  const nodes = plan.newNodeClaims.map(({ chosen, pods: keys }, index) => ({
    name: `node-${index}`,
    amounts: types.find((type) => type.name === chosen.type)?.capacity ?? {},
    pods: keys.map(nameOf),
  }));
  const created = new Map<string, Pod>();
  for (const pod of pods) {
    const { name, spec } = pod;
    const { cpu, memory } = spec.requests;
    const requests = { cpu: `${cpu}m`, memory: String(memory) };
    const container = { name: 'main', image: 'image', resources: { requests } };
    const manifest = { metadata: { name }, spec: { containers: [container] } };
    const object = await client.create(RESOURCES.pods, manifest, 'default');
    created.set(name, { ...pod, uid: text(property(property(object, 'metadata'), 'uid')) });
  }
  await each(nodes, ({ name, amounts }) => {
    const { cpu, memory, pods: count } = amounts;
    const capacity = { cpu: `${cpu}m`, memory: String(memory), pods: String(count) };
    const providerId = `aws:///us-east-1a/${name}`;
    return joinNode(client, { name, providerId, labels: {}, taints: [TAINT], capacity });
  });
  const cluster = clusterWriter({ client, events: NO_EVENTS, decodeNodeClaim: refuse });
  const decisions = nodes.map(({ name, pods: planned }) => {
    const node = nodeOf(name, 0, 0);
    const nominable = planned.flatMap((pod) => created.get(pod) ?? []);
    return { node, pods: nominates ? nominable : [] };
  });
  for (let from = 0; from < decisions.length; from += TOGETHER_MAX) {
    const together = decisions.slice(from, from + TOGETHER_MAX);
    await nominatePods({ cluster, clock: { nowMs: Date.now } }, together);
    const open = ({ node: { name } }: (typeof together)[number]) =>
      cluster.patchNode({ kind: 'Node', name }, { taints: [] });
    await Promise.all(together.map(open));
  }
  const names = pods.map(({ name }) => name);
  const bound = await settled(client, names);
  const right = nodes.flatMap(({ name, pods: planned }) =>
    planned.filter((pod) => bound.get(pod) === name),
  );
  process.stdout.write(
    `${nominates ? 'nominated' : 'left to kube-scheduler'}: ${bound.size} of ${PODS} pods bound to ` +
      `${nodes.length} nodes, ${right.length} where planned\n`,
  );
}

/**
 * A plan's nodes join the real control plane at once, and its kube-scheduler binds the pods: as it
 * likes, and with each pod nominated to its planned node before it opens, as `lifecycle` does.
 */
export async function run(): Promise<void> {
  const assets = await findAssets();
  if (assets.kind === 'absent') throw new Error(assets.reason);
  for (const nominates of [false, true]) {
    const plane = await launchControlPlane(assets.folder);
    const transport = httpTransport({ url: plane.url, caPem: plane.caPem });
    const tokens = fixedToken(plane.adminToken);
    const options = { transport, tokens, timing: systemTiming, name: 'bench', version: '0' };
    const client = new KubeClient(options);
    await accepting(client);
    try {
      await play(client, nominates);
    } finally {
      await client.close();
      await plane.stop();
    }
  }
}
