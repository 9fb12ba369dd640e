import { notMine } from './not-mine.ts';
import type { Cloud } from './sandbox.ts';

/** Of a function that speaks to the cluster only. */
export function noCloud(): Cloud {
  return {
    compute: notMine('compute'),
    images: notMine('images'),
    network: notMine('network'),
    profiles: notMine('profiles'),
    catalog: notMine('catalog'),
  };
}
