import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ZONE } from '../../shared/core/model/labels.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import { DEFAULT_SCHEDULING_SETTINGS, EFFORTS } from '../../shared/core/model/snapshot.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { ofApp, spreadOver, termOver } from '../builders/affinity.ts';
import {
  GI,
  nodeOf,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
  typeOf,
  ZONES,
} from '../builders/scheduling.ts';

type Cluster = Parameters<typeof snapshotOf>[0];

const GPU = 'nvidia.com/gpu';

/** Types in three proportions, each family a little dearer, and types with GPUs. */
const TYPES = [
  ...[2, 4, 8].flatMap((perCpu, family) =>
    [2, 4, 8, 16, 32, 48].map((cpu) =>
      typeOf(`f${family}.${cpu}`, cpu, cpu * perCpu, cpu * (0.02 + 0.006 * perCpu), { spot: true }),
    ),
  ),
  ...[8, 32, 96].map((cpu) => {
    const capacity = { cpu: cpu * 1000, memory: cpu * 4 * GI, pods: 110, [GPU]: cpu / 8 };
    return typeOf(`g.${cpu}`, cpu, cpu * 4, cpu * 0.08 + cpu * 0.05, { capacity });
  }),
];

function planOf(cluster: Cluster, effort: (typeof EFFORTS)[number]): Plan {
  return solve(snapshotOf(cluster), { ...DEFAULT_SCHEDULING_SETTINGS, effort });
}

/** What plans are compared by. */
function costOf({ newNodeClaims }: Plan): number {
  const { nodePrice } = DEFAULT_SCHEDULING_SETTINGS;
  return newNodeClaims.reduce((sum, { chosen }) => sum + chosen.price + nodePrice, 0);
}

function expectNoneDearer(cluster: Cluster): void {
  const plans = EFFORTS.map((effort) => planOf(cluster, effort));
  for (const [index, plan] of plans.slice(1).entries()) {
    const before = plans[index] as Plan;
    expect(plan.unplaced.size).toBeLessThanOrEqual(before.unplaced.size);
    if (plan.unplaced.size < before.unplaced.size) continue;
    expect(costOf(plan), EFFORTS[index + 1]).toBeLessThanOrEqual(costOf(before) + 1e-9);
  }
}

const odd = Array.from({ length: 40 }, (_, at) =>
  podOf(`odd-${at}`, { cpu: 300 + 170 * (at % 23), memory: (1 + ((at * 7) % 13)) * GI }),
);
const apart = { labels: { app: 'apart' } };
const away = { podAntiAffinity: [termOver(ZONE, ofApp('apart'))] };
const gpus = (count: number) => ({ cpu: 3000, memory: 9 * GI, pods: 1, [GPU]: count });

const TABLE: readonly (readonly [string, Cluster])[] = [
  ['one pod', { types: TYPES, pods: [podOf('one')] }],
  ['as many shapes as pods', { types: TYPES, pods: odd }],
  [
    'many pods of few shapes',
    {
      types: TYPES,
      pods: [
        ...podsOf(900, 'small', { cpu: 700, memory: 3 * GI }),
        ...podsOf(130, 'large', { cpu: 9500, memory: 20 * GI }),
      ],
    },
  ],
  [
    'devices',
    {
      types: TYPES,
      pods: [
        ...podsOf(60, 'whole', { requests: gpus(1) }),
        ...podsOf(11, 'several', { requests: gpus(5) }),
        ...podsOf(200, 'plain', { cpu: 1300 }),
      ],
    },
  ],
  [
    'zones to spread over, and pods that keep apart',
    {
      types: TYPES,
      pods: [
        ...podsOf(31, 'web', { cpu: 1900, topologySpread: [spreadOver(ZONE, ofApp('web'))] }),
        ...podsOf(3, 'apart', { cpu: 900, ...away }, apart),
        ...odd,
      ],
    },
  ],
  [
    'existing nodes, and a limit that leaves pods over',
    {
      types: TYPES,
      nodes: [nodeOf('a', 8, 32), nodeOf('b', 16, 32)],
      nodePools: [poolOf('general', { limits: { cpu: 64_000 } })],
      pods: [...odd, ...podsOf(20, 'big', { cpu: 7000 })],
    },
  ],
];

describe('more effort', () => {
  it.each(TABLE)('never makes a dearer plan: %s', (_, cluster) => {
    expectNoneDearer(cluster);
  });

  it.each(TABLE)('makes the same plan of pods in any order: %s', (_, cluster) => {
    const pods = (cluster.pods ?? []).toReversed();
    const turned = { ...cluster, pods, types: (cluster.types ?? []).toReversed() };
    for (const effort of EFFORTS) {
      expect(planOf(turned, effort), effort).toEqual(planOf(cluster, effort));
    }
  });

  it('makes cheaper plans', () => {
    const cheaper = TABLE.filter(([, cluster]) => {
      const [quick = 0, normal = 0] = EFFORTS.map((effort) => costOf(planOf(cluster, effort)));
      return normal < quick;
    });
    expect(cheaper.map(([name]) => name)).toContain('many pods of few shapes');
  });
});

const shape = fc.record({
  count: fc.integer({ min: 1, max: 60 }),
  cpu: fc.integer({ min: 1, max: 120 }).map((each) => each * 100),
  perCpu: fc.constantFrom(1, 2, 4, 7),
  gpus: fc.constantFrom(0, 0, 0, 1, 2),
  zone: fc.constantFrom(undefined, undefined, undefined, ...ZONES),
  isSpread: fc.constantFrom(false, false, false, true),
});

/** How many cases, and from which seed: more at night. */
const WANTED = Number(process.env['JOINER_EFFORTS'] ?? 25);
const SEED = Number(process.env['JOINER_SEED'] ?? 24);

it(
  'is never dearer in generated cases',
  () => {
    fc.assert(
      fc.property(
        fc.array(shape, { minLength: 1, maxLength: 12 }),
        fc.constantFrom(undefined, 100_000),
        (shapes, limit) => {
          const pods = shapes.flatMap(({ count, cpu, perCpu, gpus, zone, isSpread }, index) => {
            const name = `s${index}`;
            const memory = Math.round((cpu / 1000) * perCpu * GI);
            const requests = { cpu, memory, pods: 1, ...(gpus > 0 ? { [GPU]: gpus } : {}) };
            const nodeSelector = zone === undefined ? {} : { [ZONE]: zone };
            const topologySpread = isSpread ? [spreadOver(ZONE, ofApp(name))] : [];
            const spec = { requests, nodeSelector, topologySpread };
            return podsOf(count, name, spec, { labels: { app: name } });
          });
          const limits = limit === undefined ? {} : { limits: { cpu: limit } };
          expectNoneDearer({ types: TYPES, pods, nodePools: [poolOf('general', limits)] });
        },
      ),
      { seed: SEED, numRuns: WANTED },
    );
  },
  60_000 + WANTED * 4000,
);
