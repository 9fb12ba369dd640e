import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { HOSTNAME, ZONE } from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import { ofApp, spreadOver, termOver } from '../builders/affinity.ts';
import {
  FAMILY,
  GI,
  nodeOf,
  planOf,
  podsOf,
  poolOf,
  textOf,
  typeOf,
} from '../builders/scheduling.ts';

const web = ofApp('web');
const apart = termOver(HOSTNAME, web);

/** Kinds of constraints that a group of pods may have. */
const CONSTRAINTS = [
  {},
  {},
  { nodeSelector: { [ZONE]: 'zone-b' } },
  { topologySpread: [spreadOver(ZONE, web, { whenUnsatisfiable: 'DoNotSchedule' })] },
  { topologySpread: [spreadOver(ZONE, web, { whenUnsatisfiable: 'ScheduleAnyway' })] },
  { podAntiAffinity: [apart] },
  {
    topologySpread: [
      spreadOver(ZONE, web, { whenUnsatisfiable: 'DoNotSchedule' }),
      spreadOver(HOSTNAME, web, { whenUnsatisfiable: 'ScheduleAnyway' }),
    ],
    tolerations: ['a', 'b'].map((key) => ({
      key,
      operator: 'Exists' as const,
      value: '',
      effect: undefined,
    })),
  },
] as const;

const group = fc.record({
  count: fc.integer({ min: 1, max: 6 }),
  cpu: fc.integer({ min: 1, max: 24 }).map((each) => each * 250),
  memory: fc.integer({ min: 1, max: 16 }).map((each) => (each * GI) / 2),
  constraint: fc.constantFrom(...CONSTRAINTS),
  label: fc.constantFrom('web', 'db'),
});

const groups = fc
  .array(group, { minLength: 1, maxLength: 5 })
  .map((all) =>
    all.flatMap(({ count, cpu, memory, constraint, label }, index) =>
      podsOf(count, `g${index}`, { cpu, memory, ...constraint }, { labels: { app: label } }),
    ),
  );

const plainGroups = fc
  .array(group, { minLength: 1, maxLength: 4 })
  .map((all) =>
    all.flatMap(({ count, cpu, memory }, index) =>
      podsOf(Math.min(count, 2), `g${index}`, { cpu: Math.min(cpu, 4000), memory }),
    ),
  );

const OPTIONS = { seed: 4, numRuns: 60 };
const pools = [poolOf('general'), poolOf('second', { weight: 0 })];

function placed(plan: Plan): number {
  const all = [...plan.newNodeClaims, ...plan.existing];
  return all.reduce((sum, { pods }) => sum + pods.length, 0);
}

/** The plan's claims as nodes that have joined, with the pods still pending. */
function joined(plan: Plan) {
  return plan.newNodeClaims.map(({ chosen, nodePool }, index) => {
    const type = FAMILY.find((each) => each.name === chosen.type);
    const { cpu = 0, memory = 0 } = type?.capacity ?? {};
    return nodeOf(`node-${index}`, cpu / 1000, memory / GI, { pool: nodePool, zone: chosen.zone });
  });
}

/** The least price of nodes that hold the pods, found by trying every partition. */
function optimum(pods: readonly Pod[], types: readonly InstanceType[]): number {
  const cheapest = (cpu: number, memory: number): number => {
    const fit = types.filter(
      ({ capacity }) => (capacity['cpu'] ?? 0) >= cpu && (capacity['memory'] ?? 0) >= memory,
    );
    const prices = fit.flatMap(({ offerings }) => offerings.map((each) => each.price));
    return Math.min(Number.POSITIVE_INFINITY, ...prices);
  };
  const bins: { cpu: number; memory: number }[] = [];
  let best = Number.POSITIVE_INFINITY;
  const visit = (index: number): void => {
    const pod = pods[index];
    if (pod === undefined) {
      const price = bins.reduce((sum, { cpu, memory }) => sum + cheapest(cpu, memory), 0);
      best = Math.min(best, price);
      return;
    }
    const { cpu = 0, memory = 0 } = pod.spec.requests;
    for (const bin of [...bins]) {
      bin.cpu += cpu;
      bin.memory += memory;
      visit(index + 1);
      bin.cpu -= cpu;
      bin.memory -= memory;
    }
    bins.push({ cpu, memory });
    visit(index + 1);
    bins.pop();
  };
  visit(0);
  return best;
}

describe('any case', () => {
  it('has the same plan, byte for byte, whatever the order of the input', () => {
    fc.assert(
      fc.property(groups, fc.integer(), (pods, seed) => {
        const shuffled = <Item>(items: readonly Item[]): readonly Item[] =>
          items
            .map((item, index) => ({ item, key: Math.imul(index + 1, seed | 1) >>> 0 }))
            .toSorted((a, b) => a.key - b.key)
            .map(({ item }) => item);
        const nodes = [nodeOf('n1', 4, 16), nodeOf('n2', 2, 8, { zone: 'zone-b' })];
        const one = planOf({ pods, nodes, nodePools: pools });
        const turned = pods.map((pod, index) => ({
          ...pod,
          spec: {
            ...pod.spec,
            topologySpread:
              index % 2 === 0 ? pod.spec.topologySpread : pod.spec.topologySpread.toReversed(),
            tolerations: index % 2 === 0 ? pod.spec.tolerations : pod.spec.tolerations.toReversed(),
          },
        }));
        const other = planOf({
          pods: shuffled(turned),
          nodes: nodes.toReversed(),
          nodePools: pools.toReversed(),
          types: FAMILY.toReversed().map((type) => ({
            ...type,
            offerings: type.offerings.toReversed(),
          })),
        });
        expect(textOf(other)).toBe(textOf(one));
      }),
      OPTIONS,
    );
  });

  it('places or explains every pod once', () => {
    fc.assert(
      fc.property(groups, (pods) => {
        const plan = planOf({ pods });
        const keys = [
          ...plan.newNodeClaims.flatMap((each) => each.pods),
          ...plan.existing.flatMap((each) => each.pods),
          ...plan.unplaced.keys(),
        ];
        expect(keys.toSorted()).toEqual(pods.map(podKey).toSorted());
      }),
      OPTIONS,
    );
  });

  it('is settled by its own plan: with the nodes in place nothing more is launched', () => {
    fc.assert(
      fc.property(groups, (pods) => {
        const plan = planOf({ pods, types: FAMILY });
        const again = planOf({ pods, types: FAMILY, nodes: joined(plan) });
        expect(placed(again)).toBe(placed(plan));
      }),
      OPTIONS,
    );
  });

  it('never places fewer pods when a constraint goes', () => {
    fc.assert(
      fc.property(groups, (pods) => {
        const limits = { cpu: 64_000 };
        const nodePools = [poolOf('general', { limits })];
        const free = pods.map((pod) => ({
          ...pod,
          spec: { ...pod.spec, podAntiAffinity: [], topologySpread: [], nodeSelector: {} },
        }));
        expect(placed(planOf({ pods: free, nodePools }))).toBeGreaterThanOrEqual(
          placed(planOf({ pods, nodePools })),
        );
      }),
      OPTIONS,
    );
  });
});

describe('price', () => {
  it('of few plain pods is within 5 % of the optimum, and mostly the optimum', () => {
    let optimal = 0;
    let cases = 0;
    fc.assert(
      fc.property(plainGroups, (pods) => {
        const best = optimum(pods, FAMILY);
        const { pricePerHour } = planOf({ pods });
        cases++;
        if (pricePerHour <= best + 1e-9) optimal++;
        expect(pricePerHour).toBeGreaterThanOrEqual(best - 1e-9);
        expect(pricePerHour).toBeLessThanOrEqual(best * 1.05 + 0.041);
      }),
      OPTIONS,
    );
    expect(optimal / cases).toBeGreaterThan(0.8);
  });

  it('never rises with an offering more', () => {
    fc.assert(
      fc.property(groups, fc.integer({ min: 1, max: 40 }), (pods, price) => {
        const more = typeOf('x.2xlarge', 8, 32, price / 50);
        const before = planOf({ pods });
        const after = planOf({ pods, types: [...FAMILY, more] });
        expect(placed(after)).toBe(placed(before));
        expect(after.pricePerHour).toBeLessThanOrEqual(before.pricePerHour * 1.0001 + 1e-9);
      }),
      OPTIONS,
    );
  });
});
