import type { Sentences } from '../parameters.ts';
import type { LIFECYCLE } from '../reasons/lifecycle.ts';

export const LIFECYCLE_SENTENCES: Sentences<typeof LIFECYCLE> = {
  'launch-timeout': () => 'The instance was not launched within 5 minutes',
  'registration-timeout': () => 'The node did not register within 15 minutes of the launch',
  'capacity-block-ending': ({ reservation, endsAt }) =>
    `Capacity Block ${reservation} ends at ${endsAt}`,
  'nodeclaim-expired': () => 'The NodeClaim is older than spec.expireAfter',
  'node-deleted': () => 'The Node was deleted',
  'instance-gone': () => 'The instance no longer exists and its Node is not Ready',
  'instance-terminated-early': () => 'The instance was terminated before its node registered',
  'instance-disappeared': () => 'The instance disappeared before its node registered',
  'node-unhealthy': ({ condition, status, minutes }) =>
    `${condition} has been ${status} for ${minutes} minutes`,
  'instance-impaired': ({ check, instance, said }) =>
    `EC2 reports ${check} of ${instance}: ${said}`,
  'repair-blocked-by-share': () =>
    'more than 20 % of the nodes of the NodePool are unhealthy: none is replaced',
  'repair-blocked-by-budget': () =>
    'a budget of the NodePool for the reason Unhealthy allows no more disruptions',
  'instance-terminated': ({ instance }) =>
    `Instance ${instance} is terminated: its NodeClaim is being deleted, and the drain is over`,
  'instance-orphaned': ({ instance }) => `${instance}: no NodeClaim exists for it`,
  'terminations-paused': () => 'terminations are paused in the ConfigMap kube-system/joiner',
  'terminations-capped': () => 'terminations wait: maxTerminationsPerMinute is reached',
  'eviction-blocked': ({ pod }) => `A PodDisruptionBudget does not allow ${pod} to be evicted`,
  'eviction-refused': ({ pod, said }) => `${pod} was not evicted: ${said}`,
  'taint-unplanned': ({ node, taint, nodeClaim }) =>
    `Node ${node} has joined with the taint ${taint}, which NodeClaim ${nodeClaim} does not have`,
  'node-inconsistent': ({ differences }) => differences.join('; '),
  'reservation-ended': ({ reservation }) =>
    `Capacity reservation ${reservation} has ended: the instance is billed as on-demand`,
  'instance-awaited': () => 'its instance is not launched yet',
  'node-not-joined': () => 'its node is not ready yet',
  'nodes-are-ready': () => 'every node is ready',
  'node-draining': () => 'its node is being drained',
};
