import { RESERVATION_ID } from '../model/labels.ts';
import type { CapacityReservation, NodeClass } from '../model/node-class.ts';
import type { NodeClaim } from '../model/provisioning.ts';

/**
 * The Capacity Block that the claim's instance runs in, if it is about to end; undefined otherwise.
 * The EC2NodeClass says so ten minutes before EC2 begins to terminate its instances.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-capacity-blocks.html
 */
export function endingBlockOf(
  { labels }: Pick<NodeClaim, 'labels'>,
  nodeClass: Pick<NodeClass, 'status'> | undefined,
): CapacityReservation | undefined {
  return nodeClass?.status.capacityReservations.find(
    ({ id, reservationType, state }) =>
      id === labels[RESERVATION_ID] && reservationType === 'capacity-block' && state === 'expiring',
  );
}
