import { money } from '../../model/currency.ts';
import type { Sentences } from '../parameters.ts';
import type { BLOCKED, DISRUPTION } from '../reasons/disruption.ts';

export const DISRUPTION_SENTENCES: Sentences<typeof DISRUPTION> = {
  'node-empty': () => 'The node is empty',
  'node-empty-since': ({ since, seconds }) =>
    `The node has been empty since ${since}; consolidateAfter is ${seconds} s`,
  'pods-cheaper-elsewhere': ({ saving, nodes, hosts, minutes }) => {
    const where = hosts.length === 0 ? '' : ` Its pods move to ${hosts.join(', ')}.`;
    const others = nodes === 1 ? '' : ` and ${nodes - 1} ${nodes === 2 ? 'other' : 'others'}`;
    const saved = `saves ${money(saving.amount, saving.currency)} an hour.`;
    return (
      `Underutilized: deleting this node${others} ${saved}${where} ` +
      `The cost is repaid in ${minutes} min`
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
  'host-still-starts': ({ node }) => `Its pods would move to ${node}, which is still starting`,
};
