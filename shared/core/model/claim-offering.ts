import type { InstanceType, Offering } from './instance-type.ts';
import { CAPACITY_TYPE, INSTANCE_TYPE, RESERVATION_ID, ZONE } from './labels.ts';
import type { NodeClaim } from './provisioning.ts';

/** What the claim's instance was bought as; undefined: these types do not have it any more. */
export function offeringOfClaim(
  { labels }: Pick<NodeClaim, 'labels'>,
  types: readonly InstanceType[],
): Offering | undefined {
  const type = types.find(({ name }) => name === labels[INSTANCE_TYPE]);
  return type?.offerings.find(
    ({ zone, capacityType, reservation }) =>
      zone === labels[ZONE] &&
      capacityType === labels[CAPACITY_TYPE] &&
      reservation?.id === labels[RESERVATION_ID],
  );
}
