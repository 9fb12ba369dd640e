import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { clientToken, groupClaims } from '../../../shared/core/launch/fleet-group.ts';
import { allocationStrategy } from '../../../shared/core/launch/launch-request.ts';
import { chooseLaunch } from '../../../shared/core/launch/overrides.ts';
import { sha256 } from '../../../shared/core/launch/sha256.ts';
import { SubnetBalance } from '../../../shared/core/launch/subnet-choice.ts';
import type { InstanceType, Offering } from '../../../shared/core/model/instance-type.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import { aNodeClaim } from './builders.ts';

function offering(capacityType: Offering['capacityType'], price: number, zone = 'a'): Offering {
  return {
    zone,
    zoneId: undefined,
    capacityType,
    price,
    listPrice: price,
    priceOverlay: undefined,
    available: true,
    reservation:
      capacityType === 'reserved' ? { id: 'cr-1', type: 'default', capacity: 2 } : undefined,
    capacityOverride: undefined,
    overheadOverride: undefined,
  };
}

const nothing = { kubeReserved: {}, systemReserved: {}, evictionThreshold: {} };

function type(name: string, offerings: readonly Offering[], labels = {}): InstanceType {
  return {
    name,
    labels,
    capacity: { cpu: 4000, pods: 58 },
    overhead: nothing,
    offerings,
    capacityOverlays: [],
    attachLimits: undefined,
  };
}

const gpu = { 'karpenter.k8s.aws/instance-gpu-count': ['1'] };

function chosen(
  types: readonly InstanceType[],
  requirements: readonly RequirementExpression[] = [],
  cpu = 1000,
): string {
  const choice = chooseLaunch({ requirements, requests: { cpu } }, types, 2);
  if ('stages' in choice) return choice.stages.map(({ left }) => left).join(' ');
  const names = choice.options.map(({ type: { name }, offering: { zone } }) => `${name}/${zone}`);
  return `${choice.capacityType} ${names.join(' ')}`;
}

describe('what is asked of a fleet', () => {
  const onDemand = (name: string, price: number) => type(name, [offering('on-demand', price)]);
  it('takes a key of the user’s for nothing else, whatever it is', () => {
    const own = { key: 'constructor', operator: 'In', values: ['a'] } as const;
    expect(chosen([onDemand('a', 1)], [own])).toBe('on-demand a/a');
  });

  it.each([
    [
      'cheapest first, cut at the number of types',
      [onDemand('c', 3), onDemand('a', 1), onDemand('b', 2)],
      'on-demand a/a b/a',
    ],
    [
      'reserved before spot',
      [type('a', [offering('spot', 1), offering('reserved', 0.1)])],
      'reserved a/a',
    ],
    [
      'spot before on-demand',
      [type('a', [offering('on-demand', 2), offering('spot', 1)])],
      'spot a/a',
    ],
    [
      'spot dearer than on-demand is left out',
      [type('a', [offering('spot', 3)]), onDemand('b', 2)],
      'on-demand b/a',
    ],
    [
      'GPU types only where no other offering fits',
      [type('g', [offering('on-demand', 1)], gpu), onDemand('b', 2)],
      'on-demand b/a',
    ],
    [
      'GPU types where they are all there is',
      [type('g', [offering('on-demand', 1)], gpu)],
      'on-demand g/a',
    ],
    ['nothing large enough: what each filter left', [], '0 0 0 0 0'],
  ] as const)('%s', (_, types, expected) => {
    expect(chosen(types)).toBe(expected);
  });

  it('minValues keep exotic types', () => {
    const types = [type('g', [offering('on-demand', 1)], gpu), onDemand('b', 2)];
    const key = 'node.kubernetes.io/instance-type';
    const flexible = [{ key, operator: 'Exists', values: [], minValues: 2 }] as const;
    expect(chosen(types, flexible)).toBe('on-demand g/a b/a');
  });

  it('says at which filter everything was lost', () => {
    expect(chosen([onDemand('a', 1)], [], 5000)).toBe('1 1 1 1 0');
    const zone = [{ key: 'topology.kubernetes.io/zone', operator: 'In', values: ['z'] }] as const;
    expect(chosen([onDemand('a', 1)], zone)).toBe('1 1 0 0 0');
  });
});

describe('fleet groups', () => {
  it('SHA-256 is SHA-256', () => {
    for (const text of [
      '',
      'abc',
      'ü€𝄞'.repeat(40),
      'a'.repeat(55),
      'a'.repeat(56),
      'a'.repeat(64),
    ]) {
      expect(sha256(text)).toBe(createHash('sha256').update(text).digest('hex'));
    }
  });

  it('the token does not depend on the order of claims, but on the attempt', () => {
    expect(clientToken(['b', 'a'], 0)).toBe(clientToken(['a', 'b'], 0));
    expect(clientToken(['a', 'b'], 1)).not.toBe(clientToken(['a', 'b'], 0));
  });

  it('equal launches share a group, in parts of the largest size', () => {
    const items = ['c', 'a', 'b', 'd'].map((uid) => ({
      claim: aNodeClaim({ uid }),
      same: uid === 'd' ? 'other' : 'equal',
    }));
    const groups = groupClaims(items, 2).map((group) => group.map(({ claim }) => claim.uid));
    expect(groups).toEqual([['a', 'b'], ['c'], ['d']]);
  });

  it.each([
    ['spot', false, 'price-capacity-optimized'],
    ['spot', true, 'capacity-optimized-prioritized'],
    ['on-demand', false, 'lowest-price'],
    ['on-demand', true, 'prioritized'],
    ['reserved', true, 'lowest-price'],
  ] as const)('%s, price overlaid %s: %s', (capacityType, overlaid, strategy) => {
    expect(allocationStrategy(capacityType, overlaid)).toBe(strategy);
  });

  it('takes the subnet with the most free addresses in each zone, counted down', () => {
    const balance = new SubnetBalance([
      { id: 'subnet-1', zone: 'a', freeAddresses: 5 },
      { id: 'subnet-2', zone: 'a', freeAddresses: 9 },
      { id: 'subnet-3', zone: 'b', freeAddresses: 1 },
    ]);
    expect([...balance.byZone()].sort()).toEqual([
      ['a', 'subnet-2'],
      ['b', 'subnet-3'],
    ]);
    balance.take('subnet-2', 5);
    expect(balance.byZone().get('a')).toBe('subnet-1');
  });
});
