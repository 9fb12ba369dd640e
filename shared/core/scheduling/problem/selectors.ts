import type { Namespace } from '../../model/cluster.ts';
import { type Labels, ownValue } from '../../model/labels.ts';
import {
  alikeText,
  type LabelSelector,
  type Pod,
  type PodAffinityTerm,
  type TopologySpreadConstraint,
} from '../../model/pod.ts';

/** Whether labels meet a selector; undefined selects nothing, an empty selector everything. */
export function selects(selector: LabelSelector | undefined, labels: Labels): boolean {
  if (selector === undefined) return false;
  for (const key of Object.keys(selector.matchLabels)) {
    if (ownValue(labels, key) !== selector.matchLabels[key]) return false;
  }
  return selector.matchExpressions.every(({ key, operator, values }) => {
    const value = ownValue(labels, key);
    switch (operator) {
      case 'In':
        return value !== undefined && values.includes(value);
      case 'NotIn':
        return value === undefined || !values.includes(value);
      case 'Exists':
        return value !== undefined;
      case 'DoesNotExist':
        return value === undefined;
      default:
        return false;
    }
  });
}

/** A selector with the pod's own values of the keys added (matchLabelKeys, mismatchLabelKeys). */
export function withLabelKeys(
  selector: LabelSelector | undefined,
  labels: Labels,
  matchKeys: readonly string[],
  mismatchKeys: readonly string[],
): LabelSelector | undefined {
  if (selector === undefined || matchKeys.length + mismatchKeys.length === 0) return selector;
  const added = [
    ...matchKeys.map((key) => ({ key, operator: 'In' as const })),
    ...mismatchKeys.map((key) => ({ key, operator: 'NotIn' as const })),
  ].flatMap(({ key, operator }) => {
    const value = ownValue(labels, key);
    return value === undefined ? [] : [{ key, operator, values: [value] }];
  });
  return { ...selector, matchExpressions: [...selector.matchExpressions, ...added] };
}

/** Whether a spread constraint of the pod counts the other one. */
export function spreadMeans(
  pod: Pod,
  { labelSelector, matchLabelKeys }: TopologySpreadConstraint,
  other: Pod,
): boolean {
  const selector = withLabelKeys(labelSelector, pod.labels, matchLabelKeys, []);
  return pod.namespace === other.namespace && selects(selector, other.labels);
}

/** A set of pods that a topology term counts: by namespace and labels. */
export interface PodSelector {
  readonly id: number;
  readonly namespaces: ReadonlySet<string>;
  readonly selector: LabelSelector | undefined;
}

function canonical(selector: LabelSelector | undefined): unknown {
  if (selector === undefined) return null;
  const labels = Object.keys(selector.matchLabels)
    .sort()
    .map((key) => [key, selector.matchLabels[key]]);
  const expressions = selector.matchExpressions
    .map(({ key, operator, values }) => JSON.stringify([key, operator, [...values].sort()]))
    .sort();
  return [labels, expressions];
}

const NONE: readonly number[] = [];

/** Interns pod selectors, so that equal ones are counted once. */
export class PodSelectors {
  readonly all: PodSelector[] = [];
  private readonly byText = new Map<string, PodSelector>();
  private readonly namespaceLabels: ReadonlyMap<string, Labels>;
  private readonly matches = new Map<string, readonly number[]>();

  constructor(namespaces: readonly Namespace[], podNamespaces: Iterable<string>) {
    const labels = new Map<string, Labels>();
    for (const name of podNamespaces) labels.set(name, { 'kubernetes.io/metadata.name': name });
    for (const { name, labels: own } of namespaces) {
      labels.set(name, { ...own, 'kubernetes.io/metadata.name': name });
    }
    this.namespaceLabels = labels;
  }

  intern(namespaces: readonly string[], selector: LabelSelector | undefined): PodSelector {
    const text = JSON.stringify([[...namespaces].sort(), canonical(selector)]);
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const added = { id: this.all.length, namespaces: new Set(namespaces), selector };
    this.all.push(added);
    this.byText.set(text, added);
    return added;
  }

  /** The pods that an affinity term of this pod means. */
  internTerm(pod: Pod, term: PodAffinityTerm): PodSelector {
    const { namespaces, selector } = this.meaningOf(pod, term);
    return this.intern([...namespaces], selector);
  }

  /**
   * The pods that every one of the terms means: kube-scheduler counts a pod for required affinity
   * only where it meets all terms, whichever of them asks (interpodaffinity, PreFilter).
   */
  internAll(pod: Pod, terms: readonly PodAffinityTerm[]): PodSelector {
    const all = terms.map((term) => this.meaningOf(pod, term));
    const [first] = all;
    const names = [...(first?.namespaces ?? [])].filter((name) =>
      all.every(({ namespaces }) => namespaces.has(name)),
    );
    const expressions = all.flatMap(({ selector }) => [
      ...Object.entries(selector?.matchLabels ?? {}).map(([key, value]) => ({
        key,
        operator: 'In' as const,
        values: [value],
      })),
      ...(selector?.matchExpressions ?? []),
    ]);
    const isNone = all.some(({ selector }) => selector === undefined);
    const both = { matchLabels: {}, matchExpressions: expressions };
    return this.intern(names, isNone ? undefined : both);
  }

  /** Whether an affinity term of the pod means the other one. */
  termMeans(pod: Pod, term: PodAffinityTerm, other: Pod): boolean {
    const { namespaces, selector } = this.meaningOf(pod, term);
    return namespaces.has(other.namespace) && selects(selector, other.labels);
  }

  private meaningOf(pod: Pod, term: PodAffinityTerm) {
    const names = new Set(term.namespaces);
    if (term.namespaceSelector !== undefined) {
      for (const [name, labels] of this.namespaceLabels) {
        if (selects(term.namespaceSelector, labels)) names.add(name);
      }
    } else if (names.size === 0) {
      names.add(pod.namespace);
    }
    const { labelSelector, matchLabelKeys, mismatchLabelKeys } = term;
    const selector = withLabelKeys(labelSelector, pod.labels, matchLabelKeys, mismatchLabelKeys);
    return { namespaces: names, selector };
  }

  /** Ids of the selectors that mean this pod. Call only after every selector is interned. */
  matching(namespace: string, labels: Labels): readonly number[] {
    if (this.all.length === 0) return NONE;
    const text = alikeText({ namespace, labels });
    const known = this.matches.get(text);
    if (known !== undefined) return known;
    const ids = this.all
      .filter((each) => each.namespaces.has(namespace) && selects(each.selector, labels))
      .map((each) => each.id);
    this.matches.set(text, ids);
    return ids;
  }
}
