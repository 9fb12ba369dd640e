import { describe, expect, it } from 'vitest';
import { ConsolidationMemory } from '../../../shared/app/consolidation-memory.ts';
import { consolidate } from '../../../shared/core/disruption/consolidation/consolidate.ts';
import {
  type Cluster,
  clusterOf,
  consolidationOf,
  type Used,
} from '../../builders/consolidation.ts';
import { podOf, typeOf } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const types = [typeOf('m.large', 2, 8, 0.1)];

const nodes = (count: number, cpu = 900): readonly Used[] =>
  Array.from({ length: count }, (_, at) => ({
    name: `node-${at}`,
    type: 'm.large',
    pods: [podOf(`pod-${at}`, { cpu })],
  }));

const at = (used: readonly Used[]): Cluster => clusterOf(used, { types });
const two = consolidationOf(at(nodes(2)));
const { moves } = consolidate(two);

describe('what moves were to bring', () => {
  it.each<[string, Cluster, number | undefined]>([
    ['came', at(nodes(1)), undefined],
    ['did not come', at(nodes(2)), 5],
    ['cannot be told where more is asked for', at(nodes(3)), undefined],
    ['did not come though less is asked for', at(nodes(2, 800)), 5],
  ])('%s', (_, after, minutes) => {
    const memory = new ConsolidationMemory();
    memory.made(two, moves);
    const until = memory.heldUntil(consolidationOf(after), MINUTE);
    expect(until).toBe(minutes === undefined ? undefined : (1 + minutes) * MINUTE);
  });

  it('is waited for twice as long each time, two hours at most, and at once when it came', () => {
    const memory = new ConsolidationMemory();
    let nowMs = 0;
    const waits: number[] = [];
    for (let round = 0; round < 7; round += 1) {
      memory.made(two, moves);
      const until = memory.heldUntil(two, nowMs) ?? nowMs;
      waits.push((until - nowMs) / MINUTE);
      nowMs = until;
      expect(memory.heldUntil(two, nowMs)).toBeUndefined();
    }
    expect(waits).toEqual([5, 10, 20, 40, 80, 120, 120]);
    memory.made(two, moves);
    expect(memory.heldUntil(consolidationOf(at(nodes(1))), nowMs)).toBeUndefined();
    memory.made(two, moves);
    expect(memory.heldUntil(two, nowMs)).toBe(nowMs + 5 * MINUTE);
  });

  it('is asked once: what is done meanwhile is not measured by it', () => {
    const memory = new ConsolidationMemory();
    memory.made(two, moves);
    expect(memory.heldUntil(two, 0)).toBe(5 * MINUTE);
    expect(memory.heldUntil(two, MINUTE)).toBe(5 * MINUTE);
    expect(memory.heldUntil(two, 5 * MINUTE)).toBeUndefined();
  });
});

describe('a search', () => {
  it('is not made again while nothing changes, and made again when something does', () => {
    const memory = new ConsolidationMemory();
    const full = consolidationOf(at(nodes(2, 1900)));
    expect(memory.recall(full)).toBeUndefined();
    memory.keep(consolidate(full));
    expect([...(memory.recall(full) ?? [])]).not.toEqual([]);
    expect(memory.recall(two)).toBeUndefined();
    expect(memory.recall(full)).toBeUndefined();
  });
});
