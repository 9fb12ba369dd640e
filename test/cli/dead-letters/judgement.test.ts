import { describe, expect, it } from 'vitest';
import { judge } from '../../../cli/dead-letters/judgement.ts';
import type { DeadLetter } from '../../../cli/dead-letters/queue.ts';
import { ACCOUNT, INSTANCE, notice } from './letters.ts';

const SENT_MS = Date.UTC(2026, 0, 2);
const HOUR_MS = 3_600_000;
const OF = { cluster: 'demo', envelope: { accountId: ACCOUNT, region: 'us-east-1' } };

function judged(body: string, laterMs = HOUR_MS, change: Partial<DeadLetter> = {}) {
  const letter: DeadLetter = {
    id: 'm-1',
    body,
    queuedAtMs: SENT_MS,
    received: 6,
    movedFrom: 'joiner-demo-interruption',
    attributes: undefined,
    receipt: 'receipt-1',
    ...change,
  };
  return judge(letter, OF, SENT_MS + laterMs);
}

const DISCARD = 'discard it: a redrive would change nothing';
const LOOK = 'find the cause in the log of interrupt, and redrive it when that is gone';
const CALL = 'the cluster or AWS refused a call, or the run was cut off';
const WHOLE = '5 runs that it was in failed as a whole';

describe('what interrupt makes of a dead letter', () => {
  it.each([
    [
      ...(['spot', 'spot_interrupted', [INSTANCE], CALL] as const),
      'its two minutes are over: redrive it, or discard it where the instance is gone',
    ],
    ['rebalance', 'rebalance_recommendation', [INSTANCE], CALL, LOOK],
    [
      ...(['stopped', 'instance_stopped', [INSTANCE]] as const),
      `EC2 said that the instance runs, or ${CALL}`,
      LOOK,
    ],
    [
      ...(['reservation', 'capacity_reservation_interrupted', [INSTANCE]] as const),
      `too many nodes of its NodePool would have gone unconfirmed, or ${CALL}`,
      LOOK,
    ],
    [
      ...(['health', 'scheduled_change', [INSTANCE, 'i-0aaaaaaaaaaaaaaaa']] as const),
      `too many nodes of its NodePool would have gone unconfirmed, or ${CALL}`,
      LOOK,
    ],
  ] as const)('%s is %s, and handled when it comes again', (name, kind, ids, cause, advice) => {
    expect(judged(notice(name, SENT_MS))).toEqual({
      kind,
      instanceIds: ids,
      sentAtMs: SENT_MS,
      redriven: 'handled',
      why: `the function interrupt failed to handle it 5 times: ${cause}`,
      advice,
    });
  });

  it('a warning within its two minutes is worth a redrive', () => {
    expect(judged(notice('spot', SENT_MS), 60_000).advice).toBe(LOOK);
  });

  it.each([
    ['not JSON', 'malformed', 'is not JSON'],
    ['{}', 'malformed', 'is not an event of EventBridge that names instances'],
    [
      notice('spot', SENT_MS, { detail: { 'instance-id': 'all' } }),
      'malformed',
      'is not an event of EventBridge that names instances',
    ],
    ['x'.repeat(262_145), 'too_large', 'is larger than any event of EventBridge'],
    [
      notice('spot', SENT_MS, { account: '999999999999' }),
      'foreign_account',
      'is not of the account 111122223333',
    ],
    [
      notice('spot', SENT_MS, { region: 'eu-west-1' }),
      'foreign_region',
      'is not of the region us-east-1',
    ],
    [
      notice('spot', SENT_MS - 48 * HOUR_MS),
      'stale',
      'was sent more than a day before or after the queue took it',
    ],
  ])('%.30s is refused: %s', (body, kind, said) => {
    expect(judged(body)).toEqual({
      kind,
      instanceIds: [],
      sentAtMs: undefined,
      redriven: 'refused',
      why: `it ${said}, which interrupt refuses; ${WHOLE}`,
      advice: DISCARD,
    });
  });

  it('one that has grown old here is decoded as it was, and refused', () => {
    const { kind, instanceIds, redriven, why, advice } = judged(
      notice('rebalance', SENT_MS),
      25 * HOUR_MS,
    );
    expect([kind, instanceIds, redriven]).toEqual([
      'rebalance_recommendation',
      [INSTANCE],
      'refused',
    ]);
    expect([why, advice]).toEqual([
      `the function interrupt failed to handle it 5 times: ${CALL}; ` +
        'it was sent more than a day ago by now, which interrupt refuses',
      DISCARD,
    ]);
  });

  it.each(['running', 'other'] as const)('%s leads to nothing', (name) => {
    expect(judged(notice(name, SENT_MS))).toMatchObject({
      kind: 'no_op',
      redriven: 'taken-away',
      why: `interrupt has nothing to do about its kind; ${WHOLE}`,
      advice: DISCARD,
    });
  });

  it('a probe is known, and another cluster’s is a notice of no kind', () => {
    expect(judged(notice('probe', SENT_MS))).toMatchObject({
      kind: 'probe',
      redriven: 'taken-away',
      why: `joiner doctor --probe sent it; ${WHOLE}`,
    });
    const foreign = notice('probe', SENT_MS, { detail: { cluster: 'blue', mark: '0' } });
    expect(judged(foreign).kind).toBe('no_op');
  });

  it('one that no queue has given up may have been sent by hand', () => {
    const byHand = 'SQS names no queue that gave it up, so it may have been sent here by hand';
    const change = { movedFrom: undefined };
    expect(judged(notice('stopped', SENT_MS), HOUR_MS, change).why).toBe(byHand);
    expect(judged('not JSON', HOUR_MS, change).why).toBe(
      `it is not JSON, which interrupt refuses; ${byHand}`,
    );
  });
});
