import { describe, expect, it } from 'vitest';
import { decodeCase, type SchedulingCase } from '../../../shared/api/case/decode.ts';
import { aCase } from '../../cli/manifests.ts';

function decoded(changes: Readonly<Record<string, unknown>> = {}): SchedulingCase {
  const result = decodeCase({ ...aCase(), ...changes });
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.value;
}

function issuesOf(changes: Readonly<Record<string, unknown>>): readonly string[] {
  const result = decodeCase({ ...aCase(), ...changes });
  return result.ok ? [] : result.issues.map(({ path, message }) => `${path} ${message}`);
}

function pod(name: string, more: object = {}): object {
  return { metadata: { name }, spec: { containers: [{}] }, ...more };
}

function nodePool(name: string, kind = 'EC2NodeClass'): object {
  const nodeClassRef = { group: 'karpenter.k8s.aws', kind, name: 'default' };
  return { metadata: { name }, spec: { template: { spec: { requirements: [], nodeClassRef } } } };
}

function type(name: string, more: object = {}): object {
  const offerings = [{ zone: 'a', capacityType: 'spot', price: 1 }];
  return { name, capacity: { cpu: '2' }, offerings, ...more };
}

describe('what a case may leave out', () => {
  it('a time, a name and options', () => {
    const { name, nowMs, settings } = decoded({ name: undefined, options: undefined });
    expect(name).toBe('');
    expect(nowMs).toBe(Date.UTC(2026, 0, 1));
    expect(settings).toMatchObject({ preferencePolicy: 'Respect', nodeOverlay: true });
    expect(settings.effort).toBe('normal');
  });

  it('options are settings', () => {
    const options = {
      preferencePolicy: 'Ignore',
      minValuesPolicy: 'BestEffort',
      reservedCapacity: false,
      reservedFallback: true,
      nodeOverlay: false,
      truncateTo: 7,
      now: '2026-02-01T00:00:00Z',
    };
    const { nowMs, settings } = decoded({ options });
    expect(nowMs).toBe(Date.UTC(2026, 1, 1));
    expect(settings).toMatchObject({
      preferencePolicy: 'Ignore',
      minValuesPolicy: 'BestEffort',
      reservedCapacity: false,
      reservedFallback: true,
      nodeOverlay: false,
      instanceTypesMax: 7,
    });
  });

  it('the status of a pod: pending and unschedulable, or running where it has a node', () => {
    const { pods } = decoded({
      pods: [pod('a'), pod('b', { spec: { nodeName: 'node', containers: [] } })],
    }).snapshot;
    expect(pods).toMatchObject([
      { uid: 'default/a', namespace: 'default', phase: 'Pending', unschedulable: true },
      { uid: 'default/b', nodeName: 'node', phase: 'Running' },
    ]);
  });

  it('a pod that says it was not found unschedulable is believed', () => {
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'SchedulingGated' }];
    const { pods } = decoded({ pods: [pod('a', { status: { conditions } })] }).snapshot;
    expect(pods[0]?.unschedulable).toBe(false);
  });

  it('a node’s provider id and allocatable', () => {
    const nodes = [{ metadata: { name: 'n' }, status: { capacity: { cpu: '4' } } }];
    const [node] = decoded({ nodes }).snapshot.nodes;
    expect(node?.providerId).toBe('case:///n');
    expect(node?.allocatable).toEqual({ cpu: 4000 });
  });

  it('overhead, availability and NodePools of a type', () => {
    const { instanceTypes } = decoded({ instanceTypes: [type('t')] }).snapshot;
    const [only] = instanceTypes.get('general') ?? [];
    expect(only).toMatchObject({ name: 't', overhead: { kubeReserved: {} } });
    expect(only?.offerings).toMatchObject([{ available: true, price: 1, listPrice: 1 }]);
  });
});

describe('instance types of NodePools', () => {
  it('a type may be restricted to some pools; pools with the same types share them', () => {
    const { instanceTypes } = decoded({
      nodePools: [nodePool('a'), nodePool('b'), nodePool('c')],
      instanceTypes: [type('all'), type('some', { nodePools: ['c'] })],
    }).snapshot;
    const names = [...instanceTypes].map(([pool, types]) => [pool, types.map(({ name }) => name)]);
    expect(names).toEqual([
      ['a', ['all']],
      ['b', ['all']],
      ['c', ['all', 'some']],
    ]);
    expect(instanceTypes.get('a')).toBe(instanceTypes.get('b'));
  });

  it('an empty list of values means that the type never has the label', () => {
    const requirements = { team: [], 'kubernetes.io/arch': ['arm64'] };
    const { instanceTypes } = decoded({ instanceTypes: [type('t', { requirements })] }).snapshot;
    expect(instanceTypes.get('general')?.[0]?.labels).toEqual({
      team: null,
      'kubernetes.io/arch': ['arm64'],
    });
  });

  it.each([
    [['us-west-2a', 'us-west-2b'], ['us-west-2']],
    [['us-west-2a', 'us-west-2-lax-1a'], ['us-west-2']],
    [['us-gov-east-1b'], ['us-gov-east-1']],
    [['us-west-2a', 'eu-west-1a'], undefined],
    [['test-zone'], undefined],
  ])('zones tell the region: %j', (zones, region) => {
    const offerings = zones.map((zone) => ({ zone, capacityType: 'spot', price: 1 }));
    const labelsOf = (more: object) =>
      decoded({ instanceTypes: [type('t', { offerings, ...more })] }).snapshot.instanceTypes.get(
        'general',
      )?.[0]?.labels['topology.kubernetes.io/region'];
    expect(labelsOf({})).toEqual(region);
    expect(labelsOf({ requirements: { 'topology.kubernetes.io/region': ['x'] } })).toEqual(['x']);
  });
});

describe('objects that are left out', () => {
  it('what the API server would refuse is rejected, with its reasons', () => {
    const spec = { requirements: [], price: '1', priceAdjustment: '+1' };
    const { snapshot, rejected } = decoded({
      nodeOverlays: [{ metadata: { name: 'both' }, spec }],
    });
    expect(snapshot.nodeOverlays).toEqual([]);
    expect(rejected).toEqual({
      'NodeOverlay/both': ["spec cannot set both 'price' and 'priceAdjustment'"],
    });
  });

  it('NodePools of node classes that are not ours are not managed', () => {
    const { snapshot, rejected } = decoded({
      nodePools: [nodePool('ours'), nodePool('theirs', 'NodeClass')],
    });
    expect(snapshot.nodePools.map(({ name }) => name)).toEqual(['ours']);
    expect(rejected).toEqual({});
  });
});

describe('cases that are refused', () => {
  it.each([
    [
      'a price that is not finite',
      {
        instanceTypes: [
          type('t', { offerings: [{ zone: 'a', capacityType: 'spot', price: Number.NaN }] }),
        ],
      },
      'instanceTypes[0].offerings[0].price',
    ],
    [
      'an unknown field of a type',
      { instanceTypes: [type('t', { cores: 2 })] },
      'instanceTypes[0].cores is not a known field',
    ],
    [
      'a resource amount below 0',
      { instanceTypes: [type('t', { capacity: { cpu: '-2' } })] },
      'instanceTypes[0].capacity.cpu must not be negative',
    ],
    [
      'an unknown field of an overlay',
      { nodeOverlays: [{ metadata: { name: 'o' }, spec: { requirements: [], cost: 1 } }] },
      'nodeOverlays[0].spec.cost is not a known field',
    ],
    [
      'two nodes of one name',
      { nodes: [{ metadata: { name: 'n' } }, { metadata: { name: 'n' } }] },
      'nodes[1].metadata.name is the second Node/n',
    ],
    ['a time that is none', { options: { now: 'noon' } }, 'options.now'],
    [
      'more pods than a case may have',
      { pods: Array.from({ length: 1_000_001 }, () => ({})) },
      'pods must have at most 1000000 items',
    ],
  ])('%s', (_, changes, says) => {
    expect(issuesOf(changes).some((each) => each.includes(says))).toBe(true);
  });
});
