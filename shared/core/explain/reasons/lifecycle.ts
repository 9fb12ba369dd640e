import { count, define, NONE, text, texts } from '../parameters.ts';

/** Why `lifecycle` deletes NodeClaims, ends instances, or does not. */
export const LIFECYCLE = {
  'launch-timeout': define({
    meaning: 'No instance was launched for the NodeClaim in time. It is deleted.',
    remedy: 'Look at its condition Launched: it has the error of EC2.',
    parameters: NONE,
    sentence: () => 'The instance was not launched within 5 minutes',
  }),
  'registration-timeout': define({
    meaning: 'The instance runs, and no Node has joined. The NodeClaim is deleted.',
    remedy: 'Look at the console output of an instance: user data, AMI, node role and network.',
    parameters: NONE,
    sentence: () => 'The node did not register within 15 minutes of the launch',
  }),
  'nodeclaim-expired': define({
    meaning: 'The NodeClaim is as old as expireAfter allows. It is drained and replaced.',
    remedy: 'Nothing, or raise expireAfter of the NodePool.',
    parameters: NONE,
    sentence: () => 'The NodeClaim is older than spec.expireAfter',
  }),
  'node-deleted': define({
    meaning: 'Somebody deleted the Node. Its NodeClaim follows.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'The Node was deleted',
  }),
  'instance-gone': define({
    meaning: 'The instance ended without Joiner. Its NodeClaim is deleted.',
    remedy: 'Look for who ended it in CloudTrail (TerminateInstances).',
    parameters: NONE,
    sentence: () => 'The instance no longer exists and its Node is not Ready',
  }),
  'instance-terminated-early': define({
    meaning: 'The instance ended while it started. Its NodeClaim is deleted.',
    remedy: 'Look at StateTransitionReason of the instance: often a KMS key or an image.',
    parameters: NONE,
    sentence: () => 'The instance was terminated before its node registered',
  }),
  'instance-disappeared': define({
    meaning: 'EC2 no longer knows the instance of the NodeClaim. The NodeClaim is deleted.',
    remedy: 'Look for who ended it in CloudTrail (TerminateInstances).',
    parameters: NONE,
    sentence: () => 'The instance disappeared before its node registered',
  }),
  'node-unhealthy': define({
    meaning: 'A condition of the Node shows a fault for too long. The node is replaced at once.',
    remedy: 'Nothing, or look at the Node for the cause.',
    parameters: {
      condition: text('the condition of the Node'),
      status: text('its status'),
      minutes: count('how long it may be so'),
    },
    sentence: ({ condition, status, minutes }) =>
      `${condition} has been ${status} for ${minutes} minutes`,
  }),
  'instance-impaired': define({
    meaning: 'A status check of EC2 fails, or an event is scheduled. The node is replaced.',
    remedy: 'Nothing.',
    parameters: {
      check: text('instance_status, system_status or event_status'),
      instance: text('the id of the instance'),
      said: text('what EC2 says'),
    },
    sentence: ({ check, instance, said }) => `EC2 reports ${check} of ${instance}: ${said}`,
  }),
  'repair-blocked-by-share': define({
    meaning: 'So many nodes are unhealthy that the cause is not the nodes. None is replaced.',
    remedy:
      'Look for what the nodes have in common: an image, an agent, a network, the control plane.',
    parameters: NONE,
    sentence: () => 'more than 20 % of the nodes of the NodePool are unhealthy: none is replaced',
  }),
  'repair-blocked-by-budget': define({
    meaning: 'A disruption budget for the reason Unhealthy is used up.',
    remedy: 'Wait, or raise the budget of the NodePool.',
    parameters: NONE,
    sentence: () => 'a budget of the NodePool for the reason Unhealthy allows no more disruptions',
  }),
  'instance-terminated': define({
    meaning: 'The node is drained, and its instance is ended.',
    remedy: 'Nothing.',
    parameters: { instance: text('its id') },
    sentence: ({ instance }) =>
      `${instance}: its NodeClaim is being deleted and its node is drained`,
  }),
  'instance-orphaned': define({
    meaning: 'An instance has the tags of Joiner, and no NodeClaim. It is ended.',
    remedy: 'Nothing: a launch was cut short, or somebody removed a NodeClaim by force.',
    parameters: { instance: text('its id') },
    sentence: ({ instance }) => `${instance}: no NodeClaim exists for it`,
  }),
  'terminations-paused': define({
    meaning: 'An operator has paused terminations.',
    remedy: '`joiner resume terminate`.',
    parameters: NONE,
    sentence: () => 'terminations are paused in the ConfigMap kube-system/joiner',
  }),
  'terminations-capped': define({
    meaning: 'As many instances as maxTerminationsPerMinute allows ended in the last minute.',
    remedy: 'Wait, or raise maxTerminationsPerMinute.',
    parameters: NONE,
    sentence: () => 'terminations wait: maxTerminationsPerMinute is reached',
  }),
  'eviction-blocked': define({
    meaning: 'A PodDisruptionBudget does not allow the eviction. The drain goes on later.',
    remedy: 'Start more replicas, raise maxUnavailable, or set terminationGracePeriod.',
    parameters: { pod: text('`namespace/name`') },
    sentence: ({ pod }) => `A PodDisruptionBudget does not allow ${pod} to be evicted`,
  }),
  'eviction-refused': define({
    meaning: 'The API server refused the eviction for another reason, such as a webhook.',
    remedy: 'Look at the admission webhooks for pods/eviction.',
    parameters: { pod: text('`namespace/name`'), said: text('what the API server says') },
    sentence: ({ pod, said }) => `${pod} was not evicted: ${said}`,
  }),
  'taint-unplanned': define({
    meaning: 'The node has a taint that keeps away the pods that it was launched for.',
    remedy: 'Find who sets the taint (kubelet arguments, a DaemonSet), and add it to the NodePool.',
    parameters: {
      node: text('the Node'),
      taint: text('`key=value:effect`'),
      nodeClaim: text('the NodeClaim'),
    },
    sentence: ({ node, taint, nodeClaim }) =>
      `Node ${node} has joined with the taint ${taint}, which NodeClaim ${nodeClaim} does not have`,
  }),
  'node-inconsistent': define({
    meaning: 'The node is not what its NodeClaim promised: its labels, taints or resources differ.',
    remedy: 'Look at the user data and the kubelet settings of the EC2NodeClass.',
    parameters: { differences: texts('each difference') },
    sentence: ({ differences }) => differences.join('; '),
  }),
  'reservation-ended': define({
    meaning: 'The capacity reservation has ended. The instance runs on as on-demand.',
    remedy: 'Nothing, or extend the reservation.',
    parameters: { reservation: text('its id') },
    sentence: ({ reservation }) =>
      `Capacity reservation ${reservation} has ended: the instance is billed as on-demand`,
  }),
  'instance-awaited': define({
    meaning: 'The NodeClaim has no instance yet.',
    remedy: 'Wait. Its condition Launched says what launches it or keeps it from being launched.',
    parameters: NONE,
    sentence: () => 'its instance is not launched yet',
  }),
  'node-not-joined': define({
    meaning: 'The instance starts, and its node is not ready yet.',
    remedy: 'Wait: nodes join within about a minute.',
    parameters: NONE,
    sentence: () => 'its node is not ready yet',
  }),
  'nodes-are-ready': define({
    meaning: 'Every NodeClaim has its node, and no node is being drained.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'every node is ready',
  }),
  'node-draining': define({
    meaning: 'The node is being drained.',
    remedy: 'Look at the events FailedDraining of the node for what holds it.',
    parameters: NONE,
    sentence: () => 'its node is being drained',
  }),
} as const;
