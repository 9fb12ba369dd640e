import { PROBE } from '../../../shared/contract.ts';

/** Bodies of notices, as EventBridge puts them into the queue of the account 111122223333. */

export const INSTANCE = 'i-0123456789abcdef0';
export const ACCOUNT = '111122223333';

const DETAILS = {
  spot: {
    'detail-type': 'EC2 Spot Instance Interruption Warning',
    detail: { 'instance-id': INSTANCE, 'instance-action': 'terminate' },
  },
  rebalance: {
    'detail-type': 'EC2 Instance Rebalance Recommendation',
    detail: { 'instance-id': INSTANCE },
  },
  stopped: {
    'detail-type': 'EC2 Instance State-change Notification',
    detail: { 'instance-id': INSTANCE, state: 'stopped' },
  },
  running: {
    'detail-type': 'EC2 Instance State-change Notification',
    detail: { 'instance-id': INSTANCE, state: 'running' },
  },
  reservation: {
    'detail-type': 'EC2 Capacity Reservation Instance Interruption Warning',
    detail: { 'instance-id': INSTANCE, 'capacity-reservation-id': 'cr-1' },
  },
  health: {
    source: 'aws.health',
    'detail-type': 'AWS Health Event',
    detail: {
      service: 'EC2',
      eventTypeCategory: 'scheduledChange',
      affectedEntities: [{ entityValue: INSTANCE }, { entityValue: 'i-0aaaaaaaaaaaaaaaa' }],
    },
  },
  probe: {
    source: PROBE.source,
    'detail-type': PROBE.detailType,
    detail: { cluster: 'demo', mark: '0123456789abcdef' },
  },
  /** Nothing that a rule of the stack sends. */
  other: { source: 'aws.s3', 'detail-type': 'Object Created', detail: {} },
} as const;

export function notice(kind: keyof typeof DETAILS, sentAtMs: number, change: object = {}): string {
  return JSON.stringify({
    source: 'aws.ec2',
    account: ACCOUNT,
    region: 'us-east-1',
    time: new Date(sentAtMs).toISOString(),
    ...DETAILS[kind],
    ...change,
  });
}
