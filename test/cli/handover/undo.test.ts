import { describe, expect, it } from 'vitest';
import type { HandoverRecord } from '../../../cli/handover/record.ts';
import { whyNothingToUndo } from '../../../cli/handover/session.ts';
import { TO_JOINER } from '../../../cli/handover/to-joiner.ts';
import type { Position } from '../../../cli/handover/walk.ts';
import { joiner } from '../run.ts';
import { karpenter, positionWith } from './state.ts';

function record(to: HandoverRecord['to'], state: HandoverRecord['state']): Partial<Position> {
  return { record: { to, state, startedAt: '2026-01-01T00:00:00Z', pauses: {} } };
}

describe('what --undo takes back', () => {
  const NONE = 'nothing to undo: no hand-over has begun in this cluster';
  it.each<[string, Partial<Position>, string | undefined, string | undefined]>([
    ['no hand-over', {}, NONE, NONE],
    ['an adoption that is under way', record('joiner', 'under-way'), undefined, undefined],
    [
      'an adoption',
      record('joiner', 'done'),
      undefined,
      'nothing to undo: the last hand-over gave the cluster to Joiner, and is done',
    ],
    [
      'a hand-back',
      record('karpenter', 'done'),
      'nothing to undo: the last hand-over gave the cluster to Karpenter, and is done',
      undefined,
    ],
  ])('after %s', (_, change, ofAdopt, ofHandBack) => {
    const position = positionWith(change);
    expect(whyNothingToUndo(position, 'joiner')).toBe(ofAdopt);
    expect(whyNothingToUndo(position, 'karpenter')).toBe(ofHandBack);
  });
});

describe('an adoption that was done', () => {
  const done = { ...record('joiner', 'done'), isJoinerPassive: false };
  const stepsDone = (change: Partial<Position>): readonly string[] =>
    TO_JOINER.filter((step) => step.isDone(positionWith({ ...done, ...change }))).map(
      ({ name }) => name,
    );

  it('has nothing left to do', () => {
    const stopped = { karpenter: karpenter({}, { replicas: 0 }), pods: [] };
    expect(stepsDone(stopped)).toEqual(TO_JOINER.map(({ name }) => name));
  });

  it('begins anew where something has started Karpenter again, elected or not', () => {
    expect(stepsDone({})).toEqual(['settle']);
  });
});

it.each([
  ['on', true],
  // Of yesterday: nobody has removed it.
  ['2025-12-31T00:00:00.000Z', false],
  ['2099-01-01T00:00:00.000Z', false],
])(
  'an adoption that was cut short before it had paused pauses where there is: %s',
  (end, isDone) => {
    const pauses = { 'pause.launch': end, 'pause.disrupt': end, 'pause.terminate': end };
    const position = positionWith({ ...record('joiner', 'under-way'), pauses });
    const [pause] = TO_JOINER;
    expect([pause?.name, pause?.isDone(position)]).toEqual(['pause', isDone]);
  },
);

it.each([
  [
    'hand-back --undo --until clean',
    '--until clean: no step of --undo; valid: pause, settle, stop',
  ],
  ['adopt --until clean', '--until clean: no step; valid: pause, settle, stop, take-over'],
])('%s is refused', async (line, expected) => {
  const { exitCode, stderr } = await joiner(...line.split(' '));
  expect(exitCode).toBe(2);
  expect(stderr).toContain(expected);
});
