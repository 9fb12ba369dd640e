import { describe, expect, it } from 'vitest';
import {
  type ClusterUsage,
  differing,
  fitting,
  heldBy,
  heldByOthers,
  usageText,
  withUsage,
} from '../../../shared/core/limit-groups/group-usage.ts';

function row(nodes: number, pending: readonly string[] = [], caps = 'nodes=9 shared') {
  const claims = pending.map((name) => ({ name, takes: { nodes: 1, cpu: 2000 }, untilMs: 5 }));
  return { used: { nodes, cpu: nodes * 1000 }, pending: claims, caps } satisfies ClusterUsage;
}

const usage = new Map([
  ['blue', row(2, ['a'])],
  ['green', row(3, ['b', 'c'])],
  ['red', row(1)],
]);

describe('what clusters hold of a shared group', () => {
  it('is what they use, and what is pending', () => {
    expect(heldBy(row(3, ['b', 'c']))).toEqual({ nodes: 5, cpu: 7000 });
    expect(heldByOthers(usage, 'blue')).toEqual({ nodes: 6, cpu: 8000 });
    expect(heldByOthers(usage, 'new')).toEqual({ nodes: 9, cpu: 12_000 });
  });

  it('loses the row of a cluster that holds nothing', () => {
    expect([...withUsage(usage, 'red', row(0)).keys()]).toEqual(['blue', 'green']);
    expect([...withUsage(usage, 'red', row(0, ['d'])).keys()]).toEqual(['blue', 'green', 'red']);
    expect([...withUsage(usage, 'a', row(1)).keys()]).toEqual(['a', 'blue', 'green', 'red']);
  });

  it('is the same text in any order', () => {
    const other = { ...row(1, ['b', 'a']), used: { cpu: 1000, nodes: 1, memory: 0 } };
    expect(usageText(other)).toBe(usageText(row(1, ['a', 'b'])));
    expect(usageText(row(2))).not.toBe(usageText(row(1)));
    expect(usageText(row(1, ['a']))).not.toBe(usageText(row(1)));
    expect(usageText(undefined)).toBe('');
  });

  it('says who states other caps', () => {
    const mixed = new Map([...usage, ['red', row(1, [], 'nodes=5 shared')] as const]);
    expect(differing(mixed, 'blue', 'nodes=9 shared')).toEqual([['red', 'nodes=5 shared']]);
    expect(differing(usage, 'blue', 'nodes=9 shared')).toEqual([]);
  });
});

describe('NodeClaims for which there is room', () => {
  const wanted = ['a', 'b', 'c'].map((name, at) => ({
    name,
    takes: { nodes: 1, cpu: 1000 * (3 - at) },
    untilMs: 5,
  }));

  it.each([
    [{ nodes: 9 }, { nodes: 7 }, ['a', 'b']],
    [{ nodes: 9 }, { nodes: 9 }, []],
    // One that is too large leaves the room to those after it.
    [{ nodes: 9, cpu: 4000 }, { nodes: 1, cpu: 2000 }, ['b']],
    [{ cpu: 4000 }, { cpu: 3000 }, ['c']],
    [{ memory: 5 }, { memory: 9 }, ['a', 'b', 'c']],
  ])('caps %j, held %j: %j', (caps, held, names) => {
    expect(fitting({ caps }, held, wanted).map(({ name }) => name)).toEqual(names);
  });
});
