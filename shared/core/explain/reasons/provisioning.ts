import { type Currency, money } from '../../model/currency.ts';
import {
  type Definitions,
  NONE,
  OTHERS,
  type PricedOffering,
  roomText,
  type Sentences,
  type Tally,
} from '../parameters.ts';

/** What `provision` does and does not do. */
export const PROVISIONING = {
  'nodeclaim-planned': {
    meaning: 'A NodeClaim was written for pending pods: the cheapest launch that the plan found.',
    remedy: 'Nothing. `joiner explain pod` shows the alternatives.',
    parameters: {
      chosen: { type: 'offering', what: 'what it is expected to be launched as' },
      pods: { type: 'count', what: 'pending pods' },
      bufferPods: { type: 'count', what: 'replicas of CapacityBuffers' },
      expectedPods: { type: 'count', what: 'pods that a ReplicaSet has not created yet' },
      overlays: { type: 'texts', what: 'NodeOverlays that changed the price or the capacity' },
    },
  },
  'only-offering': {
    meaning: 'No other offering has room for the pods of the NodeClaim.',
    remedy: 'Allow more types, zones or capacity types: an offering may be unavailable.',
    parameters: NONE,
  },
  'runner-up': {
    meaning: 'The best offering that was not chosen, and its additional cost per hour.',
    remedy: 'Nothing.',
    parameters: {
      other: { type: 'offering', what: 'the offering' },
      difference: {
        type: 'money',
        what: 'its additional cost per hour; 0: the same cost, and a later name',
      },
    },
  },
  'pod-nominated': {
    meaning: 'The plan expects the pod on this node or NodeClaim.',
    remedy: 'Wait for the node.',
    parameters: { target: { type: 'text', what: '`node/name` or `nodeclaim/name`' } },
  },
  'karpenter-runs': {
    meaning: 'Karpenter renews its Lease karpenter-leader-election, so Joiner only reads.',
    remedy: 'Scale Karpenter to zero if Joiner should act.',
    parameters: NONE,
  },
  'launches-paused': {
    meaning: 'An operator has paused launches.',
    remedy: '`joiner resume launch`.',
    parameters: NONE,
  },
  'static-surplus': {
    meaning:
      'The static NodePool has more nodes than spec.replicas. Nodes that were not launched are deleted first, then the ones with the fewest pods; protected ones last.',
    remedy: 'Nothing, or raise spec.replicas.',
    parameters: {
      nodePool: { type: 'text', what: 'the NodePool' },
      nodes: { type: 'count', what: 'its nodes' },
      replicas: { type: 'count', what: 'spec.replicas' },
    },
  },
  'static-nodes-wait': {
    meaning: 'Some nodes of spec.replicas of the NodePool cannot be launched now.',
    remedy:
      'Widen the requirements of the NodePool, or wait: `joiner bars` lists unavailable offerings with their expiry.',
    parameters: {
      missing: { type: 'count', what: 'missing nodes' },
      why: { type: 'text', what: 'why none can be launched' },
    },
  },
  'limit-group-refuses': {
    meaning:
      'Another node of the NodePool would exceed a cap of its limit group. All nodes of the group ' +
      'count until their instances are gone. A node of a static NodePool counts as the largest and ' +
      'dearest instance that its requirements allow until it is launched.',
    remedy:
      'Raise the cap in the setting `limitGroups`, or wait until nodes of the group go, of a shared ' +
      'group also those of other clusters.',
    parameters: {
      nodePool: { type: 'text', what: 'the NodePool' },
      group: { type: 'text', what: 'the limit group' },
      left: { type: 'texts', what: 'what is left of its caps, such as `1 of 10 cpu`' },
      others: OTHERS,
    },
  },
  'limit-group-differs': {
    meaning:
      'Another cluster shares the limit group, and its stack states other caps. Each cluster keeps to ' +
      'its own: together they may have as many nodes as the highest of the caps allows.',
    remedy:
      'Deploy the same entries of `limitGroups` in all clusters that share the group, or give one of ' +
      'two groups another name.',
    parameters: {
      group: { type: 'text', what: 'the limit group' },
      cluster: { type: 'text', what: 'the other cluster' },
      caps: { type: 'text', what: 'what its stack states' },
    },
  },
  'nothing-pending': {
    meaning: 'No pod is pending.',
    remedy: 'Nothing.',
    parameters: NONE,
  },
  'pods-fit-existing-nodes': {
    meaning:
      'The pending pods have room on existing nodes, or on nodes that are not initialized yet.',
    remedy: 'Wait for kube-scheduler.',
    parameters: {
      pods: { type: 'count', what: 'pending pods' },
      nodes: { type: 'count', what: 'nodes that have room for them' },
    },
  },
  unchanged: {
    meaning: 'A pass changed nothing, for these reasons. Recorded once, until the reasons change.',
    remedy: 'See each reason.',
    parameters: { reasons: { type: 'tallies', what: 'the reasons, the most frequent first' } },
  },
} as const satisfies Definitions;

export function offeringText(choice: PricedOffering): string {
  const { type, zone, capacityType, price: own, listPrice } = choice;
  const list =
    own.amount === listPrice.amount ? '' : `, list ${money(listPrice.amount, listPrice.currency)}`;
  return `${type} ${capacityType} in ${zone} at ${money(own.amount, own.currency)}/h${list}`;
}

function podsText(pods: number, bufferPods: number, expectedPods: number): string {
  const counted = (amount: number, one: string, many = `${one}s`): readonly string[] =>
    amount === 0 ? [] : [`${amount} ${amount === 1 ? one : many}`];
  const parts = [
    ...counted(pods, 'pod'),
    ...counted(bufferPods, 'replica of a CapacityBuffer', 'replicas of CapacityBuffers'),
    ...counted(expectedPods, 'expected pod'),
  ];
  const [last] = parts.splice(-1);
  return parts.length === 0 ? (last ?? '') : `${parts.join(', ')} and ${last}`;
}

/** The reasons that objects have in common, each with an example and how many more there are. */
function talliesText(all: readonly Tally[]): string {
  return all
    .map(({ count: amount, example, text: why }) => {
      const others = amount === 1 ? '' : ` and ${amount - 1} more`;
      return `${why} (${example}${others})`;
    })
    .join('; ');
}

export const PROVISIONING_SENTENCES: Sentences<typeof PROVISIONING> = {
  'nodeclaim-planned': ({ chosen, pods, bufferPods, expectedPods, overlays }) => {
    const applied = overlays.length === 0 ? '' : `; overlays ${overlays.join(', ')}`;
    return `${offeringText(chosen)} for ${podsText(pods, bufferPods, expectedPods)}${applied}`;
  },
  'only-offering': () => 'no other offering fits',
  'runner-up': ({ other, difference }) =>
    `runner-up ${offeringText(other)}: ${runnerUpText(difference.amount, difference.currency)}`,
  'pod-nominated': ({ target }) => `Pod should schedule on: ${target}`,
  'karpenter-runs': () => 'Karpenter is active in this cluster: nothing is written',
  'launches-paused': () => 'launches are paused in the ConfigMap kube-system/joiner',
  'static-surplus': ({ nodePool, nodes, replicas }) =>
    `NodePool ${nodePool} has ${nodes} nodes, and spec.replicas is ${replicas}`,
  'static-nodes-wait': ({ missing, why }) =>
    `${missing} of the nodes in spec.replicas cannot be launched: ${why}`,
  'limit-group-refuses': ({ nodePool, group, left, others }) =>
    `limit group ${group} allows no other node of NodePool ${nodePool} (${roomText(left, others)})`,
  'limit-group-differs': ({ group, cluster, caps }) =>
    `limit group ${group} has other caps in cluster ${cluster} (${caps})`,
  'nothing-pending': () => 'no pod waits for a node',
  'pods-fit-existing-nodes': ({ pods, nodes }) =>
    `${pods} ${pods === 1 ? 'pod has' : 'pods have'} room on ${nodes} existing or in-flight ${nodes === 1 ? 'node' : 'nodes'}`,
  unchanged: ({ reasons }) =>
    reasons.length === 0 ? 'nothing is due' : `nothing changes: ${talliesText(reasons)}`,
};

/** Why the chosen offering is better than the runner-up. */
export function runnerUpText(difference: number, currency: Currency): string {
  return difference > 0
    ? `holds the same pods for ${money(difference, currency)} more an hour`
    : 'costs the same; the name comes later in the alphabet';
}
