import { describe, expect, it } from 'vitest';
import { reason } from '../../../../shared/core/explain/reason.ts';
import { NODE_POOL, PLAN, ZONE } from '../../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { type Cluster, clusterOf, type Used } from '../../../builders/consolidation.ts';
import { cpuPod, moved, ON_DEMAND, openTypes, tried, used } from '../../../builders/moves.ts';
import { claimOf, GI, poolOf } from '../../../builders/scheduling.ts';

const inZone = (zone: string) => ({ nodeSelector: { [ZONE]: zone } });

describe('limits have room for old and new nodes', () => {
  /** 16 CPUs and 64 GiB go, and at most 8 and 32 GiB come. */
  const limited = (limits: NodePool['limits'], ...more: readonly Used[]): Cluster =>
    clusterOf([used('a', 'm.4xlarge', cpuPod('p', 900)), ...more], {
      types: ON_DEMAND,
      pools: [poolOf('general', { limits }), poolOf('other', { limits: { nodes: 0, cpu: 0 } })],
    });
  const full = (name: string, pool: string): Used => ({
    ...used(name, 'm.large', cpuPod(name, 2000)),
    pool,
  });

  const NONE = 'limits-for-both';
  const ALL = 'm.large m.xlarge m.2xlarge';
  const FEWER = 'm.large m.xlarge';

  it.each<[string, () => Cluster, string]>([
    ['24 CPUs', () => limited({ cpu: 24_000 }), ALL],
    ['less: for smaller ones', () => limited({ cpu: 23_999 }), FEWER],
    ['less than for the smallest', () => limited({ cpu: 17_999 }), NONE],
    ['96 GiB', () => limited({ memory: 96 * GI }), ALL],
    ['less memory: for smaller ones', () => limited({ memory: 96 * GI - 1 }), FEWER],
    ['less memory than for the smallest', () => limited({ memory: 72 * GI - 1 }), NONE],
    ['two nodes', () => limited({ nodes: 2 }), ALL],
    ['one node', () => limited({ nodes: 1 }), NONE],
    ['one of several too small', () => limited({ nodes: 2, cpu: 17_999 }), NONE],
    ['what nodes do not have', () => limited({ 'nvidia.com/gpu': 0 }), ALL],
    ['two nodes beside one of another pool', () => limited({ nodes: 2 }, full('b', 'other')), ALL],
    ['two nodes beside one more', () => limited({ nodes: 2 }, full('b', 'general')), NONE],
    ['three nodes beside one more', () => limited({ nodes: 3 }, full('b', 'general')), ALL],
  ])('%s', (_, cluster, types) => {
    expect(openTypes({ cluster: cluster() })).toEqual([types]);
  });

  it('which a NodeClaim that is not launched yet takes from', () => {
    const size = { cpu: '16', memory: '64Gi', pods: '110' };
    const plan = { type: 'm.4xlarge', zone: 'zone-a', capacityType: 'on-demand', price: 1 };
    const open = claimOf('open', {
      providerId: undefined,
      conditions: [],
      capacity: {},
      allocatable: {},
      labels: { [NODE_POOL]: 'general' },
      annotations: { [PLAN]: JSON.stringify({ ...plan, allocatable: size, capacity: size }) },
      taints: [{ key: 'kept', value: '', effect: 'NoSchedule' }],
    });
    const { snapshot, ...cluster } = limited({ cpu: 33_999 });
    expect(openTypes({ cluster: { ...cluster, snapshot } })).toEqual([ALL]);
    const beside = { ...snapshot, nodeClaims: [...snapshot.nodeClaims, open] };
    expect(openTypes({ cluster: { ...cluster, snapshot: beside } })).toEqual([NONE]);
  });

  it('or are those of another NodePool, which launches the new ones', () => {
    const pools = [poolOf('general', { weight: 10, limits: { nodes: 1 } }), poolOf('other')];
    const nodes = [used('a', 'm.4xlarge', cpuPod('p', 900))];
    const cluster = clusterOf(nodes, { types: ON_DEMAND, pools });
    const { found, ...rest } = tried({ cluster });
    expect(found).toMatchObject({ kind: 'move', replacements: [{ nodePool: 'other' }] });
    expect(rest).toEqual({ plans: 2, isCutShort: false });
    expect(tried({ cluster: limited({ nodes: 1 }) })).toMatchObject(rest);
    const why = reason('limits-for-both', { nodePool: 'general' });
    expect(tried({ cluster, plansMax: 1 })).toEqual({
      found: { kind: 'refusal', reasons: [why] },
      plans: 1,
      isCutShort: true,
    });
  });

  it.each([
    ['the same', 0, 'move'],
    ['lower', 10, 'refusal'],
  ])('or are those of another NodePool of %s weight, for two nodes', (_, weight, kind) => {
    const pools = [poolOf('general', { weight, limits: { nodes: 2 } }), poolOf('other')];
    const full = used('c', 'm.large', cpuPod('c', 2000));
    const nodes = ['a', 'b'].map((name) => used(name, 'm.4xlarge', cpuPod(name, 900)));
    const cluster = clusterOf([...nodes, { ...full, pool: 'other' }], { types: ON_DEMAND, pools });
    expect(tried({ cluster, gone: ['a', 'b'] }).found.kind).toBe(kind);
  });

  it('count the new nodes together', () => {
    const pods = ['zone-a', 'zone-b'].map((zone) => cpuPod(zone, 900, inZone(zone)));
    const at = (nodes: number) =>
      tried({
        cluster: clusterOf([used('a', 'm.4xlarge', ...pods)], {
          types: ON_DEMAND,
          pools: [poolOf('general', { limits: { nodes } })],
        }),
      }).found.kind;
    expect([at(2), at(3)]).toEqual(['refusal', 'move']);
  });

  it('do not matter where nothing is launched', () => {
    const cluster = limited({ nodes: 1 }, used('b', 'm.large'));
    expect(moved({ cluster }).replacements).toEqual([]);
  });
});
