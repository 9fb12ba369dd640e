import { money } from '../../model/currency.ts';
import { type Definitions, NONE, type Sentences } from '../parameters.ts';

const nodePool = { type: 'text', what: 'the NodePool' } as const;

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
    parameters: {
      since: { type: 'time', what: 'since when' },
      seconds: { type: 'number', what: 'consolidateAfter in seconds' },
    },
  },
  'pods-cheaper-elsewhere': {
    meaning:
      'The pods of the nodes cost less on other nodes, and the move repays its cost in time.',
    remedy: 'Nothing. consolidateAfter, budgets and joiner.dev/consolidation-guard limit moves.',
    parameters: {
      saving: { type: 'money', what: 'the saving per hour' },
      nodes: { type: 'count', what: 'nodes that are deleted together' },
      hosts: { type: 'texts', what: 'existing nodes that take the pods' },
      cost: {
        type: 'money',
        what: 'the cost of the move: evictions, and the time in which old and new nodes run',
      },
      minutes: { type: 'number', what: 'minutes until the cost of the move is repaid' },
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
    parameters: { nodeClaims: { type: 'texts', what: 'the replacements' } },
  },
  'replacements-ready': {
    meaning: 'The NodeClaims that replace the node are ready: it is drained.',
    remedy: 'Nothing.',
    parameters: { nodeClaims: { type: 'texts', what: 'the replacements' } },
  },
  'no-replacement-needed': {
    meaning: 'The pods of the node have room on other nodes: it is drained.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'replacement-launching': {
    meaning: 'The NodeClaim replaces a node.',
    remedy: 'Nothing.',
    parameters: { reason: { type: 'text', what: 'the disruption reason' } },
  },
  'replacements-awaited': {
    meaning: 'The node takes no new pods. It is deleted when these NodeClaims are ready.',
    remedy: 'Wait. After 10 minutes or more the replacement is cancelled and the node is kept.',
    parameters: { nodeClaims: { type: 'texts', what: 'the replacements' } },
  },
  'node-disrupting': {
    meaning: 'The NodeClaim is deleted, and its node is drained.',
    remedy: 'Nothing. The decision record has the details.',
    parameters: { reason: { type: 'text', what: 'the disruption reason' } },
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
    parameters: { nodeClaim: { type: 'text', what: 'the replacement' } },
  },
  'replacement-reason-unknown': {
    meaning: 'An annotation of the NodeClaim names a disruption reason that does not exist.',
    remedy: 'Nothing: the node is kept, and the annotation is removed.',
    parameters: {
      annotation: { type: 'text', what: 'the annotation' },
      value: { type: 'text', what: 'its value' },
    },
  },
  'replacement-late': {
    meaning:
      'A replacement did not become ready in time. The node is kept, and Joiner tries again.',
    remedy: 'Look at the conditions Registered and Initialized of the replacement.',
    parameters: {
      nodeClaim: { type: 'text', what: 'the replacement' },
      minutes: { type: 'number', what: 'how long it had' },
      said: { type: 'text', what: 'the message of its condition; may be empty' },
    },
  },
  'canary-late': {
    meaning: 'The first node with a new image or template did not become ready in time.',
    remedy: 'Correct the image or the template. No other node gets it for an hour.',
    parameters: {
      nodeClaim: { type: 'text', what: 'the canary' },
      minutes: { type: 'number', what: 'how long it had' },
      said: { type: 'text', what: 'the message of its condition; may be empty' },
    },
  },
  'canary-failed': {
    meaning: 'The canary of a new image or template failed. No other node gets it.',
    remedy: 'Correct the image or the template. The next canary is tried after the time named.',
    parameters: {
      states: { type: 'texts', what: 'the images or templates that the canary had' },
      until: { type: 'time', what: 'when another canary is tried' },
      proven: {
        type: 'text',
        what: '`yes` if new nodes get the proven image meanwhile, else empty',
      },
      cause: { type: 'text', what: 'what happened to the canary' },
    },
  },
  'moves-suspended': {
    meaning:
      'A node that consolidation launched did not become ready. Consolidation does not launch its ' +
      'instance type with its capacity type before the time in the sentence.',
    remedy: 'Look at the NodeClaim that is named. Consolidation tries them again after that time.',
    parameters: {
      target: { type: 'text', what: 'the instance type and capacity type' },
      until: { type: 'time', what: 'until when' },
      cause: { type: 'text', what: 'what happened to the replacement' },
    },
  },
} as const satisfies Definitions;
/** Why nodes may not be disrupted now, whatever the reason of the disruption. */
export const BLOCKED = {
  'node-protected': {
    meaning: 'The annotation karpenter.sh/do-not-disrupt of the Node excludes it from disruption.',
    remedy: 'Remove the annotation.',
    parameters: {
      node: { type: 'text', what: 'the Node' },
      annotation: { type: 'text', what: 'the annotation' },
    },
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
    parameters: {
      pod: { type: 'text', what: '`namespace/name`' },
      annotation: { type: 'text', what: 'the annotation' },
    },
  },
  'pod-with-several-budgets': {
    meaning: 'The API server refuses to evict a pod that several PodDisruptionBudgets select.',
    remedy: 'Let one PodDisruptionBudget select the pod.',
    parameters: { pod: { type: 'text', what: '`namespace/name`' } },
  },
  'eviction-not-allowed': {
    meaning: 'A PodDisruptionBudget allows no eviction now.',
    remedy: 'Start more replicas, or raise maxUnavailable.',
    parameters: {
      budget: { type: 'text', what: '`namespace/name`' },
      pod: { type: 'text', what: '`namespace/name`' },
    },
  },
  'pod-never-evicted': {
    meaning:
      'A pod tolerates the taint of disrupted nodes, so it is not evicted before the instance is terminated.',
    remedy: 'Remove the toleration of karpenter.sh/disrupted.',
    parameters: {
      pod: { type: 'text', what: '`namespace/name`' },
      taint: { type: 'text', what: 'the key of the taint' },
    },
  },
  'nodepool-cannot-launch': {
    meaning: 'The NodePool is not ready, so it could not launch a replacement.',
    remedy: 'Look at the conditions of the NodePool and of its EC2NodeClass.',
    parameters: { said: { type: 'text', what: 'what its condition Ready says' } },
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
  'disruptions-paused-by-pool': {
    meaning: 'A window of the annotation `joiner.dev/pause` of the NodePool pauses disruptions.',
    remedy: 'Wait for its end, or change the annotation.',
    parameters: {
      nodePool: { type: 'text', what: 'the NodePool' },
      window: { type: 'text', what: 'the window, as in the annotation' },
    },
  },
  'budget-blocks': {
    meaning: 'A disruption budget of the NodePool allows no further node for this reason now.',
    remedy: 'Wait, or change spec.disruption.budgets. `joiner budgets` shows when they allow more.',
    parameters: { reason: { type: 'text', what: 'the disruption reason' } },
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
      nodeClaim: { type: 'text', what: 'the canary' },
      state: {
        type: 'text',
        what: 'the state that it tries, such as `EC2NodeClass/default image ami-…`',
      },
    },
  },
  'canary-failed-before': {
    meaning:
      'The canary of the new image or template failed. No other node gets it until a given time.',
    remedy: 'Correct the image or the template.',
    parameters: {
      state: {
        type: 'text',
        what: 'the state that it tried, such as `EC2NodeClass/default image ami-…`',
      },
      until: { type: 'time', what: 'until when' },
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
      pod: { type: 'text', what: '`namespace/name`' },
      why: { type: 'text', what: 'why it would stay pending; may be empty' },
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
  'move-held-before': {
    meaning:
      'The last move of the node was given up: its replacements were ready, and its pods could not ' +
      'be evicted for 10 minutes. The wait is doubled with each such move, up to 8 hours.',
    remedy:
      'Let its PodDisruptionBudgets allow evictions. Without the annotation joiner.dev/held-moves ' +
      'of the NodeClaim the next move may begin at once.',
    parameters: { until: { type: 'time', what: 'when another move may begin' } },
  },
  'move-undone-before': {
    meaning:
      'The last move of the pods saved nothing: within 20 minutes a node was launched for them. The ' +
      'wait before the next move is 15 minutes, and is doubled with each such move, up to 8 hours.',
    remedy:
      'Look at the decisions of both nodes for what the plan did not know of. Without the annotation ' +
      'joiner.dev/undone-moves of the NodePool the next move may begin at once.',
    parameters: {
      workload: { type: 'text', what: 'the namespace and name of what owns the pods' },
      until: { type: 'time', what: 'when another move may begin' },
    },
  },
  'pause-begins-soon': {
    meaning:
      'A window of the annotation `joiner.dev/pause` of the NodePool begins within 10 minutes. A ' +
      'replacement that begins now would wait for its end, and both nodes would be paid for.',
    remedy: 'Wait for the end of the window, or change the annotation.',
    parameters: {
      nodePool: { type: 'text', what: 'the NodePool' },
      window: { type: 'text', what: 'the window, as in the annotation' },
    },
  },
  'other-nodes-first': {
    meaning: 'The pass disrupts other nodes. It decides on this one after that.',
    remedy: 'Nothing.',
    parameters: {
      nodeClaims: { type: 'texts', what: 'the NodeClaims of these nodes, five at most' },
      count: { type: 'number', what: 'how many they are' },
    },
  },
  'host-still-starts': {
    meaning: 'The pods would move to a node that is not ready yet.',
    remedy: 'Wait.',
    parameters: { node: { type: 'text', what: 'the node or NodeClaim' } },
  },
} as const satisfies Definitions;

export const DISRUPTION_SENTENCES: Sentences<typeof DISRUPTION> = {
  'node-empty': () => 'The node is empty',
  'node-empty-since': ({ since, seconds }) =>
    `The node has been empty since ${since}; consolidateAfter is ${seconds} s`,
  'pods-cheaper-elsewhere': ({ saving, nodes, hosts, cost, minutes }) => {
    const where = hosts.length === 0 ? '' : ` Its pods move to ${hosts.join(', ')}.`;
    const others = nodes === 1 ? '' : ` and ${nodes - 1} ${nodes === 2 ? 'other' : 'others'}`;
    const together = nodes === 1 ? '' : ' together';
    const saved = `saves ${money(saving.amount, saving.currency)} an hour${together}.`;
    return (
      `Underutilized: deleting this node${others} ${saved}${where} ` +
      `The cost of the move, ${money(cost.amount, cost.currency)}, is repaid in ${minutes} min`
    );
  },
  'pods-cheaper-on-replacements': () => 'its pods cost less on other nodes',
  'node-drifted': () => 'drifted',
  'replacements-launched': ({ nodeClaims }) => `replacements: ${nodeClaims.join(', ')}`,
  'replacements-ready': ({ nodeClaims }) => `replacements ready: ${nodeClaims.join(', ')}`,
  'no-replacement-needed': () => 'no replacement is needed',
  'replacement-launching': ({ reason }) => `Launching NodeClaim: ${reason}`,
  'replacements-awaited': ({ nodeClaims }) => `Waiting for ${nodeClaims.join(', ')} to be ready`,
  'node-disrupting': ({ reason }) => `Disrupting Node: ${reason}`,
  'node-as-asked-again': () => 'The node matches its NodePool and EC2NodeClass again',
  'replacement-gone': ({ nodeClaim }) => `NodeClaim ${nodeClaim}, its replacement, is gone`,
  'replacement-reason-unknown': ({ annotation, value }) =>
    `${annotation} "${value}" is not a disruption reason`,
  'replacement-late': ({ nodeClaim, minutes, said }) =>
    `Its replacement: ${lateText(nodeClaim, minutes, said)}`,
  'canary-late': ({ nodeClaim, minutes, said }) => lateText(nodeClaim, minutes, said),
  'canary-failed': ({ states, until, proven, cause }) => {
    const meanwhile = proven === '' ? '' : ' New nodes get the proven image.';
    return (
      `The canary with "${states.join('", "')}" did not become ready: no other node gets it ` +
      `before ${until}.${meanwhile} ${cause}`
    );
  },
  'moves-suspended': ({ target, until, cause }) =>
    `Consolidation launches no ${target} before ${until}. ${cause}`,
};

function lateText(nodeClaim: string, minutes: number, said: string): string {
  const why = said === '' ? '' : `: ${said}`;
  return `NodeClaim ${nodeClaim} was not ready after ${minutes} minutes${why}`;
}

export const BLOCKED_SENTENCES: Sentences<typeof BLOCKED> = {
  'node-protected': ({ node, annotation }) => `Node ${node} has the annotation ${annotation}`,
  'node-nominated': () => 'The node is nominated for pending pods',
  'pod-protected': ({ pod, annotation }) => `Pod ${pod} has the annotation ${annotation}`,
  'pod-with-several-budgets': ({ pod }) => `Pod ${pod} has more than one PodDisruptionBudget`,
  'eviction-not-allowed': ({ budget, pod }) =>
    `PodDisruptionBudget ${budget} does not allow the eviction of Pod ${pod}`,
  'pod-never-evicted': ({ pod, taint }) =>
    `Pod ${pod} tolerates the taint ${taint} and is not evicted`,
  'nodepool-cannot-launch': ({ said }) => `The NodePool is not ready: ${said}`,
  'replacements-paused': () => 'Launches are paused',
  'disruptions-paused': () => 'disruptions are paused in the ConfigMap kube-system/joiner',
  'disruptions-paused-by-pool': ({ nodePool: name, window }) =>
    `NodePool ${name} pauses disruptions: ${window}`,
  'budget-blocks': ({ reason }) =>
    `No allowed disruptions for disruption reason ${reason} due to blocking budget`,
  'budgets-used-up': ({ nodePool: name }) => `Budgets of NodePool ${name} allow no disruption now`,
  'canary-pending': ({ nodeClaim, state }) => `NodeClaim ${nodeClaim} is the canary of "${state}"`,
  'canary-failed-before': ({ state, until }) =>
    `The canary with "${state}" did not become ready: no other node is replaced before ${until}`,
  'static-launches-halted': ({ nodePool: name }) =>
    `Launches of NodePool ${name} are halted: its last nodes did not register`,
  'static-limit-reached': ({ nodePool: name }) =>
    `NodePool ${name} has as many nodes as spec.limits.nodes allows`,
  'pod-would-wait': ({ pod, why }) =>
    `Pod ${pod} would stay pending${why === '' ? '' : `: ${why}`}`,
  'nothing-to-disrupt': () => 'there is no initialized node of a NodePool with an EC2NodeClass',
  'not-considered-yet': () => 'not evaluated in this pass',
  'move-held-before': ({ until }) =>
    `Its pods held the last move of the node: no other begins before ${until}`,
  'move-undone-before': ({ workload, until }) =>
    `A node was launched for pods of ${workload} after their last move: no other begins before ${until}`,
  'pause-begins-soon': ({ nodePool: name, window }) =>
    `NodePool ${name} pauses disruptions within 10 minutes: ${window}`,
  'other-nodes-first': ({ nodeClaims, count }) =>
    `other nodes go first (${count}): ${nodeClaims.join(', ')}`,
  'host-still-starts': ({ node }) => `Its pods would move to ${node}, which is still starting`,
};
