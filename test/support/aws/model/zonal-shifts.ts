import { WireFault } from '../wire/response.ts';
import type { Handlers } from '../wire/server.ts';

/** What ARC knows of one cluster; `zonalShifts` are people's and practice runs. */
export interface ManagedResource {
  readonly arn: string;
  readonly zonalShifts: readonly ModelShift[];
  readonly autoshifts: readonly ModelShift[];
}

interface ModelShift {
  readonly awayFrom: string;
  readonly appliedStatus: 'APPLIED' | 'NOT_APPLIED';
}

export function zonalShiftHandlers(resource: () => ManagedResource | undefined): Handlers {
  return {
    GetManagedResource: ({ resourceIdentifier }) => {
      const found = resource();
      if (found === undefined || found.arn !== resourceIdentifier) {
        throw new WireFault('ResourceNotFoundException', 'no such managed resource', 404);
      }
      return { ...found };
    },
  };
}
