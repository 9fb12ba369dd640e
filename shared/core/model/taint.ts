import { DISRUPTED_TAINT_KEY, UNREGISTERED_TAINT_KEY } from './labels.ts';

export const TAINT_EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const;
export type TaintEffect = (typeof TAINT_EFFECTS)[number];

export interface Taint {
  readonly key: string;
  readonly value: string;
  readonly effect: TaintEffect;
}

/** `key=value:effect`, for people. */
export function taintText({ key, value, effect }: Taint): string {
  return `${key}${value === '' ? '' : `=${value}`}:${effect}`;
}

/** On a node that is about to go: no more pods are to come. */
export const DISRUPTED: Taint = { key: DISRUPTED_TAINT_KEY, value: '', effect: 'NoSchedule' };

/** On a node of a plan that asks what comes of it once the node goes. */
export const CANDIDATE: Taint = { ...DISRUPTED, value: 'candidate' };

/** Whether the node is about to go, whatever the taint's value and effect. */
export function isDisrupted({ taints }: { readonly taints: readonly Taint[] }): boolean {
  return taints.some(({ key }) => key === DISRUPTED_TAINT_KEY);
}

/** Gt and Lt: Kubernetes ≥ 1.35 with the feature gate TaintTolerationComparisonOperators. */
export const TOLERATION_OPERATORS = ['Equal', 'Exists', 'Gt', 'Lt'] as const;

export interface Toleration {
  /** Empty with operator Exists: every taint. */
  readonly key: string;
  readonly operator: (typeof TOLERATION_OPERATORS)[number];
  readonly value: string;
  /** Undefined: every effect. */
  readonly effect: TaintEffect | undefined;
}

const INT64_MAX = 2n ** 63n - 1n;

/** A decimal integer of 64 bits as Kubernetes writes it; anything else is no number to it. */
function int64(text: string): bigint | undefined {
  if (!/^(?:0|-?[1-9]\d{0,18})$/.test(text)) return undefined;
  const number = BigInt(text);
  return number > INT64_MAX || number < -INT64_MAX - 1n ? undefined : number;
}

/** Whether the taint's value is greater, or less, than that of the toleration. */
function compares({ operator, value }: Toleration, taint: Taint): boolean {
  const [own, its] = [int64(value), int64(taint.value)];
  if (own === undefined || its === undefined) return false;
  return operator === 'Gt' ? its > own : its < own;
}

/**
 * Whether the toleration matches the taint, as kube-scheduler matches them.
 * https://kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration/
 */
export function tolerates(toleration: Toleration, taint: Taint): boolean {
  if (toleration.effect !== undefined && toleration.effect !== taint.effect) return false;
  if (toleration.key !== '' && toleration.key !== taint.key) return false;
  if (toleration.operator === 'Exists') return true;
  if (toleration.operator !== 'Equal') return toleration.key !== '' && compares(toleration, taint);
  return toleration.key !== '' && toleration.value === taint.value;
}

const STARTING_TAINT_KEYS: ReadonlySet<string> = new Set([
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.cloudprovider.kubernetes.io/uninitialized',
]);

/** A taint that the control plane takes away once it knows the node and the kubelet says Ready. */
export function isStartingTaint({ key }: Taint): boolean {
  return STARTING_TAINT_KEYS.has(key);
}

/** A taint that goes by itself while a node starts; the claim's startup taints come beside it. */
export function isEphemeralTaint(taint: Taint): boolean {
  const { key } = taint;
  return (
    isStartingTaint(taint) || key === UNREGISTERED_TAINT_KEY || key.startsWith('readiness.k8s.io/')
  );
}

/** Whether the taint keeps a pod with these tolerations away (NoSchedule and NoExecute). */
function keepsAway(taint: Taint, tolerations: readonly Toleration[]): boolean {
  return taint.effect !== 'PreferNoSchedule' && !tolerations.some((each) => tolerates(each, taint));
}

/** The first taint that keeps a pod with these tolerations away. */
export function untoleratedTaint(
  tolerations: readonly Toleration[],
  taints: readonly Taint[],
): Taint | undefined {
  return taints.find((taint) => keepsAway(taint, tolerations));
}

/** All of them. */
export function untoleratedTaints(
  tolerations: readonly Toleration[],
  taints: readonly Taint[],
): readonly Taint[] {
  return taints.filter((taint) => keepsAway(taint, tolerations));
}
