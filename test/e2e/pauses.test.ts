import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import type { ModelInstance } from '../support/aws/model/account.ts';
import { apart, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  conditionOf,
  eventsOf,
  isDeleting,
  ourNodes,
  runningPods,
} from '../support/closed-loop/questions.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
} from '../support/closed-loop/world.ts';

const MINUTE = 60_000;
const PAUSES = { namespace: 'kube-system', name: 'joiner' };

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a'] },
];

async function pause(loop: ClosedLoop, data: Readonly<Record<string, string>>): Promise<void> {
  const metadata = PAUSES;
  await loop.apply([{ apiVersion: 'v1', kind: 'ConfigMap', metadata, data }]);
}

async function resume(loop: ClosedLoop): Promise<void> {
  await loop.admin().delete(RESOURCES.configMaps, PAUSES, {});
}

async function settle(loop: ClosedLoop, app: string, pods: number): Promise<void> {
  await loop.until(
    `${pods} pods of ${app} run`,
    async () => (await runningPods(loop, app)) === pods,
  );
}

/** Removes a pool with its workload, and waits until nothing is left of it. */
async function takeAway(loop: ClosedLoop, name: string): Promise<void> {
  await loop.admin().delete(RESOURCES.deployments, { namespace: 'default', name }, {});
  await loop.admin().delete(RESOURCES.nodePools, { name }, {});
  await loop.until(`${name} is gone`, async () => (await claimsOf(loop, name)).length === 0);
}

/** Calls to AWS that change something. */
function changes({ cloud }: ClosedLoop): number {
  return cloud.server.calls.filter(({ operation }) => /^(Create|Terminate|Delete)/.test(operation))
    .length;
}

/** When each of our instances was launched or ended; the most of them in any minute. */
function mostInAMinute(timesMs: readonly number[]): number {
  const sorted = [...timesMs].sort((a, b) => a - b);
  return Math.max(
    0,
    ...sorted.map((start) => sorted.filter((at) => at >= start && at < start + MINUTE).length),
  );
}

function launchTimes({ cloud }: ClosedLoop): readonly number[] {
  return [...cloud.account.instances.values()]
    .map((each) => each.launchedAtMs)
    .filter((ms) => ms > 0);
}

await describeClosedLoop(
  'pauses, launch rates and halted NodePools on a real control plane',
  (loop) => {
    it('at most so many launches a minute, and as many terminations', async () => {
      const startedAtMs = Date.now();
      await loop.apply([nodeClass, nodePool('capped', requirements), apart('capped', 9)]);
      await loop.until('all have claims', async () => (await claimsOf(loop)).length === 9);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(liveInstances(loop)).toHaveLength(6);
      loop.clock.pass(MINUTE);
      await settle(loop, 'capped', 9);
      const launched = launchTimes(loop).filter((ms) => ms >= startedAtMs);
      expect(launched).toHaveLength(9);
      expect(mostInAMinute(launched)).toBe(6);
      loop.clock.pass(2 * MINUTE);
      await loop
        .admin()
        .delete(RESOURCES.deployments, { namespace: 'default', name: 'capped' }, {});
      await loop.admin().delete(RESOURCES.nodePools, { name: 'capped' }, {});
      await loop.until('the drains are over', async () => {
        const claims = await claimsOf(loop);
        return claims.every((each) => conditionOf(each, 'Drained')?.status === 'True');
      });
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(liveInstances(loop)).toHaveLength(3);
      loop.clock.pass(MINUTE);
      await loop.until('nothing is left', async () => (await claimsOf(loop)).length === 0);
    });

    it('pause.launch: nothing is launched until it is resumed', async () => {
      await loop.apply([nodeClass, nodePool('paused', requirements)]);
      await loop.until('the pool is ready', async () => {
        const pool = await loop.admin().get(RESOURCES.nodePools, { name: 'paused' });
        return conditionOf(pool, 'Ready')?.status === 'True';
      });
      await pause(loop, { 'pause.launch': 'on' });
      await loop.apply([apart('paused', 2)]);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(await claimsOf(loop)).toEqual([]);
      expect(liveInstances(loop)).toEqual([]);
      await resume(loop);
      await settle(loop, 'paused', 2);
    });

    it('pause.launch until a time ends by itself', async () => {
      const until = new Date(Date.now() + 10 * MINUTE).toISOString();
      await pause(loop, { 'pause.launch': until });
      await loop.apply([apart('paused', 3)]);
      await loop.tick();
      await loop.tick();
      expect(await claimsOf(loop)).toHaveLength(2);
      loop.clock.pass(11 * MINUTE);
      await settle(loop, 'paused', 3);
      await resume(loop);
    });

    it('pause.terminate: nodes are drained and their instances stay until it is resumed', async () => {
      await pause(loop, { 'pause.terminate': 'on' });
      await loop
        .admin()
        .delete(RESOURCES.deployments, { namespace: 'default', name: 'paused' }, {});
      await loop.admin().delete(RESOURCES.nodePools, { name: 'paused' }, {});
      await loop.until('the nodes are drained', async () =>
        (await claimsOf(loop)).every((each) => conditionOf(each, 'Drained')?.status === 'True'),
      );
      await loop.tick();
      expect(liveInstances(loop)).toHaveLength(3);
      await resume(loop);
      await loop.until('nothing is left', async () => (await claimsOf(loop)).length === 0);
      expect(liveInstances(loop)).toEqual([]);
    });

    it('five launches in a row that do not register stop that pool only', async () => {
      const isBroken = ({ tags }: ModelInstance): boolean =>
        tags.some((each) => each.Key === 'karpenter.sh/nodepool' && each.Value === 'broken');
      loop.joining.joins = (instance) => !isBroken(instance);
      await loop.apply([nodePool('broken', requirements), nodePool('sound', requirements)]);
      await loop.apply([apart('broken', 5)]);
      await loop.until('five are launched', () => liveInstances(loop).length === 5);
      await loop.tick();
      loop.clock.pass(16 * MINUTE);
      await loop.until('all are given up', () => liveInstances(loop).length === 0);
      const before = loop.cloud.account.instances.size;
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(await claimsOf(loop, 'broken')).toEqual([]);
      const pool = await loop.admin().get(RESOURCES.nodePools, { name: 'broken' });
      expect(conditionOf(pool, 'NodeRegistrationHealthy')).toMatchObject({
        status: 'False',
        reason: 'LaunchesHalted',
      });
      const said = (await eventsOf(loop)).filter((each) => each.reason === 'LaunchesHalted');
      expect(said.map((each) => each.object)).toEqual(['NodePool/broken']);
      expect(loop.logs.some((line) => JSON.stringify(line).includes('LaunchesHalted'))).toBe(true);
      expect(loop.cloud.account.instances.size).toBe(before);
      await loop.apply([apart('sound', 1)]);
      await settle(loop, 'sound', 1);
      loop.joining.joins = () => true;
      loop.clock.pass(31 * MINUTE);
      await settle(loop, 'broken', 5);
      await loop.tick();
      const healed = await loop.admin().get(RESOURCES.nodePools, { name: 'broken' });
      expect(conditionOf(healed, 'NodeRegistrationHealthy')?.status).toBe('True');
      await takeAway(loop, 'broken');
      await takeAway(loop, 'sound');
    });

    it('while Karpenter renews its Lease every function only reads, from one act to the next', async () => {
      loop.clock.pass(2 * MINUTE);
      await loop.apply([nodePool('shadowed', requirements), apart('shadowed', 2)]);
      await settle(loop, 'shadowed', 2);
      const renewed = (): object => ({
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { namespace: 'kube-system', name: 'karpenter-leader-election' },
        spec: {
          holderIdentity: 'karpenter-0',
          renewTime: new Date(Date.now()).toISOString().replace('Z', '000Z'),
        },
      });
      await loop.apply([renewed()]);
      await loop.apply([apart('shadowed', 4)]);
      const [node] = await ourNodes(loop);
      const provider = String(Reflect.get(Reflect.get(node as object, 'spec'), 'providerID'));
      const before = changes(loop);
      await loop.apply([nodePool('later', requirements)]);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      const warning = JSON.stringify({
        version: '0',
        source: 'aws.ec2',
        'detail-type': 'EC2 Instance State-change Notification',
        account: loop.cloud.account.id,
        region: loop.cloud.account.region,
        time: new Date(Date.now()).toISOString(),
        detail: { 'instance-id': provider.split('/').at(-1), state: 'stopping' },
      });
      await loop.interrupt([warning]);
      expect(await claimsOf(loop)).toHaveLength(2);
      expect((await claimsOf(loop)).filter(isDeleting)).toEqual([]);
      const later = await loop.admin().get(RESOURCES.nodePools, { name: 'later' });
      expect(conditionOf(later, 'Ready')).toBeUndefined();
      expect(changes(loop)).toBe(before);
      loop.clock.pass(2 * MINUTE);
      await settle(loop, 'shadowed', 4);
    });
  },
  {
    strangers: true,
    environment: { JOINER_MAX_LAUNCHES_PER_MINUTE: '6', JOINER_MAX_TERMINATIONS_PER_MINUTE: '6' },
  },
);
