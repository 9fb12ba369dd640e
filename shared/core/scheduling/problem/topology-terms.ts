import { HOSTNAME, normalizeLabelKey } from '../../model/labels.ts';
import type { Pod, TopologySpreadConstraint } from '../../model/pod.ts';
import { type PodSelector, type PodSelectors, withLabelKeys } from './selectors.ts';

/** A spread constraint with its pods resolved. */
export interface SpreadTerm {
  readonly key: string;
  readonly selector: PodSelector;
  readonly maxSkew: number;
  readonly minDomains: number | undefined;
  readonly isHard: boolean;
  /** The pod is one of those counted. */
  readonly isSelf: boolean;
  readonly honorAffinity: boolean;
  readonly honorTaints: boolean;
}

/** A pod (anti-)affinity term with its pods resolved; weight 0 = required. */
export interface AffinityTerm {
  readonly key: string;
  readonly selector: PodSelector;
  readonly isSelf: boolean;
  readonly weight: number;
}

/** Everything that a pod's place depends on because of other pods. */
export interface TopologyTerms {
  readonly spreads: readonly SpreadTerm[];
  readonly affinity: readonly AffinityTerm[];
  readonly antiAffinity: readonly AffinityTerm[];
}

export const NO_TOPOLOGY: TopologyTerms = { spreads: [], affinity: [], antiAffinity: [] };

export function hasTopology({ spec }: Pod): boolean {
  return (
    spec.topologySpread.length +
      spec.podAffinity.length +
      spec.podAntiAffinity.length +
      spec.preferredPodAffinity.length +
      spec.preferredPodAntiAffinity.length >
    0
  );
}

function spreadTerm(
  pod: Pod,
  constraint: TopologySpreadConstraint,
  selectors: PodSelectors,
): SpreadTerm {
  const { labelSelector, matchLabelKeys } = constraint;
  const selector = selectors.intern(
    [pod.namespace],
    withLabelKeys(labelSelector, pod.labels, matchLabelKeys, []),
  );
  return {
    key: normalizeLabelKey(constraint.topologyKey),
    selector,
    maxSkew: constraint.maxSkew,
    minDomains: constraint.minDomains,
    isHard: constraint.whenUnsatisfiable === 'DoNotSchedule',
    isSelf: false,
    honorAffinity: constraint.nodeAffinityPolicy === 'Honor',
    honorTaints: constraint.nodeTaintsPolicy === 'Honor',
  };
}

/** The lists of a pod's terms are sets: their order decides nothing. */
function sortedTerms<Term>(terms: readonly Term[]): readonly Term[] {
  if (terms.length < 2) return terms;
  const texts = terms.map((term) => ({ term, text: JSON.stringify(term) }));
  return texts.sort((a, b) => (a.text < b.text ? -1 : 1)).map(({ term }) => term);
}

/** Resolves a pod's terms; `isSelf` is filled in once every selector is known. */
export function topologyTermsOf(pod: Pod, selectors: PodSelectors): TopologyTerms {
  if (!hasTopology(pod)) return NO_TOPOLOGY;
  const { spec } = pod;
  const affinity = (
    required: typeof spec.podAffinity,
    preferred: typeof spec.preferredPodAffinity,
  ): AffinityTerm[] =>
    sortedTerms([...required.map((term) => ({ weight: 0, term })), ...preferred]).map(
      ({ weight, term }) => ({
        key: normalizeLabelKey(term.topologyKey),
        selector: selectors.internTerm(pod, term),
        isSelf: false,
        weight,
      }),
    );
  const near = affinity(spec.podAffinity, spec.preferredPodAffinity);
  const isJoint = spec.podAffinity.length > 1;
  const joint = isJoint ? selectors.internAll(pod, spec.podAffinity) : undefined;
  return {
    spreads: sortedTerms(spec.topologySpread).map((each) => spreadTerm(pod, each, selectors)),
    affinity: near.map((each) =>
      each.weight === 0 && joint !== undefined ? { ...each, selector: joint } : each,
    ),
    antiAffinity: affinity(spec.podAntiAffinity, spec.preferredPodAntiAffinity),
  };
}

/** Marks the terms that count the pod itself. */
export function markSelf(terms: TopologyTerms, matching: readonly number[]): TopologyTerms {
  const mark = <Term extends { readonly selector: PodSelector }>(each: Term): Term => ({
    ...each,
    isSelf: matching.includes(each.selector.id),
  });
  return {
    spreads: terms.spreads.map(mark),
    affinity: terms.affinity.map(mark),
    antiAffinity: terms.antiAffinity.map(mark),
  };
}

export function isHostKey(key: string): boolean {
  return key === HOSTNAME;
}

/** The terms that are rules, hostnames apart. */
export function requiredOf(terms: readonly AffinityTerm[]): readonly AffinityTerm[] {
  return terms.filter((each) => each.weight === 0 && !isHostKey(each.key));
}
