import type { NodeSelectorTerm, PodSpec, Weighted } from '../../model/pod.ts';
import type { SchedulingSettings } from '../../model/snapshot.ts';
import type { Taint } from '../../model/taint.ts';
import { withSoftTolerated } from './soft-taints.ts';

function heaviestFirst<Term>(terms: readonly Weighted<Term>[]): readonly Weighted<Term>[] {
  return terms.toSorted((a, b) => b.weight - a.weight);
}

/** What of a pod can be given up, in the order in which it is. */
interface SoftTerms {
  /** OR-ed terms of its required node affinity; undefined: it has none. */
  readonly terms: readonly NodeSelectorTerm[] | undefined;
  readonly affinity: PodSpec['preferredPodAffinity'];
  readonly antiAffinity: PodSpec['preferredPodAntiAffinity'];
  readonly nodeAffinity: PodSpec['preferredNodeAffinity'];
  readonly spreads: PodSpec['topologySpread'];
  readonly toleratesSoft: boolean;
}

function isSoftSpread({ whenUnsatisfiable }: PodSpec['topologySpread'][number]): boolean {
  return whenUnsatisfiable === 'ScheduleAnyway';
}

function softTermsOf(spec: PodSpec, respects: boolean): SoftTerms {
  const { topologySpread } = spec;
  return {
    terms: spec.requiredNodeAffinity,
    affinity: respects ? heaviestFirst(spec.preferredPodAffinity) : [],
    antiAffinity: respects ? heaviestFirst(spec.preferredPodAntiAffinity) : [],
    nodeAffinity: respects ? heaviestFirst(spec.preferredNodeAffinity) : [],
    spreads: respects ? topologySpread : topologySpread.filter((each) => !isSoftSpread(each)),
    toleratesSoft: false,
  };
}

/** The terms with one less; undefined: nothing is left to give up. */
function relaxed(softTerms: SoftTerms, hasSoftTaints: boolean): SoftTerms | undefined {
  const { terms, affinity, antiAffinity, nodeAffinity, spreads } = softTerms;
  if (terms !== undefined && terms.length > 1) return { ...softTerms, terms: terms.slice(1) };
  if (affinity.length > 0) return { ...softTerms, affinity: affinity.slice(1) };
  if (antiAffinity.length > 0) return { ...softTerms, antiAffinity: antiAffinity.slice(1) };
  if (nodeAffinity.length > 0) return { ...softTerms, nodeAffinity: nodeAffinity.slice(1) };
  const soft = spreads.findIndex(isSoftSpread);
  if (soft >= 0) return { ...softTerms, spreads: spreads.toSpliced(soft, 1) };
  return hasSoftTaints && !softTerms.toleratesSoft
    ? { ...softTerms, toleratesSoft: true }
    : undefined;
}

/**
 * The first term of the required node affinity and, as if it were required, the heaviest
 * preference.
 */
function nodeAffinityOf({ terms, nodeAffinity }: SoftTerms): PodSpec['requiredNodeAffinity'] {
  const [first] = terms ?? [];
  const preferred = nodeAffinity[0]?.term;
  if (terms !== undefined && first === undefined) return [];
  if (preferred === undefined || preferred.matchExpressions.length === 0) {
    return first === undefined ? undefined : [first];
  }
  const { matchExpressions = [], matchFields = [] } = first ?? {};
  return [{ matchExpressions: [...matchExpressions, ...preferred.matchExpressions], matchFields }];
}

/** The spec of a pod with these terms, all of them required. */
function ruled(spec: PodSpec, softTerms: SoftTerms, soft: readonly Taint[]): PodSpec {
  const { affinity, antiAffinity, spreads, toleratesSoft } = softTerms;
  return {
    ...spec,
    requiredNodeAffinity: nodeAffinityOf(softTerms),
    preferredNodeAffinity: [],
    podAffinity: [...spec.podAffinity, ...affinity.map(({ term }) => term)],
    preferredPodAffinity: [],
    podAntiAffinity: [...spec.podAntiAffinity, ...antiAffinity.map(({ term }) => term)],
    preferredPodAntiAffinity: [],
    topologySpread: spreads.map((each) => ({ ...each, whenUnsatisfiable: 'DoNotSchedule' })),
    tolerations: withSoftTolerated(spec.tolerations, soft, toleratesSoft),
  };
}

/** One way to take a pod's spec. */
export interface Step {
  /** Every preference that is left is required in it. */
  readonly spec: PodSpec;
  /** The same without preferences for nodes: what spread constraints count nodes by. */
  readonly counted: PodSpec;
}

/**
 * A pod's spec with every preference required, and then with one preference less each time. One
 * alternative of the required node affinity counts at a time, and of all preferences as many as can
 * be met together. Given up, one at a time: alternatives but the last, preferred pod affinity,
 * preferred pod anti-affinity, preferred node affinity (heaviest first), spread constraints with
 * ScheduleAnyway, and that PreferNoSchedule is kept to.
 * https://karpenter.sh/docs/concepts/scheduling/#preferences
 */
export function ladderOf(
  spec: PodSpec,
  { preferencePolicy }: Pick<SchedulingSettings, 'preferencePolicy'>,
  soft: readonly Taint[],
): readonly Step[] {
  const isPlain = soft.length === 0 && relaxed(softTermsOf(spec, true), false) === undefined;
  if (isPlain) return [{ spec, counted: spec }];
  const steps: Step[] = [];
  let softTerms: SoftTerms | undefined = softTermsOf(spec, preferencePolicy === 'Respect');
  while (softTerms !== undefined) {
    const step = ruled(spec, softTerms, soft);
    const hasBoth = softTerms.nodeAffinity.length > 0 && softTerms.spreads.length > 0;
    const counted = hasBoth ? ruled(spec, { ...softTerms, nodeAffinity: [] }, soft) : step;
    steps.push({ spec: step, counted });
    softTerms = relaxed(softTerms, soft.length > 0);
  }
  return steps;
}
