import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { efaCards } from '../../../shared/catalog/compatibility.ts';
import { repriced } from '../../../shared/catalog/facts.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import {
  type AvailableReservation,
  DEFAULT_KUBELET,
  DEFAULT_LAUNCH_SETTINGS,
  type LaunchSettings,
} from '../../../shared/catalog/settings.ts';
import { instanceLabels } from '../../../shared/core/instance-types/instance-labels.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { TENANCY, WELL_KNOWN_LABELS } from '../../../shared/core/model/labels.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;
const virginia = await loadCatalog('us-east-1');
const oregon = await loadCatalog('us-west-2');

function types(settings: Partial<LaunchSettings> = {}, catalog = virginia) {
  return instanceTypesFor(catalog, {
    ...DEFAULT_LAUNCH_SETTINGS,
    zones: catalog.zones,
    ...settings,
  });
}

function type(name: string, settings: Partial<LaunchSettings> = {}, catalog = virginia) {
  const found = types(settings, catalog).find((each) => each.name === name);
  if (found === undefined) throw new Error(`${name} is not offered`);
  return found;
}

const names = (list: readonly InstanceType[]): readonly string[] => list.map((each) => each.name);
const label = (name: string) => `karpenter.k8s.aws/instance-${name}`;

describe('labels', () => {
  test('of a GPU type', () => {
    expect(type('g5.12xlarge').labels).toMatchObject({
      'node.kubernetes.io/instance-type': ['g5.12xlarge'],
      'kubernetes.io/arch': ['amd64'],
      'kubernetes.io/os': ['linux'],
      'topology.kubernetes.io/region': ['us-east-1'],
      'karpenter.sh/capacity-type': ['on-demand', 'spot'],
      'node.kubernetes.io/windows-build': null,
      'karpenter.k8s.aws/capacity-reservation-id': null,
      'karpenter.k8s.aws/instance-tenancy': ['default', 'dedicated'],
      [label('category')]: ['g'],
      [label('generation')]: ['5'],
      [label('family')]: ['g5'],
      [label('size')]: ['12xlarge'],
      [label('cpu')]: ['48'],
      [label('cpu-manufacturer')]: ['amd'],
      [label('memory')]: ['196608'],
      [label('local-nvme')]: ['3800'],
      [label('gpu-name')]: ['a10g'],
      [label('gpu-manufacturer')]: ['nvidia'],
      [label('gpu-count')]: ['4'],
      [label('gpu-memory')]: ['22888'],
      [label('accelerator-count')]: null,
      [label('hypervisor')]: ['nitro'],
    });
  });

  test.each([
    ['u-6tb1.112xlarge', 'u', '1', 'u-6tb1', '112xlarge'],
    ['m7i-flex.large', 'm', '7', 'm7i-flex', 'large'],
    ['inf2.xlarge', 'inf', '2', 'inf2', 'xlarge'],
    ['x2gd.metal', 'x', '2', 'x2gd', 'metal'],
    ['im4gn.large', 'im', '4', 'im4gn', 'large'],
  ])('category, generation, family and size of %s', (name, category, generation, family, size) => {
    expect(type(name).labels).toMatchObject({
      [label('category')]: [category],
      [label('generation')]: [generation],
      [label('family')]: [family],
      [label('size')]: [size],
    });
  });

  // The other well-known labels: of the pool the nodes' own, of what was bought the offerings'.
  test.each(['g5.xlarge', 'm7i-flex.large', 'inf2.xlarge'])(
    'every well-known label is described for %s, if only as absent',
    (name) => {
      const described = Object.keys(type(name).labels);
      const ofPool = ['karpenter.sh/nodepool'];
      expect([...described, ...ofPool].sort()).toEqual([...WELL_KNOWN_LABELS].sort());
    },
  );

  test('what is described is what a node of it is given when it registers', () => {
    const found = type('g5.xlarge');
    const [offering] = found.offerings;
    if (offering === undefined) throw new Error('g5.xlarge is not offered');
    const given = instanceLabels(found, offering, 'us-east-1');
    const some = Object.entries(found.labels).filter(([, values]) => values !== null);
    // Of the tenancies that a type has it is the claim that says which.
    const expected = some.map(([key]) => key).filter((key) => key !== TENANCY);
    expect(Object.keys(given).sort()).toEqual(expected.sort());
  });

  test('device names become label values', () => {
    expect(type('inf2.48xlarge').labels).toMatchObject({
      [label('accelerator-name')]: ['inferentia2'],
      [label('accelerator-manufacturer')]: ['aws'],
      [label('accelerator-count')]: ['12'],
      [label('gpu-count')]: null,
    });
    const priced = repriced(virginia, [
      { instanceType: 'g7.2xlarge', capacityType: 'on-demand', zone: undefined, price: 2 },
    ]);
    expect(type('g7.2xlarge', {}, priced).labels[label('gpu-name')]).toEqual(['rtx-pro-4500']);
  });

  test('two kinds of GPU in one type leave the GPU labels off but count both', () => {
    const [gpu] = virginia.types.find((each) => each.name === 'g5.xlarge')?.gpus ?? [];
    const twice = virginia.types.map((each) =>
      each.name === 'g5.xlarge' && gpu !== undefined
        ? { ...each, gpus: [gpu, { ...gpu, name: 'Other' }] }
        : each,
    );
    const found = type('g5.xlarge', {}, { ...virginia, types: twice });
    expect(found.labels[label('gpu-name')]).toBeNull();
    expect(found.labels[label('gpu-count')]).toBeNull();
    expect(found.capacity['nvidia.com/gpu']).toBe(2);
  });

  test('zones and their ids are those of the subnets', () => {
    const zones = [{ zone: 'us-east-1b', zoneId: 'use1-az4' }];
    const found = type('m5.large', { zones });
    expect(found.labels['topology.kubernetes.io/zone']).toEqual(['us-east-1b']);
    expect(found.labels['topology.k8s.aws/zone-id']).toEqual(['use1-az4']);
    expect(new Set(found.offerings.map((each) => each.zone))).toEqual(new Set(['us-east-1b']));
  });
});

describe('capacity', () => {
  test.each([
    ['p5.48xlarge', { 'nvidia.com/gpu': 8, 'vpc.amazonaws.com/efa': 32 }],
    ['inf2.48xlarge', { 'aws.amazon.com/neuron': 12, 'aws.amazon.com/neuroncore': 24 }],
    ['trn1.32xlarge', { 'aws.amazon.com/neuron': 16, 'aws.amazon.com/neuroncore': 32 }],
    ['m5.large', { 'vpc.amazonaws.com/pod-eni': 9 }],
  ])('%s has %o', (name, expected) => {
    expect(type(name).capacity).toMatchObject(expected);
  });

  test('a device that the type lacks is not named', () => {
    expect(Object.keys(type('m5.large').capacity).sort()).toEqual([
      'cpu',
      'ephemeral-storage',
      'memory',
      'pods',
      'vpc.amazonaws.com/pod-eni',
    ]);
  });

  test('pods: maxPods, podsPerCore, reserved interfaces', () => {
    const pods = (settings: Partial<LaunchSettings>) => type('m5.large', settings).capacity['pods'];
    const kubelet = { ...DEFAULT_KUBELET, maxPods: 110 };
    expect(pods({ kubelet })).toBe(110);
    expect(pods({ kubelet: { ...kubelet, podsPerCore: 10 } })).toBe(20);
    expect(pods({ kubelet: { ...kubelet, podsPerCore: 0 } })).toBe(110);
    expect(pods({ imageFamily: 'Bottlerocket', kubelet: { ...kubelet, podsPerCore: 10 } })).toBe(
      110,
    );
    expect(pods({ reservedNetworkInterfaces: 1 })).toBe(2 * 9 + 2);
    expect(pods({ reservedNetworkInterfaces: 3 })).toBe(0);
  });

  test('memory for the kubelet follows the interfaces, on Bottlerocket the pods', () => {
    const kubelet = { ...DEFAULT_KUBELET, maxPods: 110 };
    const reserved = (settings: Partial<LaunchSettings>) =>
      type('m5.large', settings).overhead.kubeReserved['memory'];
    expect(reserved({ kubelet, reservedNetworkInterfaces: 1 })).toBe((11 * 29 + 255) * MIB);
    expect(reserved({ kubelet, imageFamily: 'Bottlerocket' })).toBe((11 * 110 + 255) * MIB);
  });

  test('kubelet reservations and thresholds', () => {
    const kubelet = {
      ...DEFAULT_KUBELET,
      kubeReserved: { cpu: 200 },
      systemReserved: { memory: 256 * MIB },
      memoryAvailable: { percent: 5 },
      storageAvailable: { percent: 100 },
    };
    const { overhead, capacity } = type('m5.large', { kubelet });
    expect(overhead).toEqual({
      kubeReserved: { cpu: 200, memory: 574 * MIB, 'ephemeral-storage': GIB },
      systemReserved: { memory: 256 * MIB },
      evictionThreshold: {
        memory: Math.ceil((capacity['memory'] ?? 0) * 0.05),
        'ephemeral-storage': 0,
      },
    });
  });

  test('the memory share that the hypervisor keeps can be set', () => {
    expect(type('m5.large', { memoryOverhead: 0 }).capacity['memory']).toBe(8192 * MIB);
    expect(type('m7g.large', { memoryOverhead: 0 }).capacity['memory']).toBe(8128 * MIB);
  });

  const root = { deviceName: '/dev/sdz', rootVolume: true, volumeSize: 70 * GIB };
  const data = { deviceName: '/dev/xvda', rootVolume: false, volumeSize: 100 * GIB };
  const other = { deviceName: '/dev/xvdb', rootVolume: false, volumeSize: 50 * GIB };
  test.each<[string, Partial<LaunchSettings>, number]>([
    ['default', {}, 20 * GIB],
    ['the family device', { blockDevices: [data, other] }, 100 * GIB],
    ['the root volume first', { blockDevices: [data, root] }, 70 * GIB],
    ['Bottlerocket data', { imageFamily: 'Bottlerocket', blockDevices: [data, other] }, 50 * GIB],
    ['Custom: the last', { imageFamily: 'Custom', blockDevices: [data, other] }, 50 * GIB],
    ['Windows', { imageFamily: 'Windows2022' }, 50 * GIB],
    ['RAID of local disks', { instanceStoreRaid: true, blockDevices: [root] }, 75e9],
  ])('storage: %s', (_, settings, expected) => {
    expect(type('m5d.large', settings).capacity['ephemeral-storage']).toBe(expected);
  });

  test('EFA-only interfaces take an interface from pods and set the EFA count', () => {
    const networkInterfaces = [
      { networkCardIndex: 0, deviceIndex: 0, efaOnly: false },
      { networkCardIndex: 0, deviceIndex: 1, efaOnly: true },
    ];
    const { capacity } = type('c5n.18xlarge', { networkInterfaces });
    expect(capacity['vpc.amazonaws.com/efa']).toBe(1);
    expect(capacity['pods']).toBe(14 * 49 + 2);
  });
});

describe('Windows', () => {
  test.each([
    ['Windows2019', '10.0.17763'],
    ['Windows2022', '10.0.20348'],
    ['Windows2025', '10.0.26100'],
  ] as const)('%s', (imageFamily, build) => {
    const found = type('m5.large', { imageFamily });
    expect(found.labels['kubernetes.io/os']).toEqual(['windows']);
    expect(found.labels['node.kubernetes.io/windows-build']).toEqual([build]);
    expect(found.capacity['vpc.amazonaws.com/PrivateIPv4Address']).toBe(9);
    expect(names(types({ imageFamily }))).not.toContain('m7g.large');
  });
});

describe('which types a class can launch', () => {
  test('Mac types never', () => {
    expect(names(types()).filter((name) => name.startsWith('mac'))).toEqual([]);
  });

  test('the first Graviton not with AL2023', () => {
    expect(names(types())).not.toContain('a1.large');
    expect(names(types({ imageFamily: 'Bottlerocket' }))).toContain('a1.large');
  });

  test('connection tracking: Nitro only', () => {
    const found = names(types({ connectionTracking: true }));
    expect(found).toContain('m5.large');
    expect(found).not.toContain('m4.large');
    expect(found).not.toContain('m5.metal');
  });

  test('nested virtualization: families that have it', () => {
    const found = names(types({ nestedVirtualization: true }));
    expect(found).toContain('m8i.large');
    expect(found).toContain('c8i-flex.large');
    expect(found.every((name) => /^[cmr]8i(-flex)?\./.test(name))).toBe(true);
    expect(found.filter((name) => name.includes('metal'))).toEqual([]);
  });

  test('network interfaces: cards, device indexes and EFA must fit', () => {
    const card = (networkCardIndex: number, deviceIndex: number, efaOnly = false) => ({
      networkCardIndex,
      deviceIndex,
      efaOnly,
    });
    const first = card(0, 0);
    expect(names(types({ networkInterfaces: [first, card(1, 1)] }))).not.toContain('m5.large');
    expect(names(types({ networkInterfaces: [first, card(1, 1)] }))).toContain('p4d.24xlarge');
    expect(names(types({ networkInterfaces: [first, card(0, 3)] }))).not.toContain('m5.large');
    expect(names(types({ networkInterfaces: [first, card(0, 2)] }))).toContain('m5.large');
    expect(names(types({ networkInterfaces: [first, card(0, 1, true)] }))).not.toContain(
      'm5.large',
    );
    expect(names(types({ networkInterfaces: [first] }))).not.toContain('m4.large');
  });

  test.each([
    ['m5.large', undefined, undefined, 0],
    ['i7ie.48xlarge', 0, 0, 1],
    ['p5.48xlarge', 0, 31, 32],
    ['p6-b300.48xlarge', 1, 16, 16],
  ])('%s takes EFA on its cards %s to %s', (name, first, last, count) => {
    const facts = [...virginia.types, ...oregon.types].find((each) => each.name === name);
    const cards = facts && efaCards(facts);
    expect([cards?.at(0), cards?.at(-1), cards?.length]).toEqual([first, last, count]);
  });
});

describe('offerings', () => {
  test('by zone and capacity type, spot by the zone rule', () => {
    const facts = virginia.types.find((each) => each.name === 'g5.12xlarge');
    const { offerings } = type('g5.12xlarge');
    expect(offerings.map((each) => [each.zone, each.capacityType, each.price])).toEqual(
      (facts?.zones ?? []).flatMap((zone) => [
        [zone, 'on-demand', 5.672],
        [zone, 'spot', facts?.spotPrices[zone]],
      ]),
    );
    expect(offerings.every((each) => each.available && each.price === each.listPrice)).toBe(true);
  });

  test('nothing without a price', () => {
    const priceless = oregon.types.find((each) => each.name === 'g6f.large');
    expect(priceless?.onDemandPrice).toBeUndefined();
    expect(names(types({}, oregon))).not.toContain('g6f.large');
  });

  const reservation: AvailableReservation = {
    id: 'cr-0123456789abcdef0',
    instanceType: 'm5.large',
    zone: 'us-east-1b',
    ownerID: '123456789012',
    instanceMatchCriteria: 'targeted',
    reservationType: 'default',
    interruptible: false,
    state: 'active',
    endsAtMs: undefined,
    available: 3,
  };

  test('a reservation is one more offering in its zone, nearly free', () => {
    const found = type('m5.large', { reservations: [reservation] });
    expect(found.offerings.filter((each) => each.capacityType === 'reserved')).toMatchObject([
      {
        zone: 'us-east-1b',
        price: 0.096 / 10_000_000,
        available: true,
        reservation: { id: reservation.id, type: 'default', capacity: 3 },
      },
    ]);
    expect(found.labels).toMatchObject({
      'karpenter.sh/capacity-type': ['on-demand', 'reserved', 'spot'],
      'karpenter.k8s.aws/capacity-reservation-id': [reservation.id],
      'karpenter.k8s.aws/capacity-reservation-type': ['default'],
      'karpenter.k8s.aws/capacity-reservation-interruptible': ['false'],
    });
    expect(type('m5.xlarge', { reservations: [reservation] }).labels).toMatchObject({
      'karpenter.sh/capacity-type': ['on-demand', 'spot'],
    });
  });

  test.each([{ available: 0 }, { state: 'expiring' as const }])('barred: %o', (change) => {
    const found = type('m5.large', { reservations: [{ ...reservation, ...change }] });
    const reserved = found.offerings.filter((each) => each.capacityType === 'reserved');
    expect(reserved.map((each) => each.available)).toEqual([false]);
  });

  test('changed prices hold for the zones named', () => {
    const changed = repriced(virginia, [
      { instanceType: 'm5.large', capacityType: 'on-demand', zone: undefined, price: 9 },
      { instanceType: 'm5.large', capacityType: 'spot', zone: 'us-east-1b', price: 5 },
    ]);
    const prices = type('m5.large', {}, changed).offerings.filter(
      (each) => each.zone === 'us-east-1b',
    );
    expect(prices.map((each) => each.price)).toEqual([9, 5]);
    const before = type('m5.large').offerings.find((each) => each.capacityType === 'spot');
    const after = type('m5.large', {}, changed).offerings.find(
      (each) => each.capacityType === 'spot',
    );
    expect(after?.price).toBe(before?.price);
  });
});

describe('sharing', () => {
  test('equal settings share one result, whatever the order of their lists', () => {
    const reversed = [...virginia.zones].reverse();
    expect(types({ zones: reversed })).toBe(types());
    expect(types({ imageFamily: 'AL2' })).not.toBe(types());
  });
});
