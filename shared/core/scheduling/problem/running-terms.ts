import { missing } from '../../missing.ts';
import type { LabelSelector, Pod, PodAffinityTerm, PodSpec } from '../../model/pod.ts';
import { type PodSelectors, spreadMeans } from './selectors.ts';

/** The lists of a pod's terms about other pods. */
type Lists = Pick<
  PodSpec,
  | 'topologySpread'
  | 'podAffinity'
  | 'podAntiAffinity'
  | 'preferredPodAffinity'
  | 'preferredPodAntiAffinity'
>;
type ListName = keyof Lists;

/** One term of a running pod. */
interface OwnedTerm {
  /** In the list of all pods. */
  readonly place: number;
  readonly pod: Pod;
  readonly list: ListName;
  /** In its list. */
  readonly at: number;
}

/** What is kept of a pod: places in its lists. */
interface Kept {
  readonly pod: Pod;
  readonly lists: Map<ListName, Set<number>>;
}

function setIn<Key, Value>(map: Map<Key, Value>, key: Key, value: Value): Value {
  map.set(key, value);
  return value;
}

/** The selectors of a pod's terms, by list and place. */
function* selectorsOf({ spec }: Pod): Generator<readonly [ListName, LabelSelector | undefined]> {
  for (const each of spec.topologySpread) yield ['topologySpread', each.labelSelector];
  for (const each of spec.podAffinity) yield ['podAffinity', each.labelSelector];
  for (const each of spec.podAntiAffinity) yield ['podAntiAffinity', each.labelSelector];
  for (const { term } of spec.preferredPodAffinity) {
    yield ['preferredPodAffinity', term.labelSelector];
  }
  for (const { term } of spec.preferredPodAntiAffinity) {
    yield ['preferredPodAntiAffinity', term.labelSelector];
  }
}

/** Pods of one namespace with the same labels are one. */
function distinct(pods: readonly Pod[]): readonly Pod[] {
  const byText = new Map<string, Pod>();
  for (const pod of pods) {
    const text = `${pod.namespace}\n${JSON.stringify(pod.labels)}`;
    if (!byText.has(text)) byText.set(text, pod);
  }
  return [...byText.values()];
}

/**
 * The terms of running pods about others, found by the labels that they ask for: few of them mean a
 * pod that is to be placed, and those alone decide anything.
 */
export class RunningTerms {
  /** By one of the labels that the term asks for, as `key=value`. */
  private readonly byLabel = new Map<string, OwnedTerm[]>();
  /** Those that ask for no label by its value. */
  private readonly others: OwnedTerm[] = [];

  /** `tied`: places of those pods that have terms. */
  constructor(pods: readonly Pod[], tied: readonly number[]) {
    for (const place of tied) {
      const pod = pods[place] ?? missing(place);
      const next = new Map<ListName, number>();
      for (const [list, selector] of selectorsOf(pod)) {
        const at = next.get(list) ?? 0;
        next.set(list, at + 1);
        // Selects nothing.
        if (selector === undefined) continue;
        const [label] = Object.entries(selector.matchLabels);
        if (label === undefined) this.others.push({ place, pod, list, at });
        else this.add(label.join('='), { place, pod, list, at });
      }
    }
  }

  private add(label: string, term: OwnedTerm): void {
    const known = this.byLabel.get(label);
    if (known === undefined) this.byLabel.set(label, [term]);
    else known.push(term);
  }

  /** By place, in order: the pods with terms about one of these, with those terms alone. */
  about(pods: readonly Pod[], selectors: PodSelectors): ReadonlyMap<number, Pod> {
    const kept = new Map<number, Kept>();
    const keep = ({ place, pod, list, at }: OwnedTerm): void => {
      const { lists } = kept.get(place) ?? setIn(kept, place, { pod, lists: new Map() });
      (lists.get(list) ?? setIn(lists, list, new Set<number>())).add(at);
    };
    const groups = distinct(pods);
    for (const term of this.others) {
      if (groups.some((each) => means(term, each, selectors))) keep(term);
    }
    for (const each of groups) {
      for (const label of Object.entries(each.labels)) {
        for (const term of this.byLabel.get(label.join('=')) ?? []) {
          if (means(term, each, selectors)) keep(term);
        }
      }
    }
    const inOrder = [...kept].sort(([a], [b]) => a - b);
    return new Map(inOrder.map(([place, { pod, lists }]) => [place, withTerms(pod, lists)]));
  }
}

function means({ pod, list, at }: OwnedTerm, other: Pod, selectors: PodSelectors): boolean {
  const { spec } = pod;
  if (list === 'topologySpread') {
    const term = spec.topologySpread[at];
    return term !== undefined && spreadMeans(pod, term, other);
  }
  const each = spec[list][at];
  if (each === undefined) return false;
  const term: PodAffinityTerm = 'term' in each ? each.term : each;
  return selectors.termMeans(pod, term, other);
}

/** The pod with these terms alone. Required affinity is one demand: all of its terms, or none. */
function withTerms(pod: Pod, lists: ReadonlyMap<ListName, ReadonlySet<number>>): Pod {
  const { spec } = pod;
  const only = <Term>(list: ListName, terms: readonly Term[]): readonly Term[] =>
    terms.filter((_, at) => lists.get(list)?.has(at) === true);
  const near = only('podAffinity', spec.podAffinity);
  const narrowed: Lists = {
    topologySpread: only('topologySpread', spec.topologySpread),
    podAffinity: near.length === spec.podAffinity.length ? near : [],
    podAntiAffinity: only('podAntiAffinity', spec.podAntiAffinity),
    preferredPodAffinity: only('preferredPodAffinity', spec.preferredPodAffinity),
    preferredPodAntiAffinity: only('preferredPodAntiAffinity', spec.preferredPodAntiAffinity),
  };
  return { ...pod, spec: { ...spec, ...narrowed } };
}
