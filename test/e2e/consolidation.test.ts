import { expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import { property } from '../../shared/kube/list.ts';
import { RESERVATION } from '../support/bundles/manifests.ts';
import { deployment, nodeClass, nodePool } from '../support/closed-loop/manifests.ts';
import {
  claimsOf,
  eventsOf,
  nodesOf,
  ourNodes,
  runningPods,
} from '../support/closed-loop/questions.ts';
import { look } from '../support/closed-loop/shadow.ts';
import {
  type ClosedLoop,
  describeClosedLoop,
  liveInstances,
} from '../support/closed-loop/world.ts';

const requirements = [
  { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] },
  { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
  { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6a'] },
];

/** Room for one of a type that is larger than needed. */
const reservation = { ...RESERVATION, InstanceType: 'c6a.2xlarge' } as const;

const eitherWay = requirements.map((each) =>
  each.key === 'karpenter.sh/capacity-type' ? { ...each, values: ['on-demand', 'reserved'] } : each,
);

const disruption = { budgets: [{ nodes: '100%' }] };

/** Pods of one pool, with room beside them for others of it. */
function workload(pool: string, name: string, replicas: number, cpu: string): object {
  return deployment(name, replicas, cpu, { nodeSelector: { 'karpenter.sh/nodepool': pool } });
}

/** Nobody is kept from a node, nothing is on its way, and all pods run. */
async function isAtRest(loop: ClosedLoop, pool: string, app: string, pods: number) {
  if ((await runningPods(loop, app)) !== pods) return false;
  const nodes = await ourNodes(loop);
  const isTainted = nodes.some((node) =>
    JSON.stringify(property(node, 'spec')).includes('karpenter.sh/disrupted'),
  );
  const claims = await claimsOf(loop, pool);
  return !isTainted && claims.length === liveInstances(loop).length;
}

await describeClosedLoop(
  'consolidation on a real control plane',
  (loop) => {
    it('where half of the pods have gone, the others run on fewer nodes, and no node comes back', async () => {
      const pods = 12;
      const pool = nodePool('half', requirements, { disruption });
      const annotations = { 'joiner.dev/usage-guard': 'cpu=0.9' };
      const guarded = { ...pool, metadata: { ...pool.metadata, annotations } };
      await loop.apply([nodeClass, guarded]);
      await loop.apply([
        workload('half', 'stay', pods, '700m'),
        workload('half', 'go', pods, '700m'),
      ]);
      await loop.until('all pods run', async () => {
        const running = [await runningPods(loop, 'stay'), await runningPods(loop, 'go')];
        return running.every((each) => each === pods);
      });
      const before = liveInstances(loop).length;
      const capacity = (): number =>
        liveInstances(loop).reduce((sum, { instanceType }) => sum + sizeOf(instanceType), 0);
      const cores = capacity();
      await loop.apply([workload('half', 'go', 0, '700m')]);
      // Nobody meters pods on this control plane.
      await loop.until('the NodePool says what its guard lacks', async () => {
        const said = (await eventsOf(loop)).map(({ message }) => message);
        return said.some((each) => each.endsWith('metrics.k8s.io is not served'));
      });
      // Who only looks asks for the same.
      expect(await look()).toMatchObject({ pending: 0, removals: 0, nodes: before });
      expect(liveInstances(loop)).toHaveLength(before);
      await loop.apply([pool]);
      await loop.until('there are fewer nodes', async () => {
        return (await isAtRest(loop, 'half', 'stay', pods)) && capacity() <= 0.7 * cores;
      });
      const left = liveInstances(loop).map(({ id }) => id);
      for (let round = 0; round < 4; round += 1) await loop.tick();
      expect(liveInstances(loop).map(({ id }) => id)).toEqual(left);
      expect(await runningPods(loop, 'stay')).toBe(pods);
      expect(before).toBeGreaterThan(0);
      const messages = (await eventsOf(loop)).map(({ message }) => message);
      expect(messages).toContain('Disrupting Node: Underutilized');
      await loop.apply([workload('half', 'stay', 0, '700m')]);
      await loop.until('nothing is left', () => liveInstances(loop).length === 0);
    });

    it('a node that is much too large is replaced by a small one, which is there first', async () => {
      await loop.admin().delete(RESOURCES.nodePools, { name: 'half' }, {});
      await loop.apply([nodePool('wide', requirements, { disruption })]);
      await loop.apply([workload('wide', 'large', 1, '12')]);
      await loop.until('it runs', async () => (await runningPods(loop, 'large')) === 1);
      await loop.apply([workload('wide', 'small', 2, '500m')]);
      await loop.until('others run beside it', async () => {
        return (await runningPods(loop, 'small')) === 2;
      });
      const [first = ''] = (await nodesOf(loop, 'small')).keys();
      const launched = loop.cloud.account.instances.size;
      await loop.apply([workload('wide', 'large', 0, '12')]);
      await loop.until('another node has taken over', async () => {
        const names = [...(await nodesOf(loop, 'small')).keys()];
        return (await isAtRest(loop, 'wide', 'small', 2)) && !names.includes(first);
      });
      expect(loop.cloud.account.instances.size).toBe(launched + 1);
      expect(liveInstances(loop).map(({ instanceType }) => instanceType)).toEqual(['c6a.large']);
      for (let round = 0; round < 3; round += 1) await loop.tick();
      expect(loop.cloud.account.instances.size).toBe(launched + 1);
    });

    it('a node moves into a reservation that its class selects later, since that is paid for', async () => {
      for (const name of ['large', 'small']) await loop.apply([workload('wide', name, 0, '1')]);
      await loop.admin().delete(RESOURCES.nodePools, { name: 'wide' }, {});
      await loop.until('nothing is left', () => liveInstances(loop).length === 0);
      loop.cloud.account.reservations = [reservation];
      await loop.apply([nodePool('either', eitherWay, { disruption })]);
      await loop.apply([workload('either', 'one', 1, '500m')]);
      await loop.until('it runs', async () => (await runningPods(loop, 'one')) === 1);
      expect(liveInstances(loop)).toMatchObject([{ reservationId: undefined }]);
      const capacityReservationSelectorTerms = [{ id: reservation.CapacityReservationId }];
      const spec = { ...nodeClass.spec, capacityReservationSelectorTerms };
      await loop.apply([{ ...nodeClass, spec }]);
      await loop.until('its node is in the reservation', async () => {
        const [instance] = liveInstances(loop);
        const isIn = instance?.reservationId === reservation.CapacityReservationId;
        return isIn && (await isAtRest(loop, 'either', 'one', 1));
      });
      expect(liveInstances(loop)).toHaveLength(1);
    });
  },
  { strangers: true },
);

/** Cores of a c6a. */
function sizeOf(instanceType: string): number {
  const size = instanceType.split('.')[1] ?? '';
  if (size === 'large') return 2;
  const times = /^(\d*)xlarge$/.exec(size)?.[1];
  return 4 * Number(times === '' ? 1 : times);
}
