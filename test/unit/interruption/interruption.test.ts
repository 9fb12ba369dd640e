import { describe, expect, it } from 'vitest';
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
    [
      'stopped',
      { ...stateChange, detail: { 'instance-id': id, state: 'stopped' } },
      `instance_stopped ${id}`,
    ],
    [
      'shutting down',
      { ...stateChange, detail: { 'instance-id': id, state: 'shutting-down' } },
      `instance_terminated ${id}`,
    ],
    ['pending', { ...stateChange, detail: { 'instance-id': id, state: 'pending' } }, 'no_op'],
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
      'health of no resource of the account, as public events are',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          eventScopeCode: 'PUBLIC',
        },
      },
      'no_op',
    ],
    [
      'health of an instance and a dedicated host',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          affectedEntities: [{ entityValue: 'h-0123456789abcdef0' }, { entityValue: id }],
        },
      },
      `scheduled_change ${id}`,
    ],
    [
      'health of a dedicated host alone',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          affectedEntities: [{ entityValue: 'h-0123456789abcdef0' }],
        },
      },
      'scheduled_change',
    ],
    [
      'health that is over',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          statusCode: 'closed',
          affectedEntities: [{ entityValue: id }],
        },
      },
      'no_op',
    ],
    [
      'health that is over for one of two instances',
      {
        ...health,
        detail: {
          service: 'EC2',
          eventTypeCategory: 'scheduledChange',
          statusCode: 'open',
          affectedEntities: [
            { entityValue: 'i-0123456789abcdef9', status: 'RESOLVED' },
            { entityValue: id, status: 'PENDING' },
          ],
        },
      },
      `scheduled_change ${id}`,
    ],
    [
      'health of another service',
      { ...health, detail: { service: 'RDS', eventTypeCategory: 'scheduledChange' } },
      'no_op',
    ],
    [
      'a health event that is no scheduled change',
      { ...health, detail: { service: 'EC2', eventTypeCategory: 'issue' } },
      'no_op',
    ],
    [
      'a health event without entities',
      { ...health, detail: { service: 'EC2', eventTypeCategory: 'scheduledChange' } },
      'malformed',
    ],
    [
      'a health event of an entity that is no object',
      {
        ...health,
        detail: { service: 'EC2', eventTypeCategory: 'scheduledChange', affectedEntities: [id] },
      },
      'malformed',
    ],
    [
      'a capacity reservation',
      { 'detail-type': 'EC2 Capacity Reservation Instance Interruption Warning' },
      `capacity_reservation_interrupted ${id}`,
    ],
    [
      'a capacity reservation without an instance',
      { 'detail-type': 'EC2 Capacity Reservation Instance Interruption Warning', detail: {} },
      'malformed',
    ],
    ['unknown type', { 'detail-type': 'Something Else' }, 'no_op'],
    ['another account', { account: '999999999999' }, 'foreign_account'],
    ['another region', { region: 'eu-west-1' }, 'foreign_region'],
    ['no time', { time: 'soon' }, 'malformed'],
    ['a time that is a number', { time: 0 }, 'malformed'],
    ['two days old', { time: '2025-12-30T00:00:00Z' }, 'stale'],
    ['a day old', { time: '2025-12-31T00:00:00Z' }, `spot_interrupted ${id}`],
    ['more than a day old', { time: '2025-12-30T23:59:59Z' }, 'stale'],
    ['a day ahead', { time: '2026-01-02T00:00:00Z' }, `spot_interrupted ${id}`],
    ['more than a day ahead', { time: '2026-01-02T00:00:01Z' }, 'stale'],
    ['no instance id', { detail: {} }, 'malformed'],
    ['a source that is no text', { source: { toString: 1 } }, 'malformed'],
    ['a type that is no text', { 'detail-type': ['Something Else'] }, 'malformed'],
    ['no source', { source: undefined }, 'malformed'],
    ['an empty source', { source: '' }, 'malformed'],
    ['an empty type', { 'detail-type': '' }, 'malformed'],
    ['text after an instance id', { detail: { 'instance-id': `${id}-x` } }, 'malformed'],
    ['text before an instance id', { detail: { 'instance-id': `x-${id}` } }, 'malformed'],
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
    const most = JSON.stringify(event());
    const padded = (length: number): string => most + ' '.repeat(length - most.length);
    expect(verdict(padded(262_144))).toBe(`spot_interrupted ${id}`);
    expect(verdict(padded(262_145))).toBe('too_large');
  });

  it('names each instance once, in order, and a thousand at most', () => {
    const entities = Array.from({ length: 1001 }, (_, at) => ({
      entityValue: `i-${String(9999 - at).padStart(8, '0')}`,
    }));
    const detail = {
      service: 'EC2',
      eventTypeCategory: 'scheduledChange',
      affectedEntities: [entities[0], ...entities],
    };
    const ids = verdict(JSON.stringify(event({ ...health, detail })))
      .split(' ')
      .slice(1);
    expect(ids).toHaveLength(999);
    expect(ids).toEqual(ids.toSorted());
  });

  it('carries what the warning says beside the instance', () => {
    const found = (changes: Record<string, unknown>) => {
      const parsed = parseInterruption(JSON.stringify(event(changes)), expected, nowMs);
      return parsed.ok ? parsed.interruption : undefined;
    };
    expect(found({})).toEqual({
      kind: 'spot_interrupted',
      instanceIds: [id],
      instanceAction: 'terminate',
      reservationId: undefined,
      sentAtMs: nowMs,
    });
    const type = 'EC2 Capacity Reservation Instance Interruption Warning';
    const detail = { 'instance-id': id, 'capacity-reservation-id': 'cr-1' };
    expect(found({ 'detail-type': type, detail })).toMatchObject({
      reservationId: 'cr-1',
      instanceAction: undefined,
    });
  });
});
