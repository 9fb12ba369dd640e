import type { Node } from '../model/cluster.ts';
import { ownValue } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import { addResources, amountOf, NO_RESOURCES } from '../model/resources.ts';
import { DISRUPTED, isEphemeralTaint, taintText, untoleratedTaint } from '../model/taint.ts';
import { formatQuantity } from '../quantity.ts';
import { portsClash } from '../scheduling/problem/host-ports.ts';
import { NODE_NAME_FIELD, nodeTermsOf, termsAllow } from '../scheduling/problem/node-terms.ts';

function taintTexts(pod: Pod, { taints }: Node): readonly string[] {
  // Joiner's own taint of nodes that are on their way out is what follows, not the cause.
  const lasting = taints.filter((each) => !isEphemeralTaint(each) && each.key !== DISRUPTED.key);
  const taint = untoleratedTaint(pod.spec.tolerations, lasting);
  return taint === undefined ? [] : [`the taint ${taintText(taint)} is not tolerated`];
}

function labelTexts({ spec }: Pod, { labels, name }: Node): readonly string[] {
  const texts = Object.entries(spec.nodeSelector).flatMap(([key, wanted]) => {
    const found = ownValue(labels, key);
    if (found === wanted) return [];
    return [found === undefined ? `no label ${key}` : `the label ${key} is ${found}`];
  });
  if (texts.length > 0) return texts;
  const label = (key: string): string | undefined =>
    key === NODE_NAME_FIELD ? name : ownValue(labels, key);
  return termsAllow(nodeTermsOf(spec), label) ? [] : ['its labels do not meet the node affinity'];
}

function portTexts({ spec }: Pod, there: readonly Pod[]): readonly string[] {
  const isTaken = there.some((each) => portsClash(spec.hostPorts, each.spec.hostPorts));
  return isTaken ? ['a host port is taken'] : [];
}

function resourceTexts(pod: Pod, node: Node, there: readonly Pod[]): readonly string[] {
  const taken = there.reduce((sum, { spec }) => addResources(sum, spec.requests), NO_RESOURCES);
  return Object.entries(pod.spec.requests).flatMap(([name, wanted]) => {
    const free = amountOf(node.allocatable, name) - amountOf(taken, name);
    if (wanted <= free) return [];
    const text = (amount: number): string => formatQuantity(Math.max(0, amount), name);
    return [`${text(free)} ${name} free of ${text(wanted)} requested`];
  });
}

/** Stands in where nothing is seen that the node lacks. */
export const NOT_BOUND = 'its pod was not bound to it';

/** What a node that has joined lacks for a pod, in the words of kube-scheduler's filters. */
export function unmetTexts(pod: Pod, node: Node, there: readonly Pod[]): readonly string[] {
  return [
    ...taintTexts(pod, node),
    ...labelTexts(pod, node),
    ...portTexts(pod, there),
    ...resourceTexts(pod, node, there),
  ];
}
