import type { QueueRecord } from '../../../functions/runtime/context.ts';
import type { Account } from '../aws/model/account.ts';

/**
 * What EventBridge puts into the queue two minutes before EC2 takes a spot instance back; the spot
 * request says so from now on.
 */
export function spotWarning(account: Account, instance: string): string {
  account.takeBack(instance);
  return forgedWarning(account, instance);
}

/** A warning of which EC2 knows nothing. */
export function forgedWarning({ id, region }: Account, instance: string): string {
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

/** A message as Lambda hands it over. */
export function queueRecord(messageId: string, body: string): QueueRecord {
  return { messageId, body, attributes: { SentTimestamp: String(Date.now()) } };
}
