import { money } from '../../model/currency.ts';
import { count, define, NONE, number, price, text } from '../parameters.ts';

const nodePool = text('the NodePool');

function exceptOn(closed: number): string {
  if (closed === 0) return '';
  const where = closed === 1 ? 'a node' : `${closed} nodes`;
  return `, and ${where} whose pods changed within consolidateAfter took no pods`;
}

/** Why the pods of a node are not moved, so that it stays. */
export const CONSOLIDATION = {
  'nodepool-static-stays': define({
    meaning: 'Nodes of static NodePools are never consolidated.',
    remedy: 'Lower spec.replicas.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) => `NodePool ${name} is static`,
  }),
  'policy-when-empty': define({
    meaning: 'The NodePool removes empty nodes only.',
    remedy: 'Set consolidationPolicy to WhenEmptyOrUnderutilized or Balanced.',
    parameters: NONE,
    sentence: () => 'consolidationPolicy is WhenEmpty',
  }),
  'consolidate-after-never': define({
    meaning: 'The NodePool switches consolidation off.',
    remedy: 'Set consolidateAfter to a duration.',
    parameters: NONE,
    sentence: () => 'consolidateAfter is Never',
  }),
  'pods-changed-recently': define({
    meaning: 'A pod came to the node or left it within consolidateAfter.',
    remedy: 'Wait, or lower consolidateAfter of the NodePool.',
    parameters: NONE,
    sentence: () => 'a pod was bound or deleted within consolidateAfter',
  }),
  'guard-unreadable': define({
    meaning: 'An annotation of the NodePool cannot be read: its nodes are not consolidated.',
    remedy: 'Correct the annotation.',
    parameters: {
      annotation: text('the annotation'),
      value: text('what it says'),
      like: text('what it should be like'),
    },
    sentence: ({ annotation, value, like }) =>
      `Annotation ${annotation}: "${value}" is not like ${like}`,
  }),
  'guard-age': define({
    meaning: 'The consolidation guard of the NodePool keeps young nodes.',
    remedy: 'Wait, or lower age in joiner.dev/consolidation-guard.',
    parameters: { nodePool, minutes: number('how much longer') },
    sentence: ({ nodePool: name, minutes }) =>
      `joiner.dev/consolidation-guard of NodePool ${name} keeps it for ${minutes} more minutes`,
  }),
  'guard-saving': define({
    meaning: 'The move would save less than the consolidation guard of the NodePool asks for.',
    remedy: 'Lower saving in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      saving: price('what it would save an hour'),
      asked: price('the guard'),
    },
    sentence: ({ nodePool: name, saving, asked }) => {
      const [saved, least] = [saving, asked].map((each) => money(each.amount, each.currency));
      return `It would save ${saved} an hour, and joiner.dev/consolidation-guard of NodePool ${name} asks for ${least}`;
    },
  }),
  'guard-share': define({
    meaning: 'The move would save a smaller share than the consolidation guard asks for.',
    remedy: 'Lower share in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      percent: number('what it would save, in percent of what its nodes cost'),
      asked: number('the guard, in percent'),
    },
    sentence: ({ nodePool: name, percent, asked }) =>
      `It would save ${percent} %, and joiner.dev/consolidation-guard of NodePool ${name} asks for ${asked} %`,
  }),
  'guard-limits': define({
    meaning:
      'The limits of the pods together would be more than the limits guard of a NodePool allows.',
    remedy: 'Raise the ratio in joiner.dev/limits-guard, or lower the limits of the pods.',
    parameters: {
      nodePool,
      resource: text('the resource'),
      node: text('the node that would take the pods'),
      share: text('the sum of limits, as a multiple of what the node has'),
      allowed: number('the guard'),
    },
    sentence: ({ nodePool: name, resource, node, share, allowed }) =>
      `Limits for ${resource} on ${node} would come to ${share} times what it has, ` +
      `of ${allowed} that NodePool ${name} allows`,
  }),
  'pods-not-cheaper': define({
    meaning: 'No other place for the pods costs less than the node.',
    remedy: 'Nothing: the node earns its price.',
    parameters: { closed: count('nodes that were left out as their pods have just changed') },
    sentence: ({ closed }) => `Its pods would not run cheaper on other nodes${exceptOn(closed)}`,
  }),
  'saving-too-small': define({
    meaning: 'Even the whole price of the node would not pay for the eviction of its pods in time.',
    remedy: 'Raise consolidationHorizon or lower evictionPrice, if moves are to be made for less.',
    parameters: NONE,
    sentence: () => 'The saving would not pay back within the horizon',
  }),
  'move-does-not-pay': define({
    meaning:
      'What the move saves within consolidationHorizon is less than what evictions count as.',
    remedy: 'Raise consolidationHorizon or lower evictionPrice, if moves are to be made for less.',
    parameters: {
      saving: price('what it saves an hour'),
      cost: price('what it counts as'),
      hours: number('consolidationHorizon in hours'),
    },
    sentence: ({ saving, cost, hours }) => {
      const [saved, paid] = [saving, cost].map((each) => money(each.amount, each.currency));
      return `${saved} an hour saved do not pay back ${paid} that the move counts as within ${hours} h`;
    },
  }),
  'policy-balanced': define({
    meaning: 'With the policy Balanced, the share saved is too small for the share disrupted.',
    remedy: 'Set consolidationPolicy to WhenEmptyOrUnderutilized.',
    parameters: NONE,
    sentence: () => 'The policy Balanced finds the saving too small for the disruption',
  }),
  'drift-comes-first': define({
    meaning: 'The node has drifted: it is replaced for that reason.',
    remedy: 'Wait.',
    parameters: NONE,
    sentence: () => 'The node has drifted, and drift replaces it',
  }),
  'spot-to-spot-off': define({
    meaning: 'A spot node is not replaced by a cheaper spot node.',
    remedy: 'Turn the feature gate SpotToSpotConsolidation on.',
    parameters: NONE,
    sentence: () =>
      'Spot nodes are replaced by cheaper spot nodes only with SpotToSpotConsolidation',
  }),
  'spot-types-too-few': define({
    meaning: 'A spot node is replaced by another only where many cheaper types are left to EC2.',
    remedy: 'Allow more instance types in the NodePool.',
    parameters: { least: count('instance types that it takes') },
    sentence: ({ least }) => `Fewer than ${least} spot instance types are cheaper`,
  }),
  'cheaper-types-too-few': define({
    meaning: 'Too few of the types that the replacement may be are sure to pay back.',
    remedy: 'Allow more instance types in the NodePool, or lower minValues.',
    parameters: NONE,
    sentence: () => 'Too few instance types are cheaper',
  }),
  'limits-for-both': define({
    meaning:
      'Old and new nodes are there together for a while, and spec.limits has no room for that.',
    remedy: 'Raise spec.limits of the NodePool.',
    parameters: { nodePool },
    sentence: ({ nodePool: name }) =>
      `Limits of NodePool ${name} do not allow old and new nodes together`,
  }),
  'pods-left-over': define({
    meaning: 'kube-scheduler binds in its own order, and could leave pods without a place.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () =>
      'kube-scheduler could leave pods over whose nodes cost more than the move saves',
  }),
  'pending-pods-first': define({
    meaning: 'Pods wait for new nodes. Nothing is moved before these are launched.',
    remedy: 'Wait.',
    parameters: NONE,
    sentence: () => 'Pending pods need new nodes first',
  }),
  'pending-pods-need-node': define({
    meaning: 'Without the node, pods that wait would need another new node.',
    remedy: 'Wait.',
    parameters: NONE,
    sentence: () => 'Pending pods would need another new node',
  }),
} as const;
