import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property, text } from '../../shared/kube/list.ts';
import { poolKey } from '../support/aws/model/account.ts';
import { forbidEvictions } from '../support/closed-loop/budget.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  conditionOf,
  eventsOf,
  labelOf,
  unschedulablePods,
} from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
  runningPods,
} from '../support/closed-loop/world.ts';

const onDemand = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] };
const families = (...values: readonly string[]) => ({
  key: 'karpenter.k8s.aws/instance-family',
  operator: 'In',
  values,
});
const amd64 = { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] };
const arm64 = { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] };

async function run(loop: ClosedLoop, app: string, pods: number): Promise<void> {
  await loop.until(
    `${pods} pods of ${app} run`,
    async () => (await runningPods(loop, app)) === pods,
  );
}

/** The instance types behind an app's pods, one for each node. */
async function typesOf(loop: ClosedLoop, app: string): Promise<readonly string[]> {
  return [...(await nodesOf(loop, app)).values()]
    .map((node) => labelOf(node, 'node.kubernetes.io/instance-type'))
    .sort();
}

/** The nodes that carry an app's pods, by name. */
async function nodesOf(loop: ClosedLoop, app: string): Promise<ReadonlyMap<string, unknown>> {
  const names = new Set<string>();
  for (const pod of await loop.list(RESOURCES.pods)) {
    if (labelOf(pod, 'app') === app) names.add(text(property(property(pod, 'spec'), 'nodeName')));
  }
  const nodes = await loop.list(RESOURCES.nodes);
  const named = nodes.map((node) => [text(property(property(node, 'metadata'), 'name')), node]);
  return new Map(named.filter(([name]) => names.has(name as string)) as [string, unknown][]);
}

async function remove(loop: ClosedLoop, app: string): Promise<void> {
  await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name: app }, {});
}

await describeClosedLoop(
  'workloads on a real control plane',
  (loop) => {
    it('CoreDNS alone gets a cluster without nodes its first', async () => {
      const coreDns = deployment('coredns', 2, '100m', {
        priorityClassName: 'system-cluster-critical',
        tolerations: [{ key: 'CriticalAddonsOnly', operator: 'Exists' }],
      });
      coreDns.metadata.namespace = 'kube-system';
      const pool = nodePool('general', [amd64, onDemand, families('c6a', 'm6a')]);
      await loop.apply([nodeClass, pool, coreDns]);
      await run(loop, 'coredns', 2);
      expect(await loop.list(RESOURCES.nodes)).toHaveLength(1);
    });

    it('spread over zones, one to a node: kube-scheduler finds a place for each', async () => {
      const labelSelector = { matchLabels: { app: 'spread' } };
      const spread = deployment('spread', 6, '500m', {
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: 'topology.kubernetes.io/zone',
            whenUnsatisfiable: 'DoNotSchedule',
            labelSelector,
          },
        ],
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              { topologyKey: 'kubernetes.io/hostname', labelSelector },
            ],
          },
        },
      });
      await loop.apply([spread]);
      await run(loop, 'spread', 6);
      const nodes = [...(await nodesOf(loop, 'spread')).values()];
      const zones = nodes.map((node) => labelOf(node, 'topology.kubernetes.io/zone')).sort();
      expect(zones).toEqual(['a', 'a', 'b', 'b', 'c', 'c'].map((letter) => `us-east-1${letter}`));
      await remove(loop, 'spread');
    });

    it('an overlay that makes c7g dearer has c8g launched', async () => {
      const overlay = {
        apiVersion: 'karpenter.sh/v1alpha1',
        kind: 'NodeOverlay',
        metadata: { name: 'prefer-graviton4' },
        spec: { requirements: [families('c7g')], priceAdjustment: '+50%' },
      };
      const pool = nodePool('graviton', [arm64, onDemand, families('c7g', 'c8g')]);
      const nodeSelector = { 'kubernetes.io/arch': 'arm64' };
      await loop.apply([overlay, pool, deployment('arm', 3, '1', { nodeSelector })]);
      await run(loop, 'arm', 3);
      for (const type of await typesOf(loop, 'arm')) expect(type).toMatch(/^c8g\./);
    });

    it('slices of a GPU that only an overlay knows of are packed onto one node', async () => {
      const slices = { 'example.com/gpu-slice': '8' };
      loop.devices.set('g4dn.xlarge', slices);
      const overlay = {
        apiVersion: 'karpenter.sh/v1alpha1',
        kind: 'NodeOverlay',
        metadata: { name: 'gpu-slices' },
        spec: {
          requirements: [
            { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['g4dn.xlarge'] },
          ],
          capacity: slices,
        },
      };
      const pool = nodePool('gpu', [amd64, onDemand, families('g4dn')]);
      const amounts = { 'example.com/gpu-slice': '1', cpu: '200m' };
      const resources = { requests: amounts, limits: { 'example.com/gpu-slice': '1' } };
      const containers = [{ name: 'app', image: 'app', resources }];
      await loop.apply([overlay, pool, deployment('slices', 6, '200m', { containers })]);
      await run(loop, 'slices', 6);
      expect(await typesOf(loop, 'slices')).toEqual(['g4dn.xlarge']);
    });

    it('kubectl scale of a static pool changes how many nodes there are', async () => {
      const pool = nodePool('static', [amd64, onDemand, families('m6a')], { replicas: 2 });
      await loop.apply([pool]);
      const count = async (): Promise<number> =>
        (await loop.list(RESOURCES.nodes)).filter(
          (node) => labelOf(node, 'karpenter.sh/nodepool') === 'static',
        ).length;
      await loop.until('two static nodes', async () => (await count()) === 2);
      const scaleTo = async (replicas: number): Promise<void> => {
        const value = { spec: { replicas } };
        const patch = { kind: 'merge', value } as const;
        await loop.admin().patch(RESOURCES.nodePools, { name: 'static' }, patch, 'scale');
        await loop.until(`${replicas} static nodes`, async () => (await count()) === replicas);
      };
      await scaleTo(3);
      await scaleTo(1);
    });

    it('kubectl delete node ends the instance, and its pods run elsewhere', async () => {
      const [name = ''] = (await nodesOf(loop, 'arm')).keys();
      const node = (await nodesOf(loop, 'arm')).get(name);
      const id =
        text(property(property(node, 'spec'), 'providerID'))
          .split('/')
          .at(-1) ?? '';
      await loop.admin().delete(RESOURCES.nodes, { name }, {});
      await loop.until('the instance is gone and three pods run', async () => {
        const isGone = liveInstances(loop).every((each) => each.id !== id);
        return isGone && (await runningPods(loop, 'arm')) === 3;
      });
    });

    it('a drain waits for a PodDisruptionBudget', async () => {
      const allowEvictions = await forbidEvictions(loop, 'arm', 3);
      const before = new Set((await nodesOf(loop, 'arm')).keys());
      for (const name of before) await loop.admin().delete(RESOURCES.nodes, { name }, {});
      await loop.until('evictions are refused with 429', async () => {
        const refused = (await eventsOf(loop)).filter(({ reason }) => reason === 'FailedDraining');
        const objects = new Set(refused.map(({ object }) => object));
        return [...before].every((name) => objects.has(`Node/${name}`));
      });
      expect(await runningPods(loop, 'arm')).toBe(3);
      expect(new Set((await nodesOf(loop, 'arm')).keys())).toEqual(before);
      await allowEvictions();
      await loop.until('the old nodes are gone and three pods run', async () => {
        const now = [...(await nodesOf(loop, 'arm')).keys()];
        return now.every((name) => !before.has(name)) && (await runningPods(loop, 'arm')) === 3;
      });
    });

    it('a node with room for the first of a group opens with the node of the group', async () => {
      const pool = nodePool('grouped', [amd64, onDemand, families('c6a')]);
      const nodeSelector = { 'karpenter.sh/nodepool': 'grouped' };
      const labelSelector = { matchLabels: { app: 'group' } };
      const together = { topologyKey: 'kubernetes.io/hostname', labelSelector };
      const affinity = {
        podAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [together] },
      };
      loop.joining.joins = async ({ instanceType }) => {
        if (instanceType !== 'c6a.large') await sleep(10_000);
        return true;
      };
      // Eight pods of a group fill one node but for a little; the other has room for one of them.
      await loop.apply([
        pool,
        deployment('group', 8, '900m', { nodeSelector, affinity }),
        deployment('alone', 1, '1', { nodeSelector }),
      ]);
      const waited = new Set<string>();
      await loop.until('all of them run', async () => {
        for (const claim of await loop.list(RESOURCES.nodeClaims)) {
          if (conditionOf(claim, 'Registered')?.reason !== 'OtherNodeNotReady') continue;
          waited.add(labelOf(claim, 'node.kubernetes.io/instance-type'));
        }
        const [grouped, alone] = [runningPods(loop, 'group'), runningPods(loop, 'alone')];
        return (await grouped) === 8 && (await alone) === 1;
      });
      loop.joining.joins = () => true;
      expect([...waited]).toEqual(['c6a.large']);
      expect(await typesOf(loop, 'group')).toEqual(['c6a.2xlarge']);
      expect(await typesOf(loop, 'alone')).toEqual(['c6a.large']);
      const claims = await loop.list(RESOURCES.nodeClaims);
      const own = claims.filter((each) => labelOf(each, 'karpenter.sh/nodepool') === 'grouped');
      expect(own).toHaveLength(2);
    });

    it('where the first choice has run out everywhere, the next is launched in the same pass', async () => {
      const alone = {
        nodeSelector: { 'kubernetes.io/arch': 'arm64' },
        affinity: {
          podAntiAffinity: {
            requiredDuringSchedulingIgnoredDuringExecution: [
              {
                topologyKey: 'kubernetes.io/hostname',
                labelSelector: { matchExpressions: [{ key: 'app', operator: 'Exists' }] },
              },
            ],
          },
        },
      };
      await loop.apply([deployment('first', 1, '1', alone)]);
      await run(loop, 'first', 1);
      const [first = ''] = await typesOf(loop, 'first');
      const { capacity, fleets } = loop.cloud.account;
      for (const zone of ['us-east-1a', 'us-east-1b', 'us-east-1c']) {
        capacity.set(poolKey(first, zone, 'on-demand'), 0);
      }
      const before = new Set([...liveInstances(loop)].map(({ id }) => id));
      await loop.apply([deployment('more', 2, '1', alone)]);
      await expect.poll(() => unschedulablePods(loop, 'more')).toBe(2);
      await loop.tick();
      const launched = liveInstances(loop).filter(({ id }) => !before.has(id));
      expect(launched).toHaveLength(2);
      expect(launched.map(({ instanceType }) => instanceType)).not.toContain(first);
      const errors = [...fleets.values()].flatMap(({ result }) => result.Errors ?? []);
      expect(errors.map(({ ErrorCode }) => ErrorCode)).toContain('InsufficientInstanceCapacity');
      await run(loop, 'more', 2);
      expect(await typesOf(loop, 'more')).not.toContain(first);
    });
  },
  { strangers: true },
);
