import { type Reason, reason } from '../../explain/reason.ts';
import { formatQuantity } from '../../quantity.ts';
import { ATTACH_PREFIX } from '../problem/launch-options.ts';

/** Why a pod that requests so much of a resource of the problem has no room. */
export function tooLarge(resource: string, amount: number): Reason {
  if (!resource.startsWith(ATTACH_PREFIX)) {
    return reason('request-too-large', { resource, amount: formatQuantity(amount, resource) });
  }
  const driver = resource.slice(ATTACH_PREFIX.length);
  return reason('too-many-volumes', { volumes: amount, driver });
}
