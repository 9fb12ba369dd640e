import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { UNCONFIRMED } from '../../shared/core/model/labels.ts';
import { property, text } from '../../shared/kube/list.ts';
import { privateDnsName } from '../support/aws/joining.ts';
import type { ModelInstance } from '../support/aws/model/account.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import { forgedWarning, spotWarning } from '../support/closed-loop/messages.ts';
import {
  claimsOf,
  eventsOf,
  instanceIdOfNode,
  isDeleting,
  nameOf,
  nodeNameOfPod,
  nodesOf,
  ourNodes,
  podsOf,
  runningPods,
} from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
} from '../support/closed-loop/world.ts';
import { setReady } from '../support/kubelet.ts';

const MINUTE = 60_000;

const requirements = (capacityType: string) => [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: [capacityType] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a', 'm6a'] },
];

/** Each pod runs on a node of its own, and no node is on its way out. */
async function settle(loop: ClosedLoop, app: string, pods: number): Promise<void> {
  await loop.until(`${pods} pods of ${app} run`, async () => {
    const isRunning = (await runningPods(loop, app)) === pods;
    if (!isRunning || (await nodesOf(loop, app)).size !== pods) return false;
    return (await claimsOf(loop, app)).every((claim) => !isDeleting(claim));
  });
}

/** What the garbage collector of pods does a minute after their node has gone. */
async function collectPods(loop: ClosedLoop, node: string): Promise<void> {
  for (const pod of await loop.list(RESOURCES.pods)) {
    if (nodeNameOfPod(pod) !== node) continue;
    const address = { namespace: 'default', name: nameOf(pod) };
    await loop.admin().delete(RESOURCES.pods, address, { gracePeriodSeconds: 0 });
  }
}

async function isGone(loop: ClosedLoop, node: string): Promise<boolean> {
  return (await ourNodes(loop)).every((each) => nameOf(each) !== node);
}

await describeClosedLoop(
  'health on a real control plane',
  (loop) => {
    it('an instance that ends while it boots is replaced a minute after its launch', async () => {
      const dead: ModelInstance[] = [];
      loop.joining.joins = (instance) => {
        const joins = dead.length > 0;
        if (!joins) dead.push(instance);
        return joins;
      };
      await loop.apply([nodeClass, nodePool('frail', requirements('on-demand'))]);
      await loop.apply([apart('frail', 1)]);
      await loop.until('it is launched', () => dead.length === 1);
      if (dead[0] !== undefined) dead[0].state = 'terminated';
      await loop.tick();
      expect(await claimsOf(loop, 'frail')).toHaveLength(1);
      const [waiting] = (await claimsOf(loop, 'frail')).map(nameOf);
      loop.clock.pass(MINUTE);
      await settle(loop, 'frail', 1);
      expect((await claimsOf(loop, 'frail')).map(nameOf)).not.toContain(waiting);
      expect(liveInstances(loop)).toHaveLength(1);
      await loop.admin().delete(RESOURCES.nodePools, { name: 'frail' }, {});
      await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name: 'frail' }, {});
      await loop.until('nothing is left', async () => {
        return (await claimsOf(loop)).length + liveInstances(loop).length === 0;
      });
    });

    it('an instance whose node never registers is given up after 15 minutes and replaced', async () => {
      const refused: ModelInstance[] = [];
      loop.joining.joins = (instance) => {
        const joins = refused.length > 0;
        if (!joins) refused.push(instance);
        return joins;
      };
      await loop.apply([nodeClass, nodePool('steady', requirements('on-demand'))]);
      await loop.apply([apart('steady', 1)]);
      await loop.until('it is launched', () => refused.length === 1);
      await loop.tick();
      // Its time is up while a node is awaited: it wakes the invocation that goes on.
      const told = loop.cloud.events.length;
      const left = [900_000, 10_000].values();
      await loop.invoke('lifecycle', {}, () => left.next().value ?? 10_000);
      const woken = loop.cloud.events.slice(told).map((each) => each.Detail ?? '');
      expect(woken).toEqual([expect.stringContaining('nodeclaim-changed')]);
      const before = (await claimsOf(loop)).map(nameOf);
      loop.clock.pass(14 * MINUTE);
      await loop.tick();
      expect((await claimsOf(loop)).map(nameOf)).toEqual(before);
      loop.clock.pass(2 * MINUTE);
      await settle(loop, 'steady', 1);
      await loop.until('the instance is ended', () => refused[0]?.state === 'terminated');
      expect(liveInstances(loop)).toHaveLength(1);
    });

    it('a node that expires is drained and replaced', async () => {
      const lasting = nodePool('steady', requirements('on-demand'));
      const template = { spec: { ...lasting.spec.template.spec, expireAfter: '10h' } };
      const passing = { ...lasting, spec: { ...lasting.spec, template } };
      const [before = ''] = (await nodesOf(loop, 'steady')).keys();
      await loop.apply([passing]);
      await loop.admin().delete(RESOURCES.nodes, { name: before }, {});
      await loop.until('the node is another', () => isGone(loop, before));
      await settle(loop, 'steady', 1);
      // A claim keeps what it was made with: the next one lasts.
      await loop.apply([lasting]);
      const [expiring = ''] = (await nodesOf(loop, 'steady')).keys();
      loop.clock.pass(9 * 60 * MINUTE);
      await loop.tick();
      expect(await isGone(loop, expiring)).toBe(false);
      loop.clock.pass(61 * MINUTE);
      await loop.until('the expired node is gone', () => isGone(loop, expiring));
      await settle(loop, 'steady', 1);
      await loop.admin().delete(RESOURCES.nodePools, { name: 'steady' }, {});
    });

    it('one unhealthy node of six is replaced at once after 30 minutes, pods that refuse to go or not', async () => {
      await loop.apply([
        nodeClass,
        nodePool('sturdy', requirements('on-demand')),
        apart('sturdy', 6),
      ]);
      await settle(loop, 'sturdy', 6);
      const [node = ''] = (await nodesOf(loop, 'sturdy')).keys();
      const pods = await podsOf(loop, 'sturdy');
      const pod = pods.find((each) => nodeNameOfPod(each) === node);
      const keep = { metadata: { annotations: { 'karpenter.sh/do-not-disrupt': 'true' } } };
      const address = { namespace: 'default', name: nameOf(pod) };
      await loop.admin().patch(RESOURCES.pods, address, { kind: 'merge', value: keep });
      await setReady(loop.admin(), node, 'False', 'KubeletNotReady');
      loop.clock.pass(29 * MINUTE);
      await loop.tick();
      expect(await isGone(loop, node)).toBe(false);
      loop.clock.pass(2 * MINUTE);
      await loop.until('the unhealthy node is gone', () => isGone(loop, node));
      await settle(loop, 'sturdy', 6);
      expect((await eventsOf(loop)).map((each) => each.reason)).toContain('NodeUnhealthy');
    });

    it('of six nodes three unhealthy ones are not replaced, for then it is something else; two are', async () => {
      const nodes = [...(await nodesOf(loop, 'sturdy')).keys()].slice(0, 3);
      for (const node of nodes) await setReady(loop.admin(), node, 'False', 'KubeletNotReady');
      loop.clock.pass(31 * MINUTE);
      await loop.tick();
      await loop.tick();
      for (const node of nodes) expect(await isGone(loop, node)).toBe(false);
      expect((await eventsOf(loop)).map((each) => each.reason)).toContain('NodeRepairBlocked');
      const [well = '', ...ill] = nodes;
      await setReady(loop.admin(), well, 'True', 'KubeletReady');
      const areGone = async () =>
        (await Promise.all(ill.map((each) => isGone(loop, each)))).every(Boolean);
      await loop.until('the unhealthy nodes are gone', areGone);
      expect(await isGone(loop, well)).toBe(false);
      await settle(loop, 'sturdy', 6);
    });

    it('an instance whose checks EC2 reports as failed goes without a drain', async () => {
      const [[name = '', node] = []] = [...(await nodesOf(loop, 'sturdy'))];
      const impairedSince = new Date(Date.now() - 3 * MINUTE);
      loop.cloud.account.statuses = [
        {
          InstanceId: instanceIdOfNode(node),
          SystemStatus: {
            Status: 'impaired',
            Details: [{ Name: 'reachability', ImpairedSince: impairedSince }],
          },
        },
      ];
      loop.clock.pass(MINUTE);
      await loop.until('the impaired node is gone', () => isGone(loop, name));
      loop.cloud.account.statuses = [];
      await settle(loop, 'sturdy', 6);
      await loop.admin().delete(RESOURCES.nodePools, { name: 'sturdy' }, {});
    });

    it('an instance that vanished is noticed, and its node with it', async () => {
      await loop.apply([nodeClass, nodePool('spotty', requirements('spot')), apart('spotty', 3)]);
      await settle(loop, 'spotty', 3);
      const [[name = '', node] = []] = [...(await nodesOf(loop, 'spotty'))];
      const instance = loop.cloud.account.instances.get(instanceIdOfNode(node));
      if (instance !== undefined) instance.state = 'shutting-down';
      await loop.until('the node of nothing is gone', () => isGone(loop, name));
      await collectPods(loop, name);
      await settle(loop, 'spotty', 3);
    });

    it('a spot warning: replaced, drained and ended within the two minutes', async () => {
      const [[name = '', node] = []] = [...(await nodesOf(loop, 'spotty'))];
      const id = instanceIdOfNode(node);
      const startedAtMs = performance.now();
      expect(await loop.interrupt([spotWarning(loop.cloud.account, id)])).toEqual([]);
      const woken = loop.cloud.events.map((each) => each.Detail ?? '');
      expect(woken.some((detail) => detail.includes('nodeclaim-deleted'))).toBe(true);
      await loop.until('its instance is ended', async () => {
        const state = loop.cloud.account.instances.get(id)?.state;
        return state === 'terminated' && (await isGone(loop, name));
      });
      await settle(loop, 'spotty', 3);
      expect(performance.now() - startedAtMs).toBeLessThan(2 * MINUTE);
      const others = liveInstances(loop).filter((each) => each.market === 'spot');
      expect(others.map((each) => privateDnsName(each.id))).not.toContain(name);
      const launched = others.at(-1);
      const warned = loop.cloud.account.instances.get(id);
      const offering = (each: ModelInstance | undefined) => `${each?.instanceType} ${each?.zone}`;
      expect(offering(launched)).not.toBe(offering(warned));
    });

    it('forged spot warnings: one of three nodes goes, which its pool says, and no other later', async () => {
      const { account } = loop.cloud;
      const nodes = [...(await nodesOf(loop, 'spotty'))];
      const forged = nodes.map(([, node]) => forgedWarning(account, instanceIdOfNode(node)));
      const batches = [forged.slice(0, 1), forged.slice(1), forged];
      const failed = await Promise.all(batches.map((each) => loop.interrupt(each)));
      expect(failed.flat()).toEqual([]);
      expect((await claimsOf(loop, 'spotty')).filter(isDeleting)).toHaveLength(1);
      const pool = await loop.admin().get(RESOURCES.nodePools, { name: 'spotty' });
      const annotations = property(property(pool, 'metadata'), 'annotations');
      const noted = JSON.parse(text(property(annotations, UNCONFIRMED)));
      expect(Object.keys(noted)).toHaveLength(1);
      await settle(loop, 'spotty', 3);
    });
  },
  { strangers: true, environment: { FEATURE_GATES: 'NodeRepair=true' } },
);
