import { type Currency, money } from '../../model/currency.ts';
import {
  count,
  define,
  NONE,
  offering,
  type PricedOffering,
  price,
  type Tally,
  tallies,
  text,
  texts,
} from '../parameters.ts';

export function offeringText(choice: PricedOffering): string {
  const { type, zone, capacityType, price: own, listPrice } = choice;
  const list =
    own.amount === listPrice.amount ? '' : `, list ${money(listPrice.amount, listPrice.currency)}`;
  return `${type} ${capacityType} in ${zone} at ${money(own.amount, own.currency)}/h${list}`;
}

function podsText(pods: number, bufferPods: number, expectedPods: number): string {
  const counted = (amount: number, noun: string): readonly string[] =>
    amount === 0 ? [] : [`${amount} ${noun}${amount === 1 ? '' : 's'}`];
  return [
    ...counted(pods, 'pod'),
    ...counted(bufferPods, 'buffer pod'),
    ...counted(expectedPods, 'expected pod'),
  ].join(' and ');
}

/** What objects have in common, each with how many there are; an example for people. */
export function talliesText(all: readonly Tally[]): string {
  return all
    .map(({ count: amount, example, text: why }) => {
      const others = amount === 1 ? '' : ` and ${amount - 1} more`;
      return `${example}${others}: ${why}`;
    })
    .join('; ');
}

/** What `provision` does and does not do. */
export const PROVISIONING = {
  'nodeclaim-planned': define({
    meaning: 'A NodeClaim was written for pods that wait: the cheapest launch that the plan found.',
    remedy: 'Nothing. `joiner explain pod` shows what else there was to choose from.',
    parameters: {
      chosen: offering('what it is expected to be launched as'),
      pods: count('pods that wait'),
      bufferPods: count('pods that stand for a CapacityBuffer'),
      expectedPods: count('pods that a ReplicaSet has yet to create'),
      overlays: texts('NodeOverlays that changed the price or the capacity'),
    },
    sentence: ({ chosen, pods, bufferPods, expectedPods, overlays }) => {
      const applied = overlays.length === 0 ? '' : `; overlays ${overlays.join(', ')}`;
      return `${offeringText(chosen)} for ${podsText(pods, bufferPods, expectedPods)}${applied}`;
    },
  }),
  'only-offering': define({
    meaning: 'No other offering holds the pods of the NodeClaim.',
    remedy: 'Allow more types, zones or capacity types: an offering may be unavailable.',
    parameters: NONE,
    sentence: () => 'no other offering fits',
  }),
  'runner-up': define({
    meaning: 'The best offering that was not chosen, and how much more it costs an hour.',
    remedy: 'Nothing.',
    parameters: {
      other: offering('the offering'),
      difference: price('what it costs more an hour; 0: its name decided'),
    },
    sentence: ({ other, difference }) =>
      `runner-up ${offeringText(other)}: ${runnerUpText(difference.amount, difference.currency)}`,
  }),
  'pod-nominated': define({
    meaning: 'The plan expects the pod on this node or NodeClaim.',
    remedy: 'Wait for the node.',
    parameters: { target: text('`node/name` or `nodeclaim/name`') },
    sentence: ({ target }) => `Pod should schedule on: ${target}`,
  }),
  'karpenter-runs': define({
    meaning: 'Karpenter renews its Lease karpenter-leader-election: Joiner only reads.',
    remedy: 'Scale Karpenter to zero, if Joiner is to act.',
    parameters: NONE,
    sentence: () => 'Karpenter is active in this cluster: nothing is written',
  }),
  'launches-paused': define({
    meaning: 'An operator has paused launches.',
    remedy: '`joiner resume launch`.',
    parameters: NONE,
    sentence: () => 'launches are paused in the ConfigMap kube-system/joiner',
  }),
  'static-nodes-wait': define({
    meaning: 'spec.replicas of the NodePool asks for nodes that cannot be launched now.',
    remedy:
      'Widen the requirements of the NodePool, or wait: `joiner bars` lists what expires when.',
    parameters: { missing: count('nodes that are missing'), why: text('why none can be launched') },
    sentence: ({ missing, why }) => `${missing} of spec.replicas wait: ${why}`,
  }),
  'nothing-pending': define({
    meaning: 'No pod waits for a node.',
    remedy: 'Nothing.',
    parameters: NONE,
    sentence: () => 'no pod waits for a node',
  }),
  'pods-fit-existing-nodes': define({
    meaning: 'The pods that wait have room on nodes that are there or on their way.',
    remedy: 'Wait for kube-scheduler.',
    parameters: { pods: count('pods that wait'), nodes: count('nodes that are to take them') },
    sentence: ({ pods, nodes }) =>
      `${pods} ${pods === 1 ? 'pod has' : 'pods have'} room on ${nodes} existing or starting ${nodes === 1 ? 'node' : 'nodes'}`,
  }),
  unchanged: define({
    meaning: 'A pass changed nothing, for these reasons. Said once, until the reasons change.',
    remedy: 'See each reason.',
    parameters: { reasons: tallies('the reasons, the most frequent first') },
    sentence: ({ reasons }) =>
      reasons.length === 0 ? 'nothing is due' : `nothing changes: ${talliesText(reasons)}`,
  }),
} as const;

/** Why the chosen offering is better than the runner-up. */
export function runnerUpText(difference: number, currency: Currency): string {
  return difference > 0
    ? `holds the same pods for ${money(difference, currency)} more an hour`
    : 'costs the same; the name comes later in the alphabet';
}
