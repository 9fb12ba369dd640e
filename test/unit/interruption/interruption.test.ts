import { describe, expect, it } from 'vitest';
import { actionFor } from '../../../shared/core/interruption/action.ts';
import { parseInterruption } from '../../../shared/core/interruption/interruption.ts';

const expected = { accountId: '123456789012', region: 'us-east-1' };
const nowMs = Date.UTC(2026, 0, 1);
const id = 'i-0123456789abcdef0';

function event(changes: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    source: 'aws.ec2',
    'detail-type': 'EC2 Spot Instance Interruption Warning',
    account: expected.accountId,
    region: expected.region,
    time: '2026-01-01T00:00:00Z',
    detail: { 'instance-id': id, 'instance-action': 'terminate' },
    ...changes,
  };
}

function verdict(body: string): string {
  const parsed = parseInterruption(body, expected, nowMs);
  if (!parsed.ok) return parsed.refusal;
  return [parsed.interruption.kind, ...parsed.interruption.instanceIds].join(' ');
}

const stateChange = { 'detail-type': 'EC2 Instance State-change Notification' };
const health = { source: 'aws.health', 'detail-type': 'AWS Health Event' };

describe('messages of the interruption queue', () => {
  it.each<[string, Record<string, unknown>, string]>([
    ['spot warning', {}, `spot_interrupted ${id}`],
    [
      'rebalance',
      { 'detail-type': 'EC2 Instance Rebalance Recommendation' },
      `rebalance_recommendation ${id}`,
    ],
    [
      'stopping',
      { ...stateChange, detail: { 'instance-id': id, state: 'stopping' } },
      `instance_stopped ${id}`,
    ],
    [
      'terminated',
      { ...stateChange, detail: { 'instance-id': id, state: 'terminated' } },
      `instance_terminated ${id}`,
    ],
    ['running', { ...stateChange, detail: { 'instance-id': id, state: 'running' } }, 'no_op'],
    [
      'health',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          affectedEntities: [{ entityValue: id }, { entityValue: id }],
        },
      },
      `scheduled_change ${id}`,
    ],
    [
      'health of another service',
      { ...health, detail: { service: 'RDS', eventTypeCategory: 'scheduledChange' } },
      'no_op',
    ],
    ['unknown type', { 'detail-type': 'Something Else' }, 'no_op'],
    ['another account', { account: '999999999999' }, 'foreign_account'],
    ['another region', { region: 'eu-west-1' }, 'foreign_region'],
    ['no time', { time: 'soon' }, 'malformed'],
    ['two days old', { time: '2025-12-30T00:00:00Z' }, 'stale'],
    ['no instance id', { detail: {} }, 'malformed'],
    ['a source that is no text', { source: { toString: 1 } }, 'malformed'],
    ['a type that is no text', { 'detail-type': ['Something Else'] }, 'malformed'],
    ['no source', { source: undefined }, 'malformed'],
    ['an instance id of another form', { detail: { 'instance-id': '../../etc' } }, 'malformed'],
    [
      'an unknown state',
      { ...stateChange, detail: { 'instance-id': id, state: 'melting' } },
      'malformed',
    ],
  ])('%s', (_, changes, kind) => {
    expect(verdict(JSON.stringify(event(changes)))).toBe(kind);
  });

  it.each([
    ['not JSON', '{'],
    ['a list', '[]'],
    ['null', 'null'],
    ['no detail', '{"account":"123456789012"}'],
  ])('%s is malformed', (_, body) => {
    expect(verdict(body)).toBe('malformed');
  });

  it('more than EventBridge can send is refused unread', () => {
    expect(verdict(`"${'x'.repeat(262_144)}"`)).toBe('too_large');
  });

  it('only capacity that is taken back bars its offering', () => {
    const parsed = parseInterruption(JSON.stringify(event()), expected, nowMs);
    expect(parsed.ok && actionFor(parsed.interruption)).toMatchObject({
      deleteClaim: true,
      markOffering: true,
    });
  });
});
