import { expect, it } from 'vitest';
import type { DecisionRecord } from '../../../shared/ports.ts';
import { SimulatedRecorder } from '../../../shared/sim/memory.ts';

const record = (seconds: number, object: string): DecisionRecord => ({
  id: 'unchanged-1',
  atMs: seconds * 1000,
  useCase: 'disrupt',
  object,
  action: 'unchanged',
  reasons: [],
  message: '',
  detail: {},
});

it('a record that is made again is kept once, and each stretch of passes with its first words', async () => {
  const recorder = new SimulatedRecorder();
  // Nothing of it was so between the second minute and the sixth.
  for (const [seconds, object] of [
    [0, 'Node/a'],
    [60, 'Node/a'],
    [300, 'Node/b'],
    [389, 'Node/b'],
  ] as const)
    await recorder.decision(record(seconds, object));
  expect(recorder.decisions).toEqual([record(0, 'Node/a')]);
  expect(recorder.stretches.get('unchanged-1')).toEqual([
    { record: record(0, 'Node/a'), lastMs: 60_000, times: 2 },
    { record: record(300, 'Node/b'), lastMs: 389_000, times: 2 },
  ]);
});
