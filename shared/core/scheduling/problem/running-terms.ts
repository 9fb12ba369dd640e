import { missing } from '../../missing.ts';
import {
  alikeText,
  type LabelSelector,
  type Pod,
  type PodAffinityTerm,
  type TopologySpreadConstraint,
  type Weighted,
} from '../../model/pod.ts';
import { LabelIndex } from './label-index.ts';
import { type PodSelectors, spreadMeans } from './selectors.ts';

type Term = TopologySpreadConstraint | PodAffinityTerm | Weighted<PodAffinityTerm>;

/** One term of a running pod. */
interface OwnedTerm {
  /** In the list of all pods. */
  readonly place: number;
  readonly pod: Pod;
  readonly term: Term;
}

/** What is kept of a pod. */
interface Kept {
  readonly pod: Pod;
  readonly terms: Set<Term>;
}

function termsOf({ spec }: Pod): readonly Term[] {
  return [
    ...spec.topologySpread,
    ...spec.podAffinity,
    ...spec.podAntiAffinity,
    ...spec.preferredPodAffinity,
    ...spec.preferredPodAntiAffinity,
  ];
}

function selectorOf(term: Term): LabelSelector | undefined {
  return 'weight' in term ? term.term.labelSelector : term.labelSelector;
}

/**
 * The terms of running pods about others, found by the labels that they ask for: few of them mean a
 * pod that is to be placed, and those alone decide anything.
 */
export class RunningTerms {
  private readonly index = new LabelIndex<OwnedTerm>();

  /** `tied`: places of those pods that have terms. */
  constructor(pods: readonly Pod[], tied: readonly number[]) {
    for (const place of tied) {
      const pod = pods[place] ?? missing(place);
      for (const term of termsOf(pod)) {
        const selector = selectorOf(term);
        // Selects nothing.
        if (selector === undefined) continue;
        const [label] = Object.entries(selector.matchLabels);
        this.index.add({ place, pod, term }, label);
      }
    }
  }

  /** By place, in order: the pods with terms about one of these, with those terms alone. */
  about(pods: readonly Pod[], selectors: PodSelectors): ReadonlyMap<number, Pod> {
    const kept = new Map<number, Kept>();
    for (const other of new Map(pods.map((pod) => [alikeText(pod), pod])).values()) {
      for (const { place, pod, term } of this.index.of(other.labels)) {
        const own = kept.get(place);
        if (own?.terms.has(term) || !means(pod, term, other, selectors)) continue;
        if (own === undefined) kept.set(place, { pod, terms: new Set([term]) });
        else own.terms.add(term);
      }
    }
    const inOrder = [...kept].sort(([a], [b]) => a - b);
    return new Map(inOrder.map(([place, each]) => [place, withTerms(each)]));
  }
}

function means(pod: Pod, term: Term, other: Pod, selectors: PodSelectors): boolean {
  if ('whenUnsatisfiable' in term) return spreadMeans(pod, term, other);
  return selectors.termMeans(pod, 'weight' in term ? term.term : term, other);
}

/** The pod with these terms alone. Required affinity is one demand: all of its terms, or none. */
function withTerms({ pod, terms }: Kept): Pod {
  const { spec } = pod;
  const isKept = (term: Term): boolean => terms.has(term);
  const narrowed = {
    topologySpread: spec.topologySpread.filter(isKept),
    podAffinity: spec.podAffinity.every(isKept) ? spec.podAffinity : [],
    podAntiAffinity: spec.podAntiAffinity.filter(isKept),
    preferredPodAffinity: spec.preferredPodAffinity.filter(isKept),
    preferredPodAntiAffinity: spec.preferredPodAntiAffinity.filter(isKept),
  };
  return { ...pod, spec: { ...spec, ...narrowed } };
}
