import { type Currency, money } from '../../model/currency.ts';
import type { PricedOffering, Sentences, Tally } from '../parameters.ts';
import type { PROVISIONING } from '../reasons/provisioning.ts';

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
