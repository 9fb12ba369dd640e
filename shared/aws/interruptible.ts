import type { FleetRequest } from '../ports/cloud.ts';

/** Whether EC2 may take back what is launched into the reservation, as with spot. */
export function isInterruptibleReservation(
  { nodeClass }: FleetRequest,
  reservationId: string | undefined,
): boolean {
  const { capacityReservations } = nodeClass.status;
  return capacityReservations.some((each) => each.id === reservationId && each.interruptible);
}
