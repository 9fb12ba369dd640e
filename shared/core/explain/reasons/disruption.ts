import { money } from '../../model/currency.ts';
import { count, define, NONE, number, price, text, texts, time } from '../parameters.ts';

const nodePool = text('the NodePool');

/** What `disrupt` does. */
export const DISRUPTION = {
  'node-empty': define({
    meaning: 'Only DaemonSet pods run on the node, and no pod needs it. It is removed.',
    remedy: 'Nothing. consolidateAfter of the NodePool sets how long an empty node is kept.',
    parameters: NONE,
    sentence: () => 'The node is empty',
  }),
  'node-empty-since': define({
    meaning: 'Only DaemonSet pods have run on the node for consolidateAfter. It is removed.',
    remedy: 'Nothing. consolidateAfter of the NodePool sets how long an empty node is kept.',
    parameters: { since: time('since when'), seconds: number('consolidateAfter in seconds') },
    sentence: ({ since, seconds }) =>
      `The node has been empty since ${since}; consolidateAfter is ${seconds} s`,
  }),
  'pods-cheaper-elsewhere': define({
    meaning: 'The pods of the nodes run cheaper on other nodes, and moving them pays back.',
    remedy: 'Nothing. consolidateAfter, budgets and joiner.dev/consolidation-guard limit moves.',
    parameters: {
      saving: price('what the move saves an hour'),
      nodes: count('nodes that go together'),
      hosts: texts('nodes that are there and take pods'),
      minutes: number('after how long the move has paid back'),
    },
    sentence: ({ saving, nodes, hosts, minutes }) => {
      const where = hosts.length === 0 ? '' : `, its pods go to ${hosts.join(', ')}`;
      const others = nodes === 1 ? '' : ` with ${nodes - 1} others`;
      const saved = `saves ${money(saving.amount, saving.currency)} an hour${others}`;
      return `Underutilized: ${saved}${where}; pays back in ${minutes} min`;
    },
  }),
  'pods-cheaper-on-replacements': define({
    meaning: 'What replaces the node is ready, and its pods run cheaper there.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'its pods run cheaper on other nodes',
  }),
  'node-drifted': define({
    meaning: 'The node had drifted, and what replaces it is ready.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'drifted',
  }),
  'replacements-launched': define({
    meaning: 'The node goes once these NodeClaims are ready.',
    remedy: 'Nothing.',
    parameters: { nodeClaims: texts('the replacements') },
    sentence: ({ nodeClaims }) => `by ${nodeClaims.join(', ')}`,
  }),
  'replacements-ready': define({
    meaning: 'The NodeClaims that replace the node are ready: it is drained.',
    remedy: 'Nothing.',
    parameters: { nodeClaims: texts('the replacements') },
    sentence: ({ nodeClaims }) => `${nodeClaims.join(', ')} is ready`,
  }),
  'no-replacement-needed': define({
    meaning: 'The pods of the node have room on other nodes: it is drained.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'its pods need no replacement',
  }),
  'replacement-launching': define({
    meaning: 'The NodeClaim replaces a node.',
    remedy: 'Nothing.',
    parameters: { reason: text('the disruption reason') },
    sentence: ({ reason }) => `Launching NodeClaim: ${reason}`,
  }),
  'replacements-awaited': define({
    meaning: 'The node takes no new pods, and goes once these NodeClaims are ready.',
    remedy: 'Wait. After 10 minutes or more the replacement is given up and the node stays.',
    parameters: { nodeClaims: texts('the replacements') },
    sentence: ({ nodeClaims }) => `Waiting for ${nodeClaims.join(', ')} to be ready`,
  }),
  'node-disrupting': define({
    meaning: 'The NodeClaim is deleted, and its node is drained.',
    remedy: 'Nothing. The record of the decision says why.',
    parameters: { reason: text('the disruption reason') },
    sentence: ({ reason }) => `Disrupting Node: ${reason}`,
  }),
  'node-as-asked-again': define({
    meaning: 'The node matches again before it was replaced. It stays.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'The node matches its NodePool and EC2NodeClass again',
  }),
  'replacement-gone': define({
    meaning: 'A replacement was deleted or got no instance. The node stays, and is tried again.',
    remedy: 'Look at the decisions about the replacement: `joiner decisions --node NAME`.',
    parameters: { nodeClaim: text('the replacement') },
    sentence: ({ nodeClaim }) => `NodeClaim ${nodeClaim}, its replacement, is gone`,
  }),
  'replacement-reason-unknown': define({
    meaning: 'An annotation of the NodeClaim names a disruption reason that there is not.',
    remedy: 'Nothing: the node stays, and the annotation is removed.',
    parameters: { annotation: text('the annotation'), value: text('what it says') },
    sentence: ({ annotation, value }) => `${annotation} "${value}" is not a disruption reason`,
  }),
  'replacement-late': define({
    meaning: 'A replacement did not become ready in time. The node stays, and is tried again.',
    remedy: 'Look at the conditions Registered and Initialized of the replacement.',
    parameters: {
      nodeClaim: text('the replacement'),
      minutes: number('how long it had'),
      said: text('what its condition says; may be empty'),
    },
    sentence: ({ nodeClaim, minutes, said }) =>
      `Its replacement: ${lateText(nodeClaim, minutes, said)}`,
  }),
  'canary-late': define({
    meaning: 'The first node with a new image or template did not become ready in time.',
    remedy: 'Correct the image or the template. No other node gets it for an hour.',
    parameters: {
      nodeClaim: text('the canary'),
      minutes: number('how long it had'),
      said: text('what its condition says; may be empty'),
    },
    sentence: ({ nodeClaim, minutes, said }) => lateText(nodeClaim, minutes, said),
  }),
  'canary-failed': define({
    meaning: 'The canary of a new image or template failed. Other nodes keep what they have.',
    remedy: 'Correct the image or the template. The next canary is tried after the time named.',
    parameters: {
      states: texts('what the canary was the first to have'),
      until: time('when another canary is tried'),
      proven: text('`yes` if new nodes get the proven image meanwhile, else empty'),
      cause: text('what happened to the canary'),
    },
    sentence: ({ states, until, proven, cause }) => {
      const meanwhile = proven === '' ? '' : ' New nodes get the proven image.';
      return (
        `The canary with "${states.join('", "')}" did not become ready: no other node is replaced ` +
        `before ${until}.${meanwhile} ${cause}`
      );
    },
  }),
  'moves-suspended': define({
    meaning:
      'A node that consolidation launched did not become ready. Its kind is avoided a while.',
    remedy: 'Look at the NodeClaim that is named. Consolidation tries the kind again later.',
    parameters: {
      target: text('the instance type and capacity type'),
      until: time('until when'),
      cause: text('what happened to the replacement'),
    },
    sentence: ({ target, until, cause }) =>
      `Consolidation launches no ${target} before ${until}. ${cause}`,
  }),
} as const;

function lateText(nodeClaim: string, minutes: number, said: string): string {
  const why = said === '' ? '' : `: ${said}`;
  return `NodeClaim ${nodeClaim} was not ready after ${minutes} minutes${why}`;
}

/** Why nodes may not be disrupted now, whatever the reason of the disruption. */
export const BLOCKED = {
  'node-protected': define({
    meaning: 'The annotation karpenter.sh/do-not-disrupt of the Node excludes it from disruption.',
    remedy: 'Remove the annotation.',
    parameters: { node: text('the Node'), annotation: text('the annotation') },
    sentence: ({ node, annotation }) => `Node ${node} has the annotation ${annotation}`,
  }),
  'node-nominated': define({
    meaning: 'A plan that was just made counts on the node for pods that wait.',
    remedy: 'Wait a minute.',
    parameters: NONE,
    sentence: () => 'The node is nominated for pending pods',
  }),
  'pod-protected': define({
    meaning: 'The annotation karpenter.sh/do-not-disrupt of a pod holds the node.',
    remedy: 'Remove the annotation, or wait for the end of the pod.',
    parameters: { pod: text('`namespace/name`'), annotation: text('the annotation') },
    sentence: ({ pod, annotation }) => `Pod ${pod} has the annotation ${annotation}`,
  }),
  'pod-with-several-budgets': define({
    meaning: 'The API server refuses to evict a pod that several PodDisruptionBudgets select.',
    remedy: 'Let one PodDisruptionBudget select the pod.',
    parameters: { pod: text('`namespace/name`') },
    sentence: ({ pod }) => `Pod ${pod} has more than one PodDisruptionBudget`,
  }),
  'eviction-not-allowed': define({
    meaning: 'A PodDisruptionBudget allows no eviction now.',
    remedy: 'Start more replicas, or raise maxUnavailable.',
    parameters: { budget: text('`namespace/name`'), pod: text('`namespace/name`') },
    sentence: ({ budget, pod }) =>
      `PodDisruptionBudget ${budget} does not allow the eviction of Pod ${pod}`,
  }),
  'pod-never-evicted': define({
    meaning: 'A pod tolerates the taint of disrupted nodes: it would be cut off with its instance.',
    remedy: 'Remove the toleration of karpenter.sh/disrupted.',
    parameters: { pod: text('`namespace/name`'), taint: text('the key of the taint') },
    sentence: ({ pod, taint }) => `Pod ${pod} tolerates the taint ${taint} and is not evicted`,
  }),
  'nodepool-cannot-launch': define({
    meaning: 'The NodePool is not ready: it could launch nothing in the place of the node.',
    remedy: 'Look at the conditions of the NodePool and of its EC2NodeClass.',
    parameters: { said: text('what its condition Ready says') },
    sentence: ({ said }) => `The NodePool is not ready: ${said}`,
  }),
  'replacements-paused': define({
    meaning: 'An operator has paused launches: nothing could be launched in the place of the node.',
    remedy: '`joiner resume launch`.',
    parameters: NONE,
    sentence: () => 'Launches are paused',
  }),
  'disruptions-paused': define({
    meaning: 'An operator has paused disruptions.',
    remedy: '`joiner resume disrupt`.',
    parameters: NONE,
    sentence: () => 'disruptions are paused in the ConfigMap kube-system/joiner',
  }),
  'budget-blocks': define({
    meaning: 'A disruption budget of the NodePool allows no node more for this reason now.',
    remedy: 'Wait, or change spec.disruption.budgets. `joiner budgets` shows when they allow more.',
    parameters: { reason: text('the disruption reason') },
    sentence: ({ reason }) =>
      `No allowed disruptions for disruption reason ${reason} due to blocking budget`,
  }),
  'budgets-used-up': define({
    meaning: 'The disruption budgets of the NodePool allow no node more now.',
    remedy: 'Wait, or change spec.disruption.budgets. `joiner budgets` shows when they allow more.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) => `Budgets of NodePool ${name} allow no disruption now`,
  }),
  'canary-pending': define({
    meaning: 'The first node with a new image or template starts. The others wait for it.',
    remedy: 'Wait.',
    parameters: { nodeClaim: text('the canary'), state: text('what it is the first to have') },
    sentence: ({ nodeClaim, state }) => `NodeClaim ${nodeClaim} is the canary of "${state}"`,
  }),
  'canary-failed-before': define({
    meaning: 'The canary of the new image or template failed. No other node gets it before a time.',
    remedy: 'Correct the image or the template.',
    parameters: { state: text('what the canary was the first to have'), until: time('until when') },
    sentence: ({ state, until }) =>
      `The canary with "${state}" did not become ready: no other node is replaced before ${until}`,
  }),
  'static-launches-halted': define({
    meaning: 'The last nodes of the NodePool did not register: nothing would replace the node.',
    remedy: 'Look at the user data, the AMI, the node role and the network of the EC2NodeClass.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) =>
      `Launches of NodePool ${name} are halted: its last nodes did not register`,
  }),
  'static-limit-reached': define({
    meaning:
      'A replacement needs one node more for a while, and spec.limits.nodes does not allow it.',
    remedy: 'Raise spec.limits.nodes above spec.replicas.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) =>
      `NodePool ${name} has as many nodes as spec.limits.nodes allows`,
  }),
  'pod-would-wait': define({
    meaning: 'Without the node a pod of it would have no place.',
    remedy: 'What is said of the pod names what it lacks.',
    parameters: { pod: text('`namespace/name`'), why: text('why it has no place; may be empty') },
    sentence: ({ pod, why }) => `Pod ${pod} would stay pending${why === '' ? '' : `: ${why}`}`,
  }),
  'nothing-to-disrupt': define({
    meaning: 'No node of the cluster is one that Joiner may disrupt.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'there is no initialized node of a NodePool of ours',
  }),
  'not-considered-yet': define({
    meaning:
      'The pass has not looked at the node: its plans were used up, or other nodes go first.',
    remedy: 'Wait: each pass begins with other nodes.',
    parameters: NONE,
    sentence: () => 'not looked at in this pass',
  }),
  'host-still-starts': define({
    meaning: 'The pods would go to a node that is not ready yet.',
    remedy: 'Wait.',
    parameters: { node: text('the node or NodeClaim') },
    sentence: ({ node }) => `Its pods would go to ${node}, which still starts`,
  }),
} as const;
