import { catalogPolicy } from './catalog.ts';
import { disruptPolicy } from './disrupt.ts';
import { eventsPolicy } from './events.ts';
import { installPolicy } from './install.ts';
import { interruptPolicy } from './interrupt.ts';
import { lifecyclePolicy } from './lifecycle.ts';
import { metricsPolicy } from './metrics.ts';
import { nodeclassPolicy } from './nodeclass.ts';
import { describeCluster, putWakeUps } from './parts.ts';
import { provisionPolicy } from './provision.ts';
import { shadowPolicy } from './shadow.ts';
import type { Policies } from './statement.ts';

/**
 * What each function's code may do in AWS, besides its log and its network interfaces. Adding a
 * function is a line here and a file beside this one.
 */
export const POLICIES: Policies = {
  watch: (scope) => [putWakeUps(scope), describeCluster(scope)],
  provision: provisionPolicy,
  lifecycle: lifecyclePolicy,
  disrupt: disruptPolicy,
  interrupt: interruptPolicy,
  nodeclass: nodeclassPolicy,
  catalog: catalogPolicy,
  events: eventsPolicy,
  metrics: metricsPolicy,
  shadow: shadowPolicy,
  install: installPolicy,
};
