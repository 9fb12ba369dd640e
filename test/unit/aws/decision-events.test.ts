import { describe, expect, it } from 'vitest';
import { decisionRecordSchema, type ReadDecision } from '../../../shared/api/decision-record.ts';
import {
  chosenDecisions,
  decisionEntry,
  detailText,
  EVENTS_MAX,
} from '../../../shared/aws/decision-events.ts';
import { CALL_BYTES_MAX, entryBytes } from '../../../shared/aws/events.ts';

const ARN = 'arn:aws:eks:us-east-1:111122223333:cluster/demo';

function record(change: Partial<ReadDecision> = {}): ReadDecision {
  return {
    id: 'probe-a',
    atMs: Date.parse('2026-01-01T00:00:00Z'),
    useCase: 'provision',
    object: 'NodeClaim/general-a',
    action: 'create',
    reasons: [{ code: 'probe-answered', parameters: {} }],
    message: 'The probe has arrived.',
    detail: { nodePool: 'general' },
    ...change,
  };
}

describe('an event', () => {
  it('has the record as its detail, and the cluster as its resource', () => {
    const { Detail = '', ...entry } = decisionEntry(record(), ARN);
    expect(JSON.parse(Detail)).toEqual(record());
    expect(entry).toEqual({
      EventBusName: 'default',
      Source: 'joiner.decisions',
      DetailType: 'Joiner Decision',
      Time: new Date('2026-01-01T00:00:00Z'),
      Resources: [ARN],
    });
  });

  it.each<[string, Partial<ReadDecision>, object]>([
    [
      'its detail',
      { detail: { pods: 'é'.repeat(200_000), nodePool: 'a' } },
      {
        detail: { omitted: ['nodePool', 'pods'] },
        message: 'The probe has arrived.',
      },
    ],
    [
      'the end of its message',
      { message: '😀'.repeat(100_000) },
      {
        detail: { omitted: ['nodePool', 'reasons'] },
        reasons: [{ code: 'probe-answered', parameters: {} }],
      },
    ],
  ])('that is too large is published without %s', (_, change, expected) => {
    const entry = decisionEntry(record(change), ARN);
    expect(entryBytes(entry)).toBeLessThanOrEqual(CALL_BYTES_MAX);
    const detail: unknown = JSON.parse(entry.Detail ?? '');
    expect(detail).toMatchObject(expected);
    expect(decisionRecordSchema.safeParse(detail).success).toBe(true);
  });

  it('has as many reasons as fit, the first ones', () => {
    const reasons = Array.from({ length: 100 }, () => ({ code: 'probe-answered', parameters: {} }));
    const text = detailText(record({ reasons }), 1000);
    const kept: unknown[] = JSON.parse(text).reasons;
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(1000);
    expect(kept.length).toBeGreaterThan(10);
    // One more would not have fitted.
    expect(
      1000 - Buffer.byteLength(JSON.stringify({ ...JSON.parse(text), message: '' })),
    ).toBeLessThan(JSON.stringify(reasons[0]).length + 1);
  });
});

describe('published are', () => {
  const kinds = ['unchanged', 'create', 'none', 'delete', 'unschedulable', 'launch-failed'];
  const records = kinds.map((action) => record({ id: action, action }));
  const actions = (chosen: readonly ReadDecision[]) => chosen.map(({ action }) => action);

  it('changes alone', () => {
    expect(actions(chosenDecisions(records, 'changes'))).toEqual([
      'create',
      'delete',
      'launch-failed',
    ]);
  });

  it('all, with changes first', () => {
    expect(actions(chosenDecisions(records, 'all'))).toEqual([
      'create',
      'delete',
      'launch-failed',
      'unchanged',
      'none',
      'unschedulable',
    ]);
  });

  it('a bounded number of one invocation, changes before others', () => {
    const many = [
      ...Array.from({ length: EVENTS_MAX }, () => record({ action: 'none' })),
      ...Array.from({ length: EVENTS_MAX - 1 }, () => record()),
    ];
    const chosen = actions(chosenDecisions(many, 'all'));
    expect(chosen).toHaveLength(EVENTS_MAX);
    expect(chosen.filter((action) => action === 'none')).toHaveLength(1);
  });
});
