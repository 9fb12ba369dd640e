import { reason, sentence } from '../explain/reason.ts';
import type { Node } from '../model/cluster.ts';
import { ownValue } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { amountOf, type Resources } from '../model/resources.ts';
import { isEphemeralTaint, type Taint, taintText } from '../model/taint.ts';
import { formatQuantity } from '../quantity.ts';
import type { ConditionClaim } from './conditions.ts';

const TYPE = 'ConsistentStateFound';
/** A node may have so much less than its NodeClaim says; Karpenter's measure. */
const SHARE_MIN = 0.9;

/** Set by people and controllers while a node lives: no fault of its launch. */
const LATER_TAINTS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/out-of-service',
]);

function isExpected(taint: Taint, claim: NodeClaim): boolean {
  const same = (each: Taint): boolean => each.key === taint.key && each.effect === taint.effect;
  return isEphemeralTaint(taint) || LATER_TAINTS.has(taint.key) || claim.taints.some(same);
}

function taintTexts(claim: NodeClaim, { taints }: Node): readonly string[] {
  return taints
    .filter((taint) => !isExpected(taint, claim))
    .map(
      (taint) => `the node has the taint ${taintText(taint)}, which its NodeClaim does not have`,
    );
}

function labelTexts({ labels: promised }: NodeClaim, { labels }: Node): readonly string[] {
  return Object.entries(promised)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([key, value]) => {
      const found = ownValue(labels, key);
      if (found === value) return [];
      const has = found === undefined ? 'no label' : `the label ${key}=${found} instead of`;
      return [`the node has ${has} ${key}=${value}`];
    });
}

function amountTexts(what: string, promised: Resources, found: Resources): readonly string[] {
  return Object.entries(promised)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, amount]) => {
      const there = amountOf(found, name);
      if (there >= amount * SHARE_MIN) return [];
      const [few, many] = [formatQuantity(there, name), formatQuantity(amount, name)];
      return [`the node has ${few} ${name} ${what} instead of ${many}`];
    });
}

/**
 * Whether a node has become what its NodeClaim promised when it was planned: its labels, no taint
 * beside those of the claim, and nine tenths of the capacity and of what pods may use of it.
 * Informational, as Karpenter's condition of the name.
 */
export function consistentState(claim: NodeClaim, node: Node): ConditionClaim {
  const differences = differencesOf(claim, node);
  if (differences.length === 0) return { type: TYPE, status: 'True', reason: TYPE, message: '' };
  const message = sentence(reason('node-inconsistent', { differences }));
  return { type: TYPE, status: 'False', reason: 'ConsistencyCheckFailed', message };
}

/** What of the node is not as its NodeClaim promised. */
export function differencesOf(claim: NodeClaim, node: Node): readonly string[] {
  return [
    ...taintTexts(claim, node),
    ...labelTexts(claim, node),
    ...amountTexts('capacity', claim.capacity, node.capacity),
    ...amountTexts('allocatable', claim.allocatable, node.allocatable),
  ];
}
