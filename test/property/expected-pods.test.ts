import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { HOSTNAME, ZONE } from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS as SETTINGS } from '../../shared/core/model/snapshot.ts';
import { expectedPods, waitingSets } from '../../shared/core/rollouts/expected-pods.ts';
import { planWhole } from '../../shared/core/rollouts/part-plan.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { ofApp, spreadOver, termOver } from '../builders/affinity.ts';
import { FAMILY, GI, nodeOf, podsOf, poolOf, snapshotOf, textOf } from '../builders/scheduling.ts';
import { checkPlan } from '../support/check-plan.ts';

/** What the pods of the ReplicaSet of this name may ask for. */
const constraintsOf = (name: string) => [
  {},
  {},
  {},
  { nodeSelector: { [ZONE]: 'zone-b' } },
  { priority: 7 },
  { topologySpread: [spreadOver(ZONE, ofApp(name))] },
  { podAffinity: [termOver(ZONE, ofApp('set-0'))] },
  { podAffinity: [termOver(HOSTNAME, ofApp(name))] },
];

const replicaSet = fc.record({
  wanted: fc.integer({ min: 1, max: 40 }),
  made: fc.integer({ min: 1, max: 12 }),
  cpu: fc.integer({ min: 1, max: 16 }).map((each) => each * 250),
  memory: fc.integer({ min: 1, max: 8 }).map((each) => (each * GI) / 2),
  constraint: fc.nat({ max: 7 }),
});

/** What ReplicaSets have made, and how many pods each wants by its uid. */
const rollouts = fc.array(replicaSet, { minLength: 1, maxLength: 4 }).map((sets) => ({
  pods: sets.flatMap(({ made, wanted, cpu, memory, constraint }, at) => {
    const name = `set-${at}`;
    const spec = { cpu, memory, ...constraintsOf(name)[constraint] };
    const controller = { kind: 'ReplicaSet', name, uid: name };
    return podsOf(Math.min(made, wanted), name, spec, { labels: { app: name }, controller });
  }),
  wanted: new Map(sets.map(({ wanted }, at) => [`set-${at}`, wanted])),
}));

const clusters = fc.record({
  nodes: fc.constantFrom([], [nodeOf('n1', 4, 16), nodeOf('n2', 2, 8, { zone: 'zone-b' })]),
  cpu: fc.constantFrom(16_000, 64_000, 1_000_000),
});

const OPTIONS = { seed: 4, numRuns: 60 };

function planned(pods: readonly Pod[], wanted: ReadonlyMap<string, number>, rest: object) {
  const snapshot = snapshotOf({ pods, ...rest });
  const expected = expectedPods(waitingSets(snapshot), wanted);
  return { snapshot, expected, plan: planWhole(snapshot, SETTINGS, expected) };
}

/** `default/set-1-7` → `set-1`. */
const setOf = (pod: string): string => pod.replace(/^default\/(.*)-\d+$/, '$1');

/** The dearest node of each ReplicaSet that has pods still to come, together. */
function oneNodeEach({ newNodeClaims }: Plan, expected: readonly Pod[]): number {
  const growing = new Set(expected.flatMap(({ controller }) => controller?.uid ?? []));
  const prices = [...growing].map((set) =>
    newNodeClaims
      .filter(({ pods }) => pods.some((pod) => setOf(pod) === set))
      .reduce((most, { chosen }) => Math.max(most, chosen.price), 0),
  );
  return prices.reduce((sum, price) => sum + price, 0);
}

/** How many pods of each ReplicaSet get nodes in the pool. */
function countsIn(pool: string, { newNodeClaims }: Plan): ReadonlyMap<string, number> {
  const pods = newNodeClaims
    .filter(({ nodePool }) => nodePool === pool)
    .flatMap((each) => each.pods);
  const bySet = Map.groupBy(pods, setOf);
  return new Map([...bySet].map(([set, { length }]) => [set, length]));
}

describe('a plan with expected pods', () => {
  it('places each pod that a plan without them places, keeps limits, and has no empty node', () => {
    let expecting = 0;
    fc.assert(
      fc.property(rollouts, clusters, ({ pods, wanted }, { nodes, cpu }) => {
        const nodePools = [poolOf('general', { limits: { cpu } })];
        const { snapshot, plan } = planned(pods, wanted, { nodes, nodePools });
        const subject = { name: '', nowMs: 0, snapshot, settings: SETTINGS, rejected: {} };
        expect(checkPlan(subject, plan)).toEqual([]);
        const alone = replan(snapshot, SETTINGS);
        for (const pod of plan.unplaced.keys()) expect([...alone.unplaced.keys()]).toContain(pod);
        for (const claim of plan.newNodeClaims) expect(claim.pods).not.toEqual([]);
        const known = new Set(pods.map(podKey));
        const named = [...plan.newNodeClaims, ...plan.existing].flatMap((each) => each.pods);
        expect(named.filter((pod) => !known.has(pod))).toEqual([]);
        if (plan.newNodeClaims.some(({ expectedPods: count }) => count > 0)) expecting += 1;
      }),
      OPTIONS,
    );
    expect(expecting).toBeGreaterThan(15);
  });

  it('costs at most one node more for each ReplicaSet that grows, in no lighter pool', () => {
    let dearer = 0;
    let lighter = 0;
    fc.assert(
      fc.property(rollouts, clusters, ({ pods, wanted }, { nodes, cpu }) => {
        const heavy = poolOf('heavy', { weight: 50, limits: { cpu: cpu / 2 } });
        const nodePools = [heavy, poolOf('general', { limits: { cpu } })];
        const { snapshot, expected, plan } = planned(pods, wanted, { nodes, nodePools });
        const alone = replan(snapshot, SETTINGS);
        const more = plan.pricePerHour - alone.pricePerHour;
        expect(more).toBeLessThanOrEqual(oneNodeEach(plan, expected) + 1e-9);
        const most = countsIn('general', alone);
        for (const [set, count] of countsIn('general', plan)) {
          expect(count).toBeLessThanOrEqual(most.get(set) ?? 0);
        }
        if (more > 1e-9) dearer += 1;
        if (most.size > 0) lighter += 1;
      }),
      OPTIONS,
    );
    expect(Math.min(dearer, lighter)).toBeGreaterThan(3);
  });

  it('is the same whatever the order of the pods', () => {
    fc.assert(
      fc.property(rollouts, ({ pods, wanted }) => {
        const one = planned(pods, wanted, {}).plan;
        expect(textOf(planned(pods.toReversed(), wanted, {}).plan)).toBe(textOf(one));
      }),
      OPTIONS,
    );
  });
});

/** The price of all nodes when so many pods come at a time and find the nodes of those before. */
function priceInBatches(pods: readonly Pod[], batch: number): number {
  const wanted = new Map([['set-0', pods.length]]);
  const bound = new Map<string, string>();
  const nodes: ReturnType<typeof nodeOf>[] = [];
  let price = 0;
  for (let made = batch; made < pods.length + batch; made += batch) {
    const there = pods.slice(0, made).map((pod) => {
      const nodeName = bound.get(podKey(pod));
      return nodeName === undefined ? pod : { ...pod, nodeName, phase: 'Running' as const };
    });
    const { plan } = planned(there, wanted, { nodes });
    expect(plan.unplaced.size).toBe(0);
    price += plan.pricePerHour;
    for (const { chosen, pods: keys } of plan.newNodeClaims) {
      const type = FAMILY.find((each) => each.name === chosen.type);
      const { cpu = 0, memory = 0 } = type?.capacity ?? {};
      const name = `node-${nodes.length}`;
      nodes.push(nodeOf(name, cpu / 1000, memory / GI, { zone: chosen.zone }));
      for (const key of keys) bound.set(key, name);
    }
    for (const { node, pods: keys } of plan.existing) for (const key of keys) bound.set(key, node);
  }
  return price;
}

it('a ReplicaSet that is made in batches costs what it costs at once', () => {
  const size = { cpu: fc.integer({ min: 1, max: 30 }), memory: fc.integer({ min: 1, max: 12 }) };
  fc.assert(
    fc.property(
      fc.record({ ...size, count: fc.integer({ min: 2, max: 60 }) }),
      fc.integer({ min: 1, max: 20 }),
      ({ cpu, memory, count }, batch) => {
        const spec = { cpu: cpu * 130, memory: (memory * GI) / 2 };
        const controller = { kind: 'ReplicaSet', name: 'set-0', uid: 'set-0' };
        const pods = podsOf(count, 'set-0', spec, { controller });
        const once = replan(snapshotOf({ pods }), SETTINGS).pricePerHour;
        expect(priceInBatches(pods, batch)).toBeLessThanOrEqual(once + 1e-9);
      },
    ),
    OPTIONS,
  );
});
