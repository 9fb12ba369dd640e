import { money } from '../../model/currency.ts';
import { type Definitions, NONE, type Sentences } from '../parameters.ts';

const nodePool = { type: 'text', what: 'the NodePool' } as const;

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
    meaning: 'An annotation of the NodePool cannot be read: its nodes are not moved.',
    remedy: 'Correct the annotation.',
    parameters: {
      annotation: { type: 'text', what: 'the annotation' },
      value: { type: 'text', what: 'its value' },
      like: { type: 'text', what: 'an example of a valid value' },
    },
  },
  'guard-age': {
    meaning: 'The consolidation guard of the NodePool keeps young nodes.',
    remedy: 'Wait, or lower age in joiner.dev/consolidation-guard.',
    parameters: { nodePool, minutes: { type: 'number', what: 'remaining minutes' } },
  },
  'guard-saving': {
    meaning: 'The move would save less than the consolidation guard of the NodePool requires.',
    remedy: 'Lower saving in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      saving: { type: 'money', what: 'the saving per hour' },
      asked: { type: 'money', what: 'the guard' },
    },
  },
  'guard-share': {
    meaning: 'The move would save a smaller share than the consolidation guard requires.',
    remedy: 'Lower share in joiner.dev/consolidation-guard.',
    parameters: {
      nodePool,
      percent: { type: 'number', what: 'what it would save, in percent of what its nodes cost' },
      asked: { type: 'number', what: 'the guard, in percent' },
    },
  },
  'guard-limits': {
    meaning:
      'The container limits of the pods would add up to more than joiner.dev/limits-guard of the ' +
      'NodePool allows.',
    remedy: 'Raise the ratio in joiner.dev/limits-guard, or lower the limits of the pods.',
    parameters: {
      nodePool,
      resource: { type: 'text', what: 'the resource' },
      node: { type: 'text', what: 'the node that would take the pods' },
      share: {
        type: 'text',
        what: 'the sum of limits, as a multiple of the allocatable of the node',
      },
      allowed: { type: 'number', what: 'the guard' },
    },
  },
  'guard-usage': {
    meaning:
      'The metered usage of the pods would add up to more than joiner.dev/usage-guard of the ' +
      'NodePool allows. A pod that has not been metered yet counts with its requests.',
    remedy:
      'Wait until the pods use less, raise the share in joiner.dev/usage-guard, or raise the ' +
      'requests of the pods.',
    parameters: {
      nodePool,
      resource: { type: 'text', what: 'the resource' },
      node: { type: 'text', what: 'the node that would take the pods' },
      percent: { type: 'text', what: 'the usage, in percent of the allocatable of the node' },
      allowed: { type: 'text', what: 'the guard, in percent' },
    },
  },
  'guard-usage-unknown': {
    meaning:
      'The NodePool has the annotation joiner.dev/usage-guard, and the usage of pods cannot be ' +
      'read from metrics.k8s.io: no pods are moved to its nodes.',
    remedy: 'Install or repair metrics-server, or remove the annotation.',
    parameters: { nodePool, why: { type: 'text', what: 'what is missing' } },
  },
  'pods-not-cheaper': {
    meaning: 'No other node or new node for the pods costs less than this node.',
    remedy: 'Nothing.',
    parameters: {
      closed: {
        type: 'count',
        what: 'nodes that were excluded because their pods changed recently',
      },
    },
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
    meaning:
      'The saving within the horizon is less than the cost of the move. The horizon is consolidationHorizon, or less where nodes were launched for pods within that time: consolidationHorizon divided by these launches.',
    remedy:
      'To allow moves with smaller savings, raise consolidationHorizon, lower evictionPrice, or set horizon in the annotation joiner.dev/consolidation-guard of the NodePool.',
    parameters: {
      saving: { type: 'money', what: 'the saving per hour' },
      cost: { type: 'money', what: 'the cost of the move' },
      hours: { type: 'number', what: 'the horizon in hours' },
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
    parameters: { least: { type: 'count', what: 'the minimum number of instance types' } },
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
      instanceType: { type: 'text', what: 'its type' },
      capacityType: { type: 'text', what: 'its capacity type' },
      zone: { type: 'text', what: 'its zone' },
    },
  },
  'node-takes-pods': {
    meaning: 'Pods of a node that is being disrupted will move to the node.',
    remedy: 'Wait until the other node is deleted.',
    parameters: NONE,
  },
  'empty-node-needed': {
    meaning:
      'Pending pods, pods that are expected, pods of a drifted node, or a CapacityBuffer may use the empty node.',
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

function exceptOn(closed: number): string {
  if (closed === 0) return '';
  const where = closed === 1 ? 'a node' : `${closed} nodes`;
  return `, and ${where} whose pods changed within consolidateAfter took no pods`;
}

export const CONSOLIDATION_SENTENCES: Sentences<typeof CONSOLIDATION> = {
  'nodepool-static-stays': ({ nodePool: name }) => `NodePool ${name} is static`,
  'policy-when-empty': () => 'consolidationPolicy is WhenEmpty',
  'consolidate-after-never': () => 'consolidateAfter is Never',
  'pods-changed-recently': () => 'a pod was bound or deleted within consolidateAfter',
  'guard-unreadable': ({ annotation, value, like }) =>
    `Annotation ${annotation}: "${value}" is invalid; example: ${like}`,
  'guard-age': ({ nodePool: name, minutes }) =>
    `joiner.dev/consolidation-guard of NodePool ${name} keeps it for ${minutes} more minutes`,
  'guard-saving': ({ nodePool: name, saving, asked }) => {
    const [saved, least] = [saving, asked].map((each) => money(each.amount, each.currency));
    return `It would save ${saved} an hour, and joiner.dev/consolidation-guard of NodePool ${name} requires ${least}`;
  },
  'guard-share': ({ nodePool: name, percent, asked }) =>
    `It would save ${percent} %, and joiner.dev/consolidation-guard of NodePool ${name} requires ${asked} %`,
  'guard-limits': ({ nodePool: name, resource, node, share, allowed }) =>
    `The ${resource} limits of the pods on ${node} would be ${share} times its allocatable; ` +
    `NodePool ${name} allows ${allowed} times`,
  'guard-usage': ({ nodePool: name, resource, node, percent, allowed }) =>
    `The pods on ${node} would use ${percent} % of its ${resource}; NodePool ${name} allows ${allowed} %`,
  'guard-usage-unknown': ({ nodePool: name, why }) =>
    `joiner.dev/usage-guard of NodePool ${name} needs the usage of pods, which cannot be read: ${why}`,
  'pods-not-cheaper': ({ closed }) =>
    `The pods of the node would not run cheaper on other nodes${exceptOn(closed)}`,
  'saving-too-small': () =>
    'Even the highest possible saving would not repay the evictions within consolidationHorizon',
  'move-does-not-pay': ({ saving, cost, hours }) => {
    const [saved, paid] = [saving, cost].map((each) => money(each.amount, each.currency));
    return `The move saves ${saved} an hour. That does not repay its cost of ${paid} within ${Number(hours.toFixed(1))} h`;
  },
  'policy-balanced': () =>
    'consolidationPolicy Balanced: the saving is too small for the disruption',
  'drift-comes-first': () => 'The node has drifted, and drift replaces it',
  'spot-to-spot-off': () =>
    'Spot nodes are replaced by cheaper spot nodes only with SpotToSpotConsolidation',
  'spot-types-too-few': ({ least }) => `Fewer than ${least} spot instance types are cheaper`,
  'cheaper-types-too-few': () => 'Too few instance types are cheaper',
  'limits-for-both': ({ nodePool: name }) =>
    `Limits of NodePool ${name} do not allow old and new nodes together`,
  'pods-left-over': () =>
    'kube-scheduler could leave pods unscheduled. New nodes for them would cost more than the move saves',
  'node-price-unknown': ({ instanceType, capacityType, zone }) =>
    `The price of ${instanceType} ${capacityType} in ${zone} is not known`,
  'node-takes-pods': () => 'Pods of a disrupted node move to this node',
  'empty-node-needed': () =>
    'Pending pods, pods of a drifted node or a CapacityBuffer need the node',
  'pending-pods-first': () => 'Pending pods need new nodes first',
  'pending-pods-need-node': () => 'Pending pods would need another new node',
};
