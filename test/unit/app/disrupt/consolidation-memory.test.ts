import { describe, expect, it } from 'vitest';
import { ConsolidationMemory } from '../../../../shared/app/disrupt/consolidation-memory.ts';
import { consolidate } from '../../../../shared/core/disruption/consolidation/consolidate.ts';
import type { Consolidated } from '../../../../shared/core/disruption/consolidation/search.ts';
import type { MeteredUsage } from '../../../../shared/core/disruption/consolidation/usage-guard.ts';
import { USAGE_GUARD } from '../../../../shared/core/model/labels.ts';
import type { NodePool } from '../../../../shared/core/model/provisioning.ts';
import { clusterOf, consolidationOf } from '../../../builders/consolidation.ts';
import { cpuPod, ON_DEMAND, used } from '../../../builders/moves.ts';
import { poolOf } from '../../../builders/scheduling.ts';

it('a search waits while pods come and go, for two passes at most', () => {
  const memory = new ConsolidationMemory();
  const passes = [true, true, true, true, false, true];
  expect(passes.map((isUnsettled) => memory.postpones(isUnsettled))).toEqual([
    true,
    true,
    false,
    true,
    false,
    true,
  ]);
});

describe('what was refused by usage', () => {
  const full = (name: string) => used(name, 'm.large', cpuPod(name, 900));
  const inputAt = (turn: number, pool: NodePool, usage?: MeteredUsage) => {
    // A node that is full, of a NodePool without a guard, stays whatever is used.
    const other = { ...used('c', 'm.large', cpuPod('c', 1900)), pool: 'other' };
    const pools = [pool, poolOf('other')];
    const cluster = clusterOf([full('a'), full('b'), other], { types: ON_DEMAND, pools });
    return { ...consolidationOf(cluster), turn, usage };
  };
  const guarded = poolOf('general', { annotations: { [USAGE_GUARD]: 'cpu=0.5' } });
  const busy: MeteredUsage = { kind: 'metered', pods: new Map([['default/a', { cpu: 901 }]]) };
  const missing: MeteredUsage = { kind: 'missing', why: 'metrics.k8s.io is not served' };

  /** A search in this turn, as a pass does it; what it goes by that is known. */
  function search(memory: ConsolidationMemory, turn: number, usage: MeteredUsage): Consolidated {
    const input = { ...inputAt(turn, guarded, usage), known: memory.known };
    const found = consolidate(input);
    memory.keep(found, turn);
    return found;
  }

  it.each<[string, MeteredUsage]>([
    ['that pods use too much', busy],
    ['that nobody knows', missing],
  ])('for the reason %s holds for five minutes', (_, usage) => {
    const memory = new ConsolidationMemory();
    expect(memory.recall(inputAt(10, guarded))).toBeUndefined();
    expect(search(memory, 10, usage).isExhausted).toBe(true);
    for (const turn of [11, 14]) expect(memory.recall(inputAt(turn, guarded))).toBeDefined();
    const version = memory.version;
    expect(memory.recall(inputAt(15, guarded))).toBeUndefined();
    expect(memory.version).toBe(version);
    // And again from then on.
    search(memory, 15, usage);
    expect(memory.recall(inputAt(19, guarded))).toBeDefined();
    expect(memory.recall(inputAt(20, guarded))).toBeUndefined();
  });

  it('is looked at again, and nothing else is', () => {
    const memory = new ConsolidationMemory();
    memory.recall(inputAt(0, guarded));
    const { refusals } = search(memory, 0, busy);
    const named = (code: string) =>
      [...refusals].filter(([, why]) => why.some((each) => each.code === code)).length;
    expect(named('guard-usage')).toBeGreaterThan(0);
    expect(named('guard-usage')).toBeLessThan(refusals.size);
    memory.recall(inputAt(5, guarded));
    expect(memory.known.size).toBe(refusals.size - named('guard-usage'));
  });

  it('is nothing without a guard: what was found holds as long as nothing changes', () => {
    const memory = new ConsolidationMemory();
    const never = poolOf('general', { annotations: { 'joiner.dev/limits-guard': 'cpu=0.1' } });
    memory.recall(inputAt(0, never));
    memory.keep(consolidate(inputAt(0, never)), 0);
    expect(memory.recall(inputAt(1_000, never))).toBeDefined();
  });
});

describe('a search while few nodes may go at once', () => {
  const nodes = ['a', 'b', 'c'].map((name) => used(name, 'm.large', cpuPod(name, 1900)));
  const cluster = clusterOf(nodes, { types: ON_DEMAND, pools: [poolOf('general')] });
  const inputOf = (nodesMax: number) => ({ ...consolidationOf(cluster), nodesMax, turn: 0 });
  function search(memory: ConsolidationMemory, nodesMax: number): Consolidated {
    const found = consolidate({ ...inputOf(nodesMax), known: memory.known });
    memory.keep(found, 0);
    return found;
  }

  it('is not the last one: with more of them it is made again, with what is known', () => {
    const memory = new ConsolidationMemory();
    expect(memory.recall(inputOf(0))).toBeUndefined();
    expect(search(memory, 0).isExhausted).toBe(true);
    expect(memory.recall(inputOf(0))).toBeDefined();
    const { version } = memory;
    expect(memory.recall(inputOf(1))).toBeUndefined();
    expect(memory.version).toBeGreaterThan(version);
    const { refusals } = search(memory, 1);
    expect(memory.recall(inputOf(10))).toBeUndefined();
    expect(refusals.size).toBeGreaterThan(0);
    expect(memory.known).toEqual(refusals);
  });

  it('is the last one with fewer, or with more than there are', () => {
    const memory = new ConsolidationMemory();
    memory.recall(inputOf(3));
    expect(search(memory, 3).isExhausted).toBe(true);
    const { version } = memory;
    expect(memory.recall(inputOf(10))).toBeDefined();
    expect(memory.version).toBe(version);
    for (const nodesMax of [1, 0, 2, 3]) expect(memory.recall(inputOf(nodesMax))).toBeDefined();
  });
});
