import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseInterruption } from '../../shared/core/interruption/interruption.ts';

const ENVELOPE = { accountId: '123456789012', region: 'us-east-1' };
const NOW_MS = Date.UTC(2026, 0, 1);

/** Names that coercions look for, among any others. */
const key = fc.oneof(
  fc.constantFrom('toString', 'valueOf', 'toJSON', '__proto__', 'length', 'constructor'),
  fc.string(),
);

/** Any JSON value; objects are often such that they cannot be turned into a text. */
const { json } = fc.letrec<{ json: unknown }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom(null, true, 0, 1, '', 'i-0123456789abcdef0', 'stopping', 'EC2'),
    fc.string(),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(key, tie('json')), { maxLength: 3 }).map(Object.fromEntries),
  ),
}));

/** The field as it should be, something else, or nothing. */
const field = (...right: readonly string[]) => fc.option(fc.oneof(fc.constantFrom(...right), json));

/** An event whose envelope is right as often as not, so that what is in it gets looked at. */
const event = fc.record(
  {
    account: fc.oneof(fc.constant(ENVELOPE.accountId), json),
    region: fc.oneof(fc.constant(ENVELOPE.region), json),
    time: fc.oneof(fc.constant('2026-01-01T00:00:00Z'), json),
    source: field('aws.ec2', 'aws.health'),
    'detail-type': field(
      'EC2 Spot Instance Interruption Warning',
      'EC2 Instance State-change Notification',
      'EC2 Capacity Reservation Instance Interruption Warning',
      'AWS Health Event',
    ),
    detail: fc.oneof(
      json,
      fc.record(
        {
          'instance-id': json,
          'instance-action': json,
          'capacity-reservation-id': json,
          state: json,
          service: field('EC2'),
          eventTypeCategory: field('scheduledChange'),
          affectedEntities: fc.oneof(json, fc.array(fc.record({ entityValue: json }))),
        },
        { requiredKeys: [] },
      ),
    ),
  },
  { requiredKeys: ['account', 'region', 'time', 'detail'] },
);

const RUNS = { numRuns: 3000, seed: 20260101 };

describe('a message of the interruption queue', () => {
  it('is judged whatever JSON it is', () => {
    const body = fc.oneof(json, event).map((each) => JSON.stringify(each));
    fc.assert(
      fc.property(body, (text) => {
        const parsed = parseInterruption(text, ENVELOPE, NOW_MS);
        expect(typeof (parsed.ok ? parsed.interruption.kind : parsed.refusal)).toBe('string');
      }),
      RUNS,
    );
  });

  it('is judged whatever text it is', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        expect(parseInterruption(text, ENVELOPE, NOW_MS)).toEqual({
          ok: false,
          refusal: expect.any(String),
        });
      }),
      RUNS,
    );
  });
});
