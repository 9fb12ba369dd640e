import { count, type Definitions, NONE, number, price, text } from '../parameters.ts';

const nodePool = text('the NodePool');

/** Why the pods of a node are not moved. */
export const CONSOLIDATION = {
  'nodepool-static-stays': {
    meaning: 'Nodes of static NodePools are never consolidated.',
    remedy: 'Lower spec.replicas.',
    parameters: { nodePool },
  },
  'policy-when-empty': {
    meaning: 'The NodePool removes empty nodes only.',
    remedy: 'Set consolidationPolicy to WhenEmptyOrUnderutilized or Balanced.',
    parameters: NONE,
  },
  'consolidate-after-never': {
    meaning: 'The NodePool switches consolidation off.',
    remedy: 'Set consolidateAfter to a duration.',
    parameters: NONE,
  },
  'pods-changed-recently': {
    meaning: 'A pod was added to the node or removed from it within consolidateAfter.',
    remedy: 'Wait, or lower consolidateAfter of the NodePool.',
    parameters: NONE,
  },
  'guard-unreadable': {
    meaning: 'An annotation of the NodePool cannot be read: its nodes are not consolidated.',
    remedy: 'Correct the annotation.',
    parameters: {
      annotation: text('the annotation'),
      value: text('its value'),
      like: text('an example of a valid value'),
    },
  },
  'guard-age': {
    meaning: 'The consolidation guard of the NodePool keeps young nodes.',
    remedy: 'Wait, or lower age in joiner.dev/consolidation-guard.',
    parameters: { nodePool, minutes: number('remaining minutes') },
  },
  'guard-saving': {
    meaning: 'The move would save less than the consolidation guard of the NodePool requires.',
    remedy: 'Lower saving in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      saving: price('the saving per hour'),
      asked: price('the guard'),
    },
  },
  'guard-share': {
    meaning: 'The move would save a smaller share than the consolidation guard requires.',
    remedy: 'Lower share in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      percent: number('what it would save, in percent of what its nodes cost'),
      asked: number('the guard, in percent'),
    },
  },
  'guard-limits': {
    meaning:
      'The container limits of the pods would add up to more than joiner.dev/limits-guard of the ' +
      'NodePool allows.',
    remedy: 'Raise the ratio in joiner.dev/limits-guard, or lower the limits of the pods.',
    parameters: {
      nodePool,
      resource: text('the resource'),
      node: text('the node that would take the pods'),
      share: text('the sum of limits, as a multiple of the allocatable of the node'),
      allowed: number('the guard'),
    },
  },
  'pods-not-cheaper': {
    meaning: 'No other node or new node for the pods costs less than this node.',
    remedy: 'Nothing.',
    parameters: { closed: count('nodes that were excluded because their pods changed recently') },
  },
  'saving-too-small': {
    meaning:
      'At best, a move saves the price of the node minus the lowest price at which its pods could run ' +
      'elsewhere. Even this would not repay the evictions within consolidationHorizon.',
    remedy:
      'To allow moves with smaller savings, raise consolidationHorizon or lower evictionPrice.',
    parameters: NONE,
  },
  'move-does-not-pay': {
    meaning: 'The saving within consolidationHorizon is less than the cost of the move.',
    remedy:
      'To allow moves with smaller savings, raise consolidationHorizon or lower evictionPrice.',
    parameters: {
      saving: price('the saving per hour'),
      cost: price('the cost of the move'),
      hours: number('consolidationHorizon in hours'),
    },
  },
  'policy-balanced': {
    meaning: 'With the policy Balanced, the share saved is too small for the share disrupted.',
    remedy: 'Set consolidationPolicy to WhenEmptyOrUnderutilized.',
    parameters: NONE,
  },
  'drift-comes-first': {
    meaning: 'The node has drifted: it is replaced for that reason.',
    remedy: 'Wait.',
    parameters: NONE,
  },
  'spot-to-spot-off': {
    meaning: 'A spot node is not replaced by a cheaper spot node.',
    remedy: 'Turn the feature gate SpotToSpotConsolidation on.',
    parameters: NONE,
  },
  'spot-types-too-few': {
    meaning:
      'A spot node is replaced by another one only if EC2 can choose from many cheaper types.',
    remedy: 'Allow more instance types in the NodePool.',
    parameters: { least: count('the minimum number of instance types') },
  },
  'cheaper-types-too-few': {
    meaning: 'Too few instance types of the replacement would repay the cost of the move.',
    remedy: 'Allow more instance types in the NodePool, or lower minValues.',
    parameters: NONE,
  },
  'limits-for-both': {
    meaning: 'Old and new nodes exist together for a while, and spec.limits does not allow this.',
    remedy: 'Raise spec.limits of the NodePool.',
    parameters: { nodePool },
  },
  'pods-left-over': {
    meaning: 'kube-scheduler binds pods in its own order, and could leave pods unscheduled.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'node-price-unknown': {
    meaning: 'The catalog has no price of what the instance was bought as.',
    remedy:
      'Check the age of the prices with `joiner doctor`. The type may be too new for the catalog.',
    parameters: {
      instanceType: text('its type'),
      capacityType: text('its capacity type'),
      zone: text('its zone'),
    },
  },
  'node-takes-pods': {
    meaning: 'Pods of a node that is being disrupted will move to the node.',
    remedy: 'Wait until the other node is deleted.',
    parameters: NONE,
  },
  'empty-node-needed': {
    meaning: 'Pending pods, pods that are expected, or a CapacityBuffer use the empty node.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pending-pods-first': {
    meaning: 'Pending pods need new nodes. No pod is moved before these are launched.',
    remedy: 'Wait.',
    parameters: NONE,
  },
  'pending-pods-need-node': {
    meaning: 'Without the node, pending pods would need another new node.',
    remedy: 'Wait.',
    parameters: NONE,
  },
} as const satisfies Definitions;
