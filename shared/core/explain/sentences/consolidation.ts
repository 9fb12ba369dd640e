import { money } from '../../model/currency.ts';
import type { Sentences } from '../parameters.ts';
import type { CONSOLIDATION } from '../reasons/consolidation.ts';

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
  'pods-not-cheaper': ({ closed }) =>
    `The pods of the node would not run cheaper on other nodes${exceptOn(closed)}`,
  'saving-too-small': () =>
    'Even the highest possible saving would not repay the evictions within consolidationHorizon',
  'move-does-not-pay': ({ saving, cost, hours }) => {
    const [saved, paid] = [saving, cost].map((each) => money(each.amount, each.currency));
    return `The move saves ${saved} an hour. That does not repay its cost of ${paid} within ${hours} h`;
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
  'empty-node-needed': () => 'Pending pods or a CapacityBuffer need the node',
  'pending-pods-first': () => 'Pending pods need new nodes first',
  'pending-pods-need-node': () => 'Pending pods would need another new node',
};
