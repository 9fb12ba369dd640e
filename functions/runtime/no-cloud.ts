import { forbiddenPort } from './forbidden-port.ts';
import type { Cloud } from './sandbox.ts';

/** Of a function that speaks to the cluster only. */
export function noCloud(): Cloud {
  return {
    compute: forbiddenPort('compute'),
    images: forbiddenPort('images'),
    network: forbiddenPort('network'),
    profiles: forbiddenPort('profiles'),
    catalog: forbiddenPort('catalog'),
  };
}
