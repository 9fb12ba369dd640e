import { describeCluster, discovery, memory, putWakeUps } from './parts.ts';
import type { PolicyScope, Statement } from './statement.ts';

/** Neither launches nor ends anything: it writes claims and wakes those who do. */
export function disruptPolicy(scope: PolicyScope): readonly Statement[] {
  return [
    discovery(scope, 'What is free in reservations, which replacements may go into.', [
      'DescribeCapacityReservations',
    ]),
    putWakeUps(scope),
    describeCluster(scope),
    ...memory(scope),
  ];
}
