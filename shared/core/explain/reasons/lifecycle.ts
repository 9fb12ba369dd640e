import { because, type Definitions, NONE, type Sentences, STATE_REASON } from '../parameters.ts';

const ENDED = { cause: STATE_REASON } as const;

/** Why `lifecycle` deletes NodeClaims or terminates instances, and why it does not. */
export const LIFECYCLE = {
  'launch-timeout': {
    meaning: 'No instance was launched for the NodeClaim in time. It is deleted.',
    remedy: 'Look at its condition Launched: it has the error of EC2.',
    parameters: NONE,
  },
  'registration-timeout': {
    meaning: 'The instance runs, and no Node has joined. The NodeClaim is deleted.',
    remedy: 'Look at the console output of an instance: user data, AMI, node role and network.',
    parameters: NONE,
  },
  'image-not-proven': {
    meaning:
      'The instance runs, and no Node has joined. The canary of its image failed meanwhile. The ' +
      'NodeClaim is deleted, and its pods get a node with the proven image.',
    remedy: 'Look at the event CanaryFailed of the NodePool. Correct the image.',
    parameters: { image: { type: 'text', what: 'the id of the AMI' } },
  },
  'nodeclaim-expired': {
    meaning: 'The NodeClaim is as old as expireAfter allows. It is drained and replaced.',
    remedy: 'Nothing, or raise expireAfter of the NodePool.',
    parameters: NONE,
  },
  'capacity-block-ending': {
    meaning:
      'The Capacity Block of the instance ends in 40 minutes or less, and EC2 terminates its ' +
      'instances from 30 minutes before the end. The node is drained before.',
    remedy: 'Nothing, or extend the Capacity Block.',
    parameters: {
      reservation: { type: 'text', what: 'the id of the Capacity Block' },
      endsAt: { type: 'time', what: 'its end' },
    },
  },
  'node-deleted': {
    meaning: 'Somebody deleted the Node. Its NodeClaim follows.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'instance-gone': {
    meaning: 'Something other than Joiner terminated the instance. Its NodeClaim is deleted.',
    remedy: 'Look up in CloudTrail who terminated it (TerminateInstances).',
    parameters: ENDED,
  },
  'instance-terminated-early': {
    meaning: 'The instance was terminated while it started. Its NodeClaim is deleted.',
    remedy:
      'Look at StateReason of the instance: often a KMS key that the role may not use, an EBS ' +
      'quota or an image.',
    parameters: ENDED,
  },
  'instance-disappeared': {
    meaning: 'EC2 no longer knows the instance of the NodeClaim. The NodeClaim is deleted.',
    remedy: 'Look up in CloudTrail who terminated it (TerminateInstances).',
    parameters: NONE,
  },
  'node-unhealthy': {
    meaning: 'A condition of the Node shows a fault for too long. The node is replaced at once.',
    remedy: 'Nothing, or look at the Node for the cause.',
    parameters: {
      condition: { type: 'text', what: 'the condition of the Node' },
      status: { type: 'text', what: 'its status' },
      minutes: { type: 'count', what: 'how long it may be so' },
    },
  },
  'instance-impaired': {
    meaning: 'A status check of EC2 fails, or an event is scheduled. The node is replaced.',
    remedy: 'Nothing.',
    parameters: {
      check: { type: 'text', what: 'instance_status, system_status or event_status' },
      instance: { type: 'text', what: 'the id of the instance' },
      said: { type: 'text', what: 'what EC2 says' },
    },
  },
  'repair-blocked-by-share': {
    meaning: 'So many nodes are unhealthy that the cause is not the nodes. None is replaced.',
    remedy:
      'Look for what the nodes have in common: an image, an agent, a network, the control plane.',
    parameters: NONE,
  },
  'repair-blocked-by-budget': {
    meaning: 'A disruption budget for the reason Unhealthy is used up.',
    remedy: 'Wait, or raise the budget of the NodePool.',
    parameters: NONE,
  },
  'instance-terminated': {
    meaning:
      'Joiner terminated the instance, because its NodeClaim is being deleted and its node is drained, ' +
      'or terminationGracePeriod has passed.',
    remedy: 'Nothing.',
    parameters: { instance: { type: 'text', what: 'its id' } },
  },
  'instance-ended': {
    meaning: 'EC2 or somebody else ended the instance of a NodeClaim before Joiner terminated it.',
    remedy: 'Nothing after an interruption. Otherwise look in CloudTrail (TerminateInstances).',
    parameters: { instance: { type: 'text', what: 'its id' } },
  },
  'instance-orphaned': {
    meaning: 'An instance has the tags of Joiner and no NodeClaim. It is terminated.',
    remedy: 'Nothing: a launch was cut short, or somebody removed a NodeClaim by force.',
    parameters: { instance: { type: 'text', what: 'its id' } },
  },
  'terminations-paused': {
    meaning: 'An operator has paused terminations.',
    remedy: '`joiner resume terminate`.',
    parameters: NONE,
  },
  'terminations-capped': {
    meaning:
      'As many instances as maxTerminationsPerMinute allows were terminated in the last minute.',
    remedy: 'Wait, or raise maxTerminationsPerMinute.',
    parameters: NONE,
  },
  'eviction-blocked': {
    meaning: 'A PodDisruptionBudget does not allow the eviction. The drain goes on later.',
    remedy: 'Start more replicas, raise maxUnavailable, or set terminationGracePeriod.',
    parameters: { pod: { type: 'text', what: '`namespace/name`' } },
  },
  'eviction-refused': {
    meaning: 'The API server refused the eviction for another reason, such as a webhook.',
    remedy: 'Look at the admission webhooks for pods/eviction.',
    parameters: {
      pod: { type: 'text', what: '`namespace/name`' },
      said: { type: 'text', what: 'what the API server says' },
    },
  },
  'rollout-restarted': {
    meaning:
      'The pod has the annotation `joiner.dev/drain: rollout` and its node is drained: its ' +
      'Deployment was restarted, which ends the pod once another is ready in its place.',
    remedy: 'Nothing.',
    parameters: { pod: { type: 'text', what: '`namespace/name`' } },
  },
  'rollout-refused': {
    meaning:
      'The pod has the annotation `joiner.dev/drain`, and its Deployment could not be restarted, ' +
      'would end the pod before another is ready, or the annotation has another value than ' +
      '`rollout`. The pod is evicted.',
    remedy:
      'Apply joiner-roles/rollout-role.yaml, which `joiner export roles` writes; use the ' +
      'annotation for pods of Deployments only, with `maxUnavailable: 0` and not paused.',
    parameters: {
      pod: { type: 'text', what: '`namespace/name`' },
      said: { type: 'text', what: 'why' },
    },
  },
  'taint-unplanned': {
    meaning: 'The node has a taint that keeps away the pods that it was launched for.',
    remedy: 'Find who sets the taint (kubelet arguments, a DaemonSet), and add it to the NodePool.',
    parameters: {
      node: { type: 'text', what: 'the Node' },
      taint: { type: 'text', what: '`key=value:effect`' },
      nodeClaim: { type: 'text', what: 'the NodeClaim' },
    },
  },
  'node-inconsistent': {
    meaning: 'The node is not what its NodeClaim promised: its labels, taints or resources differ.',
    remedy: 'Look at the user data and the kubelet settings of the EC2NodeClass.',
    parameters: { differences: { type: 'texts', what: 'each difference' } },
  },
  'reservation-ended': {
    meaning: 'The capacity reservation has ended. The instance runs on as on-demand.',
    remedy: 'Nothing, or extend the reservation.',
    parameters: { reservation: { type: 'text', what: 'its id' } },
  },
  'instance-awaited': {
    meaning: 'The NodeClaim has no instance yet.',
    remedy: 'Wait. Its condition Launched says what launches it or keeps it from being launched.',
    parameters: NONE,
  },
  'node-not-joined': {
    meaning: 'The instance starts, and its node is not ready yet.',
    remedy: 'Wait: nodes join within about a minute.',
    parameters: NONE,
  },
  'nodes-are-ready': {
    meaning: 'Every NodeClaim has its node, and no node is being drained.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'node-draining': {
    meaning: 'The node is being drained.',
    remedy: 'Look at the events FailedDraining of the node for what holds it.',
    parameters: NONE,
  },
} as const satisfies Definitions;

export const LIFECYCLE_SENTENCES: Sentences<typeof LIFECYCLE> = {
  'launch-timeout': () => 'The instance was not launched within 5 minutes',
  'registration-timeout': () => 'The node did not register within 15 minutes of the launch',
  'image-not-proven': ({ image }) =>
    `The node did not register, and the canary of its image ${image} failed`,
  'capacity-block-ending': ({ reservation, endsAt }) =>
    `Capacity Block ${reservation} ends at ${endsAt}`,
  'nodeclaim-expired': () => 'The NodeClaim is older than spec.expireAfter',
  'node-deleted': () => 'The Node was deleted',
  'instance-gone': ({ cause }) =>
    `The instance no longer exists and its Node is not Ready${because(cause)}`,
  'instance-terminated-early': ({ cause }) =>
    `The instance was terminated before its node registered${because(cause)}`,
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
    `Instance ${instance} is being terminated: its NodeClaim is being deleted, and the drain is over`,
  'instance-ended': ({ instance }) => `Instance ${instance} has ended, not by Joiner`,
  'instance-orphaned': ({ instance }) => `${instance}: no NodeClaim exists for it`,
  'terminations-paused': () => 'terminations are paused in the ConfigMap kube-system/joiner',
  'terminations-capped': () => 'terminations wait: maxTerminationsPerMinute is reached',
  'eviction-blocked': ({ pod }) => `A PodDisruptionBudget does not allow ${pod} to be evicted`,
  'eviction-refused': ({ pod, said }) => `${pod} was not evicted: ${said}`,
  'rollout-restarted': ({ pod }) =>
    `the Deployment of ${pod} was restarted, because its node is drained`,
  'rollout-refused': ({ pod, said }) =>
    `the Deployment of ${pod} was not restarted, and the pod is evicted: ${said}`,
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
