import { expect, it } from 'vitest';
import { ReturnMemory } from '../../../../shared/app/disrupt/return-memory.ts';
import { reason } from '../../../../shared/core/explain/reason.ts';
import { podOf, snapshotOf } from '../../../builders/scheduling.ts';

const MINUTE = 60_000;

it('remembers why nodes stay while the cluster is the same', () => {
  const memory = new ReturnMemory();
  const snapshot = snapshotOf({ pods: [podOf('web', { cpu: 100 })] });
  memory.recall(snapshot).set('a', reason('fallback-not-needed', {}));
  expect([...memory.recall({ ...snapshot }).keys()]).toEqual(['a']);
  const others = snapshotOf({ pods: [podOf('web', { cpu: 200 })] });
  expect([...memory.recall(others).keys()]).toEqual([]);
});

it('waits twice as long after each failure, up to an hour, and no more after a success', () => {
  const memory = new ReturnMemory();
  const waits = Array.from({ length: 6 }, () => {
    memory.fail('general', 0);
    return memory.waitsUntilMs('general') / MINUTE;
  });
  expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
  expect(memory.waitsUntilMs('other')).toBe(0);
  memory.succeed('general');
  expect(memory.waitsUntilMs('general')).toBe(0);
});
