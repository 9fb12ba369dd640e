import type { Node } from '../model/cluster.ts';
import { ownValue } from '../model/labels.ts';
import type { Pod } from '../model/pod.ts';
import { addResources, amountOf, NO_RESOURCES } from '../model/resources.ts';
import { isEphemeralTaint, untoleratedTaint } from '../model/taint.ts';
import { formatQuantity } from '../quantity.ts';

function taintText(pod: Pod, { taints }: Node): readonly string[] {
  const lasting = taints.filter((each) => !isEphemeralTaint(each));
  const taint = untoleratedTaint(pod.spec.tolerations, lasting);
  if (taint === undefined) return [];
  const { key, value, effect } = taint;
  return [`the taint ${key}${value === '' ? '' : `=${value}`}:${effect} is not tolerated`];
}

function labelTexts(pod: Pod, { labels }: Node): readonly string[] {
  return Object.entries(pod.spec.nodeSelector).flatMap(([key, wanted]) => {
    const found = ownValue(labels, key);
    if (found === wanted) return [];
    return [found === undefined ? `no label ${key}` : `the label ${key} is ${found}`];
  });
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

/** What a node that has joined lacks for a pod, in the words of kube-scheduler's filters. */
export function unmetBy(pod: Pod, node: Node, there: readonly Pod[]): string {
  const found = [
    ...taintText(pod, node),
    ...labelTexts(pod, node),
    ...resourceTexts(pod, node, there),
  ];
  return found.length === 0 ? 'its pod was not bound to it' : found.join(', ');
}
