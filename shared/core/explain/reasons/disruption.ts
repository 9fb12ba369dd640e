import { count, type Definitions, NONE, number, price, text, texts, time } from '../parameters.ts';

const nodePool = text('the NodePool');

/** What `disrupt` does. */
export const DISRUPTION = {
  'node-empty': {
    meaning: 'Only DaemonSet pods run on the node, and no pod needs it. It is removed.',
    remedy: 'Nothing. consolidateAfter of the NodePool sets how long an empty node is kept.',
    parameters: NONE,
  },
  'node-empty-since': {
    meaning: 'Only DaemonSet pods have run on the node for consolidateAfter. It is removed.',
    remedy: 'Nothing. consolidateAfter of the NodePool sets how long an empty node is kept.',
    parameters: { since: time('since when'), seconds: number('consolidateAfter in seconds') },
  },
  'pods-cheaper-elsewhere': {
    meaning:
      'The pods of the nodes cost less on other nodes, and the move repays its cost in time.',
    remedy: 'Nothing. consolidateAfter, budgets and joiner.dev/consolidation-guard limit moves.',
    parameters: {
      saving: price('the saving per hour'),
      nodes: count('nodes that are deleted together'),
      hosts: texts('existing nodes that take the pods'),
      minutes: number('minutes until the cost of the move is repaid'),
    },
  },
  'pods-cheaper-on-replacements': {
    meaning: 'The replacements of the node are ready, and its pods cost less there.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'node-drifted': {
    meaning: 'The node had drifted, and its replacements are ready.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'replacements-launched': {
    meaning: 'The node is deleted when these NodeClaims are ready.',
    remedy: 'Nothing.',
    parameters: { nodeClaims: texts('the replacements') },
  },
  'replacements-ready': {
    meaning: 'The NodeClaims that replace the node are ready: it is drained.',
    remedy: 'Nothing.',
    parameters: { nodeClaims: texts('the replacements') },
  },
  'no-replacement-needed': {
    meaning: 'The pods of the node have room on other nodes: it is drained.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'replacement-launching': {
    meaning: 'The NodeClaim replaces a node.',
    remedy: 'Nothing.',
    parameters: { reason: text('the disruption reason') },
  },
  'replacements-awaited': {
    meaning: 'The node takes no new pods. It is deleted when these NodeClaims are ready.',
    remedy: 'Wait. After 10 minutes or more the replacement is cancelled and the node is kept.',
    parameters: { nodeClaims: texts('the replacements') },
  },
  'node-disrupting': {
    meaning: 'The NodeClaim is deleted, and its node is drained.',
    remedy: 'Nothing. The decision record has the details.',
    parameters: { reason: text('the disruption reason') },
  },
  'node-as-asked-again': {
    meaning: 'The node matched again before it was replaced. It is kept.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'replacement-gone': {
    meaning:
      'A replacement was deleted or got no instance. The node is kept, and Joiner tries again.',
    remedy: 'Look at the decisions about the replacement: `joiner decisions --node NAME`.',
    parameters: { nodeClaim: text('the replacement') },
  },
  'replacement-reason-unknown': {
    meaning: 'An annotation of the NodeClaim names a disruption reason that does not exist.',
    remedy: 'Nothing: the node is kept, and the annotation is removed.',
    parameters: { annotation: text('the annotation'), value: text('its value') },
  },
  'replacement-late': {
    meaning:
      'A replacement did not become ready in time. The node is kept, and Joiner tries again.',
    remedy: 'Look at the conditions Registered and Initialized of the replacement.',
    parameters: {
      nodeClaim: text('the replacement'),
      minutes: number('how long it had'),
      said: text('the message of its condition; may be empty'),
    },
  },
  'canary-late': {
    meaning: 'The first node with a new image or template did not become ready in time.',
    remedy: 'Correct the image or the template. No other node gets it for an hour.',
    parameters: {
      nodeClaim: text('the canary'),
      minutes: number('how long it had'),
      said: text('the message of its condition; may be empty'),
    },
  },
  'canary-failed': {
    meaning: 'The canary of a new image or template failed. No other node gets it.',
    remedy: 'Correct the image or the template. The next canary is tried after the time named.',
    parameters: {
      states: texts('the images or templates that the canary had'),
      until: time('when another canary is tried'),
      proven: text('`yes` if new nodes get the proven image meanwhile, else empty'),
      cause: text('what happened to the canary'),
    },
  },
  'moves-suspended': {
    meaning:
      'A node that consolidation launched did not become ready. Consolidation does not launch its ' +
      'instance type with its capacity type before the time in the sentence.',
    remedy: 'Look at the NodeClaim that is named. Consolidation tries them again after that time.',
    parameters: {
      target: text('the instance type and capacity type'),
      until: time('until when'),
      cause: text('what happened to the replacement'),
    },
  },
} as const satisfies Definitions;
/** Why nodes may not be disrupted now, whatever the reason of the disruption. */
export const BLOCKED = {
  'node-protected': {
    meaning: 'The annotation karpenter.sh/do-not-disrupt of the Node excludes it from disruption.',
    remedy: 'Remove the annotation.',
    parameters: { node: text('the Node'), annotation: text('the annotation') },
  },
  'node-nominated': {
    meaning: 'A recent plan uses the node for pending pods.',
    remedy: 'Wait a minute.',
    parameters: NONE,
  },
  'pod-protected': {
    meaning:
      'The annotation karpenter.sh/do-not-disrupt of a pod prevents the disruption of its node.',
    remedy: 'Remove the annotation, or wait until the pod has finished.',
    parameters: { pod: text('`namespace/name`'), annotation: text('the annotation') },
  },
  'pod-with-several-budgets': {
    meaning: 'The API server refuses to evict a pod that several PodDisruptionBudgets select.',
    remedy: 'Let one PodDisruptionBudget select the pod.',
    parameters: { pod: text('`namespace/name`') },
  },
  'eviction-not-allowed': {
    meaning: 'A PodDisruptionBudget allows no eviction now.',
    remedy: 'Start more replicas, or raise maxUnavailable.',
    parameters: { budget: text('`namespace/name`'), pod: text('`namespace/name`') },
  },
  'pod-never-evicted': {
    meaning:
      'A pod tolerates the taint of disrupted nodes, so it is not evicted before the instance is terminated.',
    remedy: 'Remove the toleration of karpenter.sh/disrupted.',
    parameters: { pod: text('`namespace/name`'), taint: text('the key of the taint') },
  },
  'nodepool-cannot-launch': {
    meaning: 'The NodePool is not ready, so it could not launch a replacement.',
    remedy: 'Look at the conditions of the NodePool and of its EC2NodeClass.',
    parameters: { said: text('what its condition Ready says') },
  },
  'replacements-paused': {
    meaning: 'An operator has paused launches. The node stays until they resume.',
    remedy: '`joiner resume launch`.',
    parameters: NONE,
  },
  'disruptions-paused': {
    meaning: 'An operator has paused disruptions.',
    remedy: '`joiner resume disrupt`.',
    parameters: NONE,
  },
  'budget-blocks': {
    meaning: 'A disruption budget of the NodePool allows no further node for this reason now.',
    remedy: 'Wait, or change spec.disruption.budgets. `joiner budgets` shows when they allow more.',
    parameters: { reason: text('the disruption reason') },
  },
  'budgets-used-up': {
    meaning: 'The disruption budgets of the NodePool allow no further node now.',
    remedy: 'Wait, or change spec.disruption.budgets. `joiner budgets` shows when they allow more.',
    parameters: { nodePool },
  },
  'canary-pending': {
    meaning:
      'The first node with a new image or template is starting. Other nodes are replaced later.',
    remedy: 'Wait.',
    parameters: {
      nodeClaim: text('the canary'),
      state: text('the state that it tries, such as `EC2NodeClass/default image ami-…`'),
    },
  },
  'canary-failed-before': {
    meaning:
      'The canary of the new image or template failed. No other node gets it until a given time.',
    remedy: 'Correct the image or the template.',
    parameters: {
      state: text('the state that it tried, such as `EC2NodeClass/default image ami-…`'),
      until: time('until when'),
    },
  },
  'static-launches-halted': {
    meaning: 'The last nodes of the NodePool did not register: nothing would replace the node.',
    remedy: 'Look at the user data, the AMI, the node role and the network of the EC2NodeClass.',
    parameters: { nodePool },
  },
  'static-limit-reached': {
    meaning:
      'A replacement temporarily needs one more node, and spec.limits.nodes does not allow it.',
    remedy: 'Raise spec.limits.nodes above spec.replicas.',
    parameters: { nodePool },
  },
  'pod-would-wait': {
    meaning: 'Without the node, one of its pods would stay pending.',
    remedy: 'The reason for the pod names what it lacks.',
    parameters: {
      pod: text('`namespace/name`'),
      why: text('why it would stay pending; may be empty'),
    },
  },
  'nothing-to-disrupt': {
    meaning: 'No node of the cluster is one that Joiner may disrupt.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'not-considered-yet': {
    meaning: 'The pass did not evaluate the node: the maximum number of plans was reached.',
    remedy: 'Wait: each pass starts with other nodes.',
    parameters: NONE,
  },
  'host-still-starts': {
    meaning: 'The pods would move to a node that is not ready yet.',
    remedy: 'Wait.',
    parameters: { node: text('the node or NodeClaim') },
  },
} as const satisfies Definitions;
