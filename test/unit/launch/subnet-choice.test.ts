import { describe, expect, it } from 'vitest';
import { SubnetBalance } from '../../../shared/core/launch/subnet-choice.ts';

const SUBNETS = [
  { id: 'subnet-1', zone: 'a', freeAddresses: 5 },
  { id: 'subnet-2', zone: 'a', freeAddresses: 9 },
  { id: 'subnet-3', zone: 'b', freeAddresses: 1 },
];

describe('the subnets of a pass', () => {
  it('are in zones, each once', () => {
    expect([...new SubnetBalance(SUBNETS).zones()]).toEqual(['a', 'b']);
    expect(new SubnetBalance([]).zones().size).toBe(0);
  });

  it('are chosen per zone by free addresses, which are counted down', () => {
    const balance = new SubnetBalance(SUBNETS);
    expect(Object.fromEntries(balance.byZone())).toEqual({ a: 'subnet-2', b: 'subnet-3' });
    balance.take('subnet-2', 5);
    expect(balance.byZone().get('a')).toBe('subnet-1');
    balance.take('subnet-1', 2);
    expect(balance.byZone().get('a')).toBe('subnet-2');
    expect(balance.byZone().get('b')).toBe('subnet-3');
  });

  it('are chosen by id where they are equal, in whatever order they come', () => {
    const equal = ['subnet-2', 'subnet-1', 'subnet-3'].map((id) => ({
      id,
      zone: 'a',
      freeAddresses: 5,
    }));
    for (const subnets of [equal, equal.toReversed()]) {
      expect(new SubnetBalance(subnets).byZone().get('a')).toBe('subnet-1');
    }
  });

  it('are not changed by what is launched elsewhere', () => {
    const balance = new SubnetBalance(SUBNETS);
    balance.take('subnet-9', 100);
    expect([...balance.zones()]).toEqual(['a', 'b']);
    expect(balance.byZone().size).toBe(2);
  });
});
