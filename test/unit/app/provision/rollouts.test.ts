import { describe, expect, it } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { HOSTNAME, NODE_POOL, ZONE } from '../../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../../shared/core/model/snapshot.ts';
import { plannedPods } from '../../../../shared/core/nomination/planned-pods.ts';
import { expectedPods, waitingSets } from '../../../../shared/core/rollouts/expected-pods.ts';
import { planWhole } from '../../../../shared/core/rollouts/part-plan.ts';
import { replan } from '../../../../shared/core/scheduling/replan.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import type { Json } from '../../../../shared/sim/json.ts';
import { ofApp, spreadOver, termOver } from '../../../builders/affinity.ts';
import { nodeOf, podOf, podsOf, poolOf, snapshotOf } from '../../../builders/scheduling.ts';
import { deployment, togetherOf } from '../../../sim/small-world.ts';
import { reading, settings, waitingWorld, withPorts } from '../world.ts';

const SCHEDULING = DEFAULT_SCHEDULING_SETTINGS;

const ownedBy = (name: string): Partial<Pod> => ({
  controller: { kind: 'ReplicaSet', name, uid: `set-${name}` },
});

/** `count` waiting pods of the ReplicaSet. */
function waiting(count: number, set: string, spec: Partial<PodSpec> & { cpu?: number } = {}) {
  return podsOf(count, set, spec, ownedBy(set));
}

function expected(pods: readonly Pod[], wanted: Readonly<Record<string, number>>) {
  const byUid = new Map(Object.entries(wanted).map(([set, count]) => [`set-${set}`, count]));
  return expectedPods(waitingSets({ pods }), byUid);
}

describe('pods that are still to come', () => {
  const web = ofApp('web');
  const other = (changes: Partial<PodSpec>): Pod => podOf('other', changes, { labels: {} });
  const onOneNode = termOver(HOSTNAME, web);
  const over = { deletedAtMs: 1, nodeName: 'node-a', unschedulable: false };

  it.each<[string, readonly Pod[], number]>([
    ['are those that the ReplicaSet has not made', waiting(3, 'a'), 7],
    ['are none where it has made all', waiting(10, 'a'), 0],
    ['are none where it was scaled down meanwhile', waiting(12, 'a'), 0],
    [
      'are not those that have a node',
      [...waiting(3, 'a'), podOf('bound', {}, { ...ownedBy('a'), nodeName: 'node-a' })],
      6,
    ],
    [
      'stand for those that are over or being deleted',
      [
        ...waiting(3, 'a'),
        podOf('deleted', {}, { ...ownedBy('a'), ...over }),
        podOf('failed', {}, { ...ownedBy('a'), nodeName: 'node-a', phase: 'Failed' }),
      ],
      7,
    ],
    [
      'are those, too, that kube-scheduler has yet to look at',
      [...waiting(3, 'a'), podOf('new', {}, { ...ownedBy('a'), unschedulable: false })],
      7,
    ],
    [
      'are none where no pod of it waits for a node',
      [podOf('bound', {}, { ...ownedBy('a'), nodeName: 'node-a' })],
      0,
    ],
    ['are none of a Job', podsOf(3, 'a', {}, { controller: { ...JOB } }), 0],
    ['are none that must spread', waiting(3, 'a', { topologySpread: [spreadOver(ZONE, web)] }), 0],
    ['are none that keep apart', waiting(3, 'a', { podAntiAffinity: [termOver(ZONE, web)] }), 0],
    [
      'are none that would rather be together',
      waiting(3, 'a', { preferredPodAffinity: [{ weight: 1, term: termOver(ZONE, web) }] }),
      0,
    ],
    [
      'are none of a ReplicaSet with pods that are held back',
      [...waiting(3, 'a'), podOf('held', { hasSchedulingGates: true }, ownedBy('a'))],
      0,
    ],
    ['are none with volumes', waiting(3, 'a', { volumes: [VOLUME] }), 0],
    ['are none with a port of the host', waiting(3, 'a', { hostPorts: [PORT] }), 0],
    [
      'are none that another pod wants to be near',
      [...waiting(3, 'a'), other({ podAffinity: [termOver(ZONE, web)] })],
      0,
    ],
    ['keep to one node with those made', waiting(3, 'a', { podAffinity: [onOneNode] }), 7],
    [
      'are none that pods of another ReplicaSet keep to as well',
      [
        ...waiting(3, 'a', { podAffinity: [onOneNode] }),
        podOf('other', { podAffinity: [onOneNode] }, ownedBy('b')),
      ],
      0,
    ],
    [
      'are none that keep to one node with pods of others alone',
      waiting(3, 'a', { podAffinity: [termOver(HOSTNAME, ofApp('db'))] }),
      0,
    ],
    [
      'are none that keep to one node with pods of another namespace',
      waiting(3, 'a', { podAffinity: [{ ...onOneNode, namespaces: ['default', 'other'] }] }),
      0,
    ],
    ['are none that keep to one zone', waiting(3, 'a', { podAffinity: [termOver(ZONE, web)] }), 0],
    [
      'do not mind terms about others',
      [...waiting(3, 'a'), other({ podAffinity: [termOver(ZONE, ofApp('db'))] })],
      7,
    ],
  ])('%s', (_, pods, count) => {
    expect(expected(pods, { a: 10 })).toHaveLength(count);
  });

  it('are none where the ReplicaSet says nothing, being gone or refused its pods', () => {
    expect(expected(waiting(3, 'a'), {})).toEqual([]);
  });

  it('are like the newest that waits, and come after all that are there', () => {
    const spec = podOf('x', { cpu: 2000 }).spec;
    const newest = podOf('newest', {}, { ...ownedBy('a'), createdAtMs: 5, spec });
    const [pod, ...others] = expected([newest, ...waiting(3, 'a')], { a: 5 });
    expect(others).toEqual([]);
    expect(pod).toMatchObject({ namespace: 'default', labels: newest.labels, nodeName: undefined });
    expect(pod?.spec).toBe(spec);
    expect(pod?.createdAtMs).toBeGreaterThan(Date.UTC(2200, 0, 1));
  });

  it('are 10,000 at most, of the 20 ReplicaSets at most whose pods are newest', () => {
    const since = (createdAtMs: number, count: number, set: string): readonly Pod[] =>
      waiting(count, set).map((pod) => ({ ...pod, createdAtMs }));
    const two = [...since(1, 5, 'a'), ...since(2, 3, 'b')];
    const many = expected(two, { a: 9000, b: 9000 });
    expect(many).toHaveLength(10_000);
    expect(many.filter(({ controller }) => controller?.name === 'b')).toHaveLength(8997);
    const sets = Array.from({ length: 25 }, (_, at) => since(at, 30 - at, `s${at}`));
    const names = waitingSets({ pods: sets.flat() }).map(({ name }) => name);
    expect(names).toEqual(Array.from({ length: 20 }, (_, at) => `s${24 - at}`));
  });
});

const JOB = { kind: 'Job', name: 'a', uid: 'set-a' };
const VOLUME = { kind: 'claim', claimName: 'data' } as const;
const PORT = { ip: '', port: 80, protocol: 'TCP' };

describe('a plan with expected pods', () => {
  const of = (pods: readonly Pod[], wanted: Readonly<Record<string, number>>, more: object = {}) =>
    planWhole(snapshotOf({ pods, ...more }), SCHEDULING, expected(pods, wanted));

  it('fills nodes of the size that the whole wants, and makes no other', () => {
    const plan = of(waiting(5, 'a'), { a: 45 });
    expect(plan.newNodeClaims).toHaveLength(1);
    const [claim] = plan.newNodeClaims;
    expect(claim).toMatchObject({ chosen: { type: 'm.4xlarge' }, expectedPods: 11 });
    expect(claim?.pods).toEqual(waiting(5, 'a').map(({ name }) => `default/${name}`));
    expect(claim?.requests).toMatchObject({ cpu: 16_000 });
    expect([plan.pricePerHour, plan.listPricePerHour]).toEqual([
      claim?.chosen.price,
      claim?.chosen.listPrice,
    ]);
  });

  it('is that of the pods alone where limits leave no room for all', () => {
    const limited = { nodePools: [poolOf('general', { limits: { cpu: 20_000 } })] };
    const pods = waiting(5, 'a');
    const plan = of(pods, { a: 45 }, limited);
    const alone = replan(snapshotOf({ pods, ...limited }), SCHEDULING);
    expect(plan.unplaced.size).toBe(0);
    expect(plan.pricePerHour).toBe(alone.pricePerHour);
    expect(plan.newNodeClaims.map(({ expectedPods }) => expectedPods)).toEqual(
      alone.newNodeClaims.map(() => 0),
    );
  });

  it('takes no place from a pod that is there', () => {
    // Room for one node of 16 CPUs, which 15 pods of one ReplicaSet would fill.
    const limited = { nodePools: [poolOf('general', { limits: { cpu: 16_000 } })] };
    const pods = [...waiting(1, 'a', { priority: 5 }), ...waiting(2, 'b', { cpu: 2000 })];
    expect(of(pods, { a: 16 }, limited).unplaced.size).toBe(0);
  });

  it('does not mind a pod that has no place anyhow', () => {
    const lost = podOf('lost', { cpu: 99_000 });
    const plan = of([lost, ...waiting(5, 'a')], { a: 45 });
    expect([...plan.unplaced.keys()]).toEqual(['default/lost']);
    expect(plan.newNodeClaims.map(({ expectedPods }) => expectedPods)).toEqual([11]);
  });

  const expectedOf = ({ newNodeClaims }: ReturnType<typeof of>): number =>
    newNodeClaims.reduce((sum, { expectedPods: count }) => sum + count, 0);

  it.each([
    [20, 100, 1500],
    [20, 250, 3500],
    [8, 500, 7500],
    [40, 300, 1700],
  ])('does not scatter %i pods of %i m over nodes for pods of %i m', (count, small, large) => {
    const pods = [...waiting(count, 'a', { cpu: small }), ...waiting(1, 'b', { cpu: large })];
    const alone = replan(snapshotOf({ pods }), SCHEDULING);
    const { newNodeClaims, pricePerHour } = of(pods, { a: count, b: 400 });
    const own = newNodeClaims.find((claim) => claim.pods.includes('default/b-0'));
    expect(pricePerHour - alone.pricePerHour).toBeLessThanOrEqual(own?.chosen.price ?? 0);
  });

  it('does not send pods away from nodes that are there', () => {
    const pods = [...waiting(1, 'a'), ...waiting(1, 'b', { cpu: 1500 })];
    const plan = of(pods, { a: 1, b: 40 }, { nodes: [nodeOf('here', 4, 16)] });
    expect(plan.newNodeClaims).toEqual([]);
    expect(plan.existing).toEqual([{ node: 'here', pods: ['default/a-0', 'default/b-0'] }]);
  });

  it.each([
    ['larger', 1500, 0, ['heavy', 'heavy']],
    // With those to come they fill one node, which costs what two would.
    ['smaller', 800, 4, ['heavy']],
  ])(
    'leaves the heavier pool to the pods that are there, before %s ones',
    (_, cpu, ahead, pools) => {
      const heavy = poolOf('heavy', { weight: 50, limits: { cpu: 8000 } });
      const pods = [...waiting(4, 'a'), ...waiting(1, 'b', { cpu })];
      const plan = of(
        pods,
        { a: 4, b: 40 },
        { nodePools: [heavy, poolOf('light', { weight: 1 })] },
      );
      expect(plan.newNodeClaims.map(({ nodePool }) => nodePool)).toEqual(pools);
      expect(expectedOf(plan)).toBe(ahead);
    },
  );

  it('looks ahead in other pools where those to come would fill the heavier', () => {
    const heavy = poolOf('heavy', { weight: 50, limits: { cpu: 8000 } });
    const nodePools = [heavy, poolOf('light', { weight: 1 }), poolOf('general')];
    const elsewhere = { nodeSelector: { [NODE_POOL]: 'general' } };
    const both = [...waiting(4, 'a'), ...waiting(1, 'b', { cpu: 1500 })];
    const pods = [...both, ...waiting(5, 'c', elsewhere)];
    const plan = of(pods, { a: 45, b: 40, c: 45 }, { nodePools });
    const pools = plan.newNodeClaims.map((claim) => [claim.nodePool, claim.expectedPods]);
    expect(pools).toEqual([
      ['heavy', 0],
      ['heavy', 0],
      ['general', 11],
    ]);
  });

  it.each([
    ['pods find no place', 'gpu', {}, 99_000],
    ['pods to come find no place', 'full', { cpu: 4000 }, 1000],
  ])('looks ahead for others where those of one ReplicaSet: %s', (_, pool, limits, cpu) => {
    const only = { nodeSelector: { [NODE_POOL]: pool } };
    const elsewhere = { nodeSelector: { [NODE_POOL]: 'general' } };
    const pods = [...waiting(5, 'a', elsewhere), ...waiting(2, 'b', { ...only, cpu })];
    const nodePools = [poolOf('general'), poolOf(pool, { limits })];
    expect(expectedOf(of(pods, { a: 45, b: 45 }, { nodePools }))).toBe(11);
  });
});

/** The world's ports as they are when ReplicaSets have made so many pods, the first of each. */
function rollingOut(ports: Ports, made: () => number): Ports {
  const read = reading(ports, (state) => {
    const bySet = Map.groupBy(state.objects.pods, ({ controller }) => controller?.uid);
    const pods = [...bySet.values()].flatMap((each) =>
      each.toSorted((a, b) => (a.name < b.name ? -1 : 1)).slice(0, made()),
    );
    return { ...state, objects: { ...state.objects, pods } };
  });
  return withPorts(ports, { cluster: { read } });
}

/** Makes the pods in batches, and plans after each. */
async function rolledOut(
  workloads: readonly Json[],
  batch: number,
  cluster: Partial<Ports['cluster']> = {},
) {
  const { world, ports: free } = await waitingWorld(workloads);
  let made = 0;
  const ports = withPorts(
    rollingOut(free, () => made),
    { cluster },
  );
  const unplaced: string[] = [];
  const { length } = (await free.cluster.read()).objects.pods;
  while (made < length) {
    made += batch;
    const report = await provision(ports, settings);
    expect(report.failures).toEqual([]);
    unplaced.push(...report.unplaced.keys());
  }
  return { world, ports: free, unplaced, price: world.pricePerHour() };
}

describe('a rollout in batches', () => {
  const none = { wantedPods: async () => new Map<string, number>() };
  const web = deployment('web', 110, '700m');
  const two = [web, deployment('api', 44, '1700m')];

  // Of two kinds of pods, those that come find other room than was planned for them: 1.3 % more.
  it.each<[number, string, readonly Json[], number, number]>([
    [7, 'one Deployment', [web], 1, 1.17],
    [20, 'one Deployment', [web], 1, 1.04],
    [7, 'two Deployments', two, 1.02, 1.07],
    [20, 'two Deployments', two, 1.02, 1.01],
  ])(
    '%i pods of %s at a time cost what they cost at once, and more without looking ahead',
    async (batch, _, all, most, least) => {
      const once = await rolledOut(all, 1000);
      const { price, unplaced } = await rolledOut(all, batch);
      expect(unplaced).toEqual([]);
      expect(price / once.price).toBeLessThan(most + 1e-9);
      const alone = await rolledOut(all, batch, none);
      expect(alone.price / once.price).toBeGreaterThan(least);
    },
  );

  it.each([1, 3, 7])('of pods that keep to one node has one, %i at a time', async (batch) => {
    const group = deployment('group', 8, '900m', togetherOf('group'));
    const { ports, unplaced } = await rolledOut([group, deployment('alone', 1, '1')], batch);
    expect(unplaced).toEqual([]);
    const { pods, nodeClaims } = (await ports.cluster.read()).objects;
    const own = new Set(pods.filter(({ name }) => name.startsWith('group')).map(({ uid }) => uid));
    const hosts = nodeClaims.filter((each) => plannedPods(each).some((uid) => own.has(uid)));
    expect(hosts).toHaveLength(1);
  });

  it('does not make the nodes of other pods many times dearer when it begins', async () => {
    const { world, ports: free } = await waitingWorld([
      deployment('small', 40, '300m'),
      deployment('large', 100, '1700m'),
    ]);
    const read = reading(free, (state) => {
      const [first, ...others] = state.objects.pods.filter(({ name }) => name.startsWith('large'));
      const pods = state.objects.pods.filter((pod) => !others.includes(pod));
      expect(first).toBeDefined();
      return { ...state, objects: { ...state.objects, pods } };
    });
    await provision(withPorts(free, { cluster: { read } }), settings);
    // Of 40 small pods and one large: without looking ahead $0.58.
    expect(world.pricePerHour()).toBeLessThan(0.9);
  });

  it('names in its claims, events and report the pods that are there, and counts the others', async () => {
    const { world, ports: free } = await waitingWorld([deployment('web', 90, '450m')]);
    const events: string[] = [];
    const event: Ports['cluster']['event'] = async ({ regarding }) => {
      events.push(regarding.name);
    };
    const ports = withPorts(
      rollingOut(free, () => 3),
      { cluster: { event } },
    );
    const report = await provision(ports, settings);
    expect([report.created.length, report.launched.length]).toEqual([1, 1]);
    const { pods, nodeClaims } = (await ports.cluster.read()).objects;
    expect(pods).toHaveLength(3);
    expect(nodeClaims.flatMap(plannedPods).sort()).toEqual(pods.map(({ uid }) => uid).sort());
    expect(events.sort()).toEqual(pods.map(({ name }) => name).sort());
    const [record] = world.recorder.decisions.filter(({ action }) => action === 'create');
    expect(record?.message).toMatch(/ for 3 pods and 14 expected pods; /);
    expect(record?.detail).toMatchObject({ expectedPods: 14, pods: expect.objectContaining({}) });
  });

  it('is planned as it stands where the ReplicaSets cannot be read, and says so', async () => {
    const { ports: free } = await waitingWorld([deployment('web', 90, '450m')]);
    const wantedPods = async (): Promise<never> => {
      throw new PortError('unauthorised', '403', 'get replicasets: forbidden');
    };
    const ports = withPorts(
      rollingOut(free, () => 3),
      { cluster: { wantedPods } },
    );
    const report = await provision(ports, settings);
    expect(report.failures).toEqual([
      { object: 'ReplicaSets', message: '403: get replicasets: forbidden' },
    ]);
    const [claim] = (await ports.cluster.read()).objects.nodeClaims;
    expect(report.created).toHaveLength(1);
    expect(claim?.requests).toMatchObject({ cpu: 1350 });
  });
});
