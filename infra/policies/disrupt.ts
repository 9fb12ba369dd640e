import { describeCluster, discovery, limitGroups, memory, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Neither launches nor terminates instances: it writes NodeClaims and wakes those functions. */
export function disruptPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    discovery(scope, 'What is free in reservations, which replacements may go into.', [
      'DescribeCapacityReservations',
    ]),
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
    ...limitGroups(scope),
  ];
}
