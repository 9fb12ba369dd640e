import type { Account } from '../aws/model/account.ts';

/** What EventBridge puts into the queue two minutes before EC2 takes a spot instance back. */
export function spotWarning({ id, region }: Account, instance: string): string {
  return JSON.stringify({
    version: '0',
    source: 'aws.ec2',
    'detail-type': 'EC2 Spot Instance Interruption Warning',
    account: id,
    region,
    time: new Date().toISOString(),
    detail: { 'instance-id': instance, 'instance-action': 'terminate' },
  });
}
