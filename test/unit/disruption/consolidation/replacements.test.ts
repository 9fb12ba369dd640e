import { describe, expect, it } from 'vitest';
import { type Reason, reason } from '../../../../shared/core/explain/reason.ts';
import type { InstanceType } from '../../../../shared/core/model/instance-type.ts';
import { CAPACITY_TYPE, LIMITS_GUARD, ZONE } from '../../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { type Cluster, clusterOf, type Used } from '../../../builders/consolidation.ts';
import {
  cpuPod,
  type MoveCase,
  moved,
  ON_DEMAND,
  openTypes,
  tried,
  used,
} from '../../../builders/moves.ts';
import { poolOf, typeOf } from '../../../builders/scheduling.ts';

const HOUR = 3_600_000;

const inZone = (zone: string) => ({ nodeSelector: { [ZONE]: zone } });
const asOf = (capacityType: string) => ({ nodeSelector: { [CAPACITY_TYPE]: capacityType } });

describe('what is launched on demand leaves open', () => {
  const at = (...types: readonly InstanceType[]): Cluster =>
    clusterOf([used('a', 'm.4xlarge', cpuPod('p', 900))], { types: [...ON_DEMAND, ...types] });

  it.each<[string, () => MoveCase, readonly string[]]>([
    ['no type that costs as much', () => ({ cluster: at() }), ['m.large m.xlarge m.2xlarge']],
    [
      'types that cost little less, where no dearer one is there',
      () => ({ cluster: at(typeOf('m.close', 16, 64, 0.7)) }),
      ['m.large m.xlarge m.2xlarge m.close'],
    ],
    [
      'types that would not repay the evictions themselves: EC2 launches the cheapest',
      () => ({ cluster: at(), settings: { evictionPrice: 0.65, horizonMs: HOUR } }),
      ['m.large m.xlarge m.2xlarge'],
    ],
    [
      'types that share what is saved, where there are several',
      () => {
        const pods = ['zone-a', 'zone-b'].map((zone) => cpuPod(zone, 900, inZone(zone)));
        const types = [...ON_DEMAND, typeOf('m.odd', 4, 16, 0.23)];
        return { cluster: clusterOf([used('a', 'm.4xlarge', ...pods)], { types }) };
      },
      ['m.large m.xlarge m.odd', 'm.large m.xlarge m.odd'],
    ],
    [
      'types that are cheap in any zone, rather than more in one',
      () => {
        const types = ON_DEMAND.map((type) => ({
          ...type,
          offerings: type.offerings.map((each) =>
            type.name === 'm.xlarge' && each.zone !== 'zone-a' ? { ...each, price: 0.9 } : each,
          ),
        }));
        return { cluster: clusterOf([used('a', 'm.4xlarge', cpuPod('p', 900))], { types }) };
      },
      ['m.large m.2xlarge'],
    ],
  ])('%s', (_, given, types) => {
    expect(openTypes(given())).toEqual(types);
  });
});

describe('what is launched as spot pays back in the middle of its prices', () => {
  // 0.04, 0.08, 0.16 and 0.32 USD an hour as spot, for a node of 0.5.
  const types = [
    ...[0.1, 0.2, 0.4, 0.8].map((price, at) =>
      typeOf(`t${at}`, 2 ** (at + 1), 2 ** (at + 3), price, { spot: true }),
    ),
    typeOf('old', 4, 16, 0.5),
  ];
  const cluster = () => clusterOf([used('a', 'old', cpuPod('p', 900))], { types });

  it.each([
    [0.3, 't0 t1 t2 t3'],
    [0.35, 't0 t1 t2'],
    [0.42, 't0 t1'],
    [0.45, 't0'],
    [0.46, 'move-does-not-pay'],
  ])('at %d USD for an eviction', (evictionPrice, open) => {
    const settings = { evictionPrice, horizonMs: HOUR };
    expect(openTypes({ cluster: cluster(), settings })).toEqual([open]);
  });

  it('beside what is on demand, too', () => {
    const pods = [cpuPod('p', 900, asOf('on-demand')), cpuPod('q', 900, asOf('spot'))];
    const settings = { evictionPrice: 0.15, horizonMs: HOUR };
    const mixed = clusterOf([used('a', 'old', ...pods)], { types });
    expect(openTypes({ cluster: mixed, settings }).toSorted()).toEqual(['t0', 't0 t1']);
  });
});

describe('spot nodes', () => {
  /** As many cheaper types, and what the node is. */
  const many = (count: number, labels = {}): readonly InstanceType[] =>
    Array.from({ length: count }, (_, at) =>
      typeOf(`t${String(at).padStart(2, '0')}`, 2, 8, 0.1 + at / 1000, { spot: true, labels }),
    );
  const old = typeOf('old', 16, 64, 2, { spot: true });
  const spot = (name: string, ...pods: readonly Pod[]): Used => ({
    ...used(name, 'old', ...pods),
    capacityType: 'spot',
  });
  const at = (count: number, ...pods: readonly Pod[]): Cluster =>
    clusterOf([spot('a', ...pods)], { types: [...many(count), old] });
  const gate = { settings: { spotToSpot: true } };
  const two = (types: readonly InstanceType[]) =>
    clusterOf([spot('a', cpuPod('p', 900)), spot('b', cpuPod('q', 900))], { types });

  it.each<[string, () => MoveCase, readonly string[]]>([
    [
      'no other spot node without the gate',
      () => ({ cluster: at(20, cpuPod('p', 900)) }),
      ['spot-to-spot-off'],
    ],
    [
      'none beside one on demand',
      () => ({
        cluster: at(20, cpuPod('p', 900, asOf('on-demand')), cpuPod('q', 900, asOf('spot'))),
      }),
      ['spot-to-spot-off'],
    ],
    ['one on demand', () => ({ cluster: at(2, cpuPod('p', 900, asOf('on-demand'))) }), ['t00 t01']],
    [
      'one by the gate where fifteen types are cheaper',
      () => ({ cluster: at(15, cpuPod('p', 900)), ...gate }),
      [
        many(15)
          .map(({ name }) => name)
          .join(' '),
      ],
    ],
    [
      'fifteen types of more',
      () => ({ cluster: at(16, cpuPod('p', 900)), ...gate }),
      [
        many(15)
          .map(({ name }) => name)
          .join(' '),
      ],
    ],
    [
      'none where fourteen are',
      () => ({ cluster: at(14, cpuPod('p', 900)), ...gate }),
      ['spot-types-too-few'],
    ],
    [
      'one for two nodes, of any types',
      () => ({ cluster: two([...many(2), old]), gone: ['a', 'b'], ...gate }),
      ['t00 t01 old'],
    ],
    [
      'one for a spot node and one on demand',
      () => {
        const nodes = [spot('a', cpuPod('p', 900)), used('b', 'old', cpuPod('q', 900))];
        return { cluster: clusterOf(nodes, { types: [...many(2), old] }), gone: ['a', 'b'] };
      },
      ['t00 t01 old'],
    ],
    [
      'none where one of several has too few types',
      () => {
        const few = many(3, { family: ['few'] }).map((each) => ({
          ...each,
          name: `x${each.name}`,
        }));
        const pods = [cpuPod('p', 1900), cpuPod('q', 1900, { nodeSelector: { family: 'few' } })];
        const cluster = clusterOf([spot('a', ...pods)], { types: [...many(15), ...few, old] });
        return { cluster, ...gate };
      },
      ['spot-types-too-few'],
    ],
  ])('are replaced by %s', (_, given, types) => {
    expect(openTypes(given())).toEqual(types);
  });

  it('say how many types it takes', () => {
    const { found } = tried({ cluster: at(14, cpuPod('p', 900)), ...gate });
    const why = reason('spot-types-too-few', { least: 15 });
    expect(found).toEqual({ kind: 'refusal', reasons: [why] });
  });

  it('need no gate where nothing is launched', () => {
    const cluster = clusterOf([spot('a', cpuPod('p', 900)), used('b', 'old')], { types: [old] });
    expect(moved({ cluster }).elsewhere).toEqual(new Map([['default/p', 'b']]));
  });
});

describe('the guard on limits of a NodePool', () => {
  const guarded = (name: string, text: string): NodePool =>
    poolOf(name, { annotations: { [LIMITS_GUARD]: text } });
  const upTo = (name: string, cpu: number, limit: number, spec: Partial<PodSpec> = {}): Pod =>
    cpuPod(name, cpu, { limits: { cpu: limit }, ...spec });
  const why = (node: string, share: string, nodePool = 'general') =>
    reason('guard-limits', { nodePool, resource: 'cpu', node, share, allowed: 1 });

  /** Two pods of `a` go to `b`, of another pool, where one is already. */
  const onto = (b: string, guard: string): MoveCase => ({
    cluster: clusterOf(
      [
        used('a', 'm.large', upTo('p', 500, 900), upTo('q', 500, 900)),
        { ...used('b', 'm.large', upTo('r', 500, 400)), pool: b },
      ],
      { types: ON_DEMAND, pools: [guarded('other', guard), poolOf('general')] },
    ),
  });

  it.each<[string, () => MoveCase, () => Reason | undefined]>([
    [
      'holds of the node that takes pods in',
      () => onto('other', 'cpu=1'),
      () => why('b', '1.15', 'other'),
    ],
    ['holds of what is there and comes together', () => onto('other', 'cpu=1.15'), () => undefined],
    ['does not hold of another pool', () => onto('general', 'cpu=1'), () => undefined],
    ['does not hold where the node has no NodePool', () => onto('gone', 'cpu=1'), () => undefined],
    [
      'holds of a node that is launched',
      () => ({
        cluster: clusterOf([used('a', 'm.4xlarge', upTo('p', 500, 1500), upTo('q', 500, 1500))], {
          types: ON_DEMAND,
          pools: [guarded('general', 'cpu=1')],
        }),
      }),
      () => why('a new m.large', '1.50'),
    ],
    [
      'holds of a node that was empty',
      () => ({
        cluster: clusterOf([used('a', 'm.large', upTo('p', 500, 3000)), used('b', 'm.large')], {
          types: ON_DEMAND,
          pools: [guarded('general', 'cpu=1')],
        }),
      }),
      () => why('b', '1.50'),
    ],
    [
      'holds of each node that takes pods in',
      () => ({
        cluster: clusterOf(
          [
            used('a', 'm.xlarge', upTo('p', 1500, 3000), upTo('q', 1600, 1500)),
            used('b', 'm.large'),
            used('c', 'm.large'),
          ],
          { types: ON_DEMAND, pools: [guarded('general', 'cpu=1')] },
        ),
      }),
      () => why('c', '1.50'),
    ],
    [
      'holds of each node that is launched',
      () => {
        const pods = [
          upTo('p', 500, 500, inZone('zone-a')),
          upTo('q', 500, 3000, inZone('zone-b')),
          upTo('r', 500, 500, inZone('zone-c')),
        ];
        const pools = [guarded('general', 'cpu=1')];
        const nodes = [used('a', 'm.4xlarge', ...pods)];
        return { cluster: clusterOf(nodes, { types: ON_DEMAND, pools }) };
      },
      () => why('a new m.large', '1.50'),
    ],
    [
      'does not hold of nodes of which nothing is asked',
      () => ({
        cluster: clusterOf(
          [
            used('a', 'm.large', upTo('p', 500, 900)),
            used('b', 'm.large', upTo('q', 500, 900)),
            used('c', 'm.large', upTo('r', 2000, 9000)),
          ],
          { types: ON_DEMAND, pools: [guarded('general', 'cpu=1')] },
        ),
      }),
      () => undefined,
    ],
  ])('%s', (_, given, expected) => {
    const { found } = tried(given());
    const [why] = found.kind === 'move' ? [] : found.reasons;
    expect(why).toEqual(expected());
  });

  it('is about what pods may use of the new node, as it is launched', () => {
    const pods = [
      upTo('p', 500, 3000, { nodeSelector: { [ZONE]: 'zone-b', [CAPACITY_TYPE]: 'spot' } }),
    ];
    const types = ON_DEMAND.map(({ name, capacity, offerings }) =>
      typeOf(name, (capacity['cpu'] ?? 0) / 1000, 64, offerings[0]?.price ?? 0, { spot: true }),
    ).map((type) => ({
      ...type,
      overhead: { ...type.overhead, kubeReserved: { cpu: 500 } },
      offerings: type.offerings.map((each) =>
        each.zone === 'zone-b' && each.capacityType === 'spot'
          ? each
          : { ...each, capacityOverride: { cpu: 10_000 } },
      ),
    }));
    const pools = [guarded('general', 'cpu=1')];
    const cluster = clusterOf([used('a', 'm.4xlarge', ...pods)], { types, pools });
    expect(tried({ cluster }).found).toEqual({
      kind: 'refusal',
      reasons: [why('a new m.large', '2.00')],
    });
  });
});
