import {
  type PodClass,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from '../problem/problem.ts';
import { type AffinityTerm, isHostKey, requiredOf } from '../problem/topology-terms.ts';

/** Which preferences a plan tries to meet as if they were rules. */
export interface EnforcedPreferences {
  readonly kinds: ReadonlySet<PreferenceKind>;
  /** By kind, ids of classes whose preferences of it cannot be met, or cost too much. */
  readonly exempt?: ReadonlyMap<PreferenceKind, ReadonlySet<number>>;
}

/** Topology keys by selector. */
export type KeysBySelector = ReadonlyMap<number, ReadonlySet<string>>;

function bySelector(terms: readonly Pick<AffinityTerm, 'key' | 'selector'>[]): KeysBySelector {
  const keys = new Map<number, Set<string>>();
  for (const { key, selector } of terms) {
    if (!isHostKey(key)) keys.set(selector.id, (keys.get(selector.id) ?? new Set()).add(key));
  }
  return keys;
}

/** Of those by which the domain of a counted pod matters to pods that have no place yet. */
export function pinningKeys(problem: Problem, enforced: EnforcedPreferences): KeysBySelector {
  return bySelector(
    problem.classes.flatMap((podClass) => {
      const { affinity, antiAffinity, spreads } = podClass.topology;
      const kinds = kindsOf(enforced, podClass);
      const isActive = ({ key, weight }: AffinityTerm) =>
        weight === 0 || kinds.has(podPreferenceKind(key));
      const terms = [...affinity, ...antiAffinity].filter(isActive);
      return [...terms, ...spreads.filter(({ isHard }) => isHard)];
    }),
  );
}

/** Of those by which pods that have a place keep others away. */
export function avoidingKeys({ running }: Problem): KeysBySelector {
  return bySelector(running.flatMap(({ topology }) => requiredOf(topology.antiAffinity)));
}

export function keysFor({ matching }: PodClass, keys: KeysBySelector): readonly string[] {
  return matching.flatMap((id) => [...(keys.get(id) ?? [])]);
}

export function kindsOf(
  { kinds, exempt }: EnforcedPreferences,
  { id }: PodClass,
): ReadonlySet<PreferenceKind> {
  const isExempt = (kind: PreferenceKind) => exempt?.get(kind)?.has(id) === true;
  return [...kinds].some(isExempt) ? new Set([...kinds].filter((kind) => !isExempt(kind))) : kinds;
}

/**
 * Keys of the terms of the class. With `moving` without those of required terms about pods that all
 * have a place: groups that they rule out are left out, and all others are alike to the class.
 */
export function ownKeys(
  { topology }: PodClass,
  kinds: ReadonlySet<PreferenceKind>,
  moving?: ReadonlySet<number>,
): readonly string[] {
  const { spreads, affinity, antiAffinity } = topology;
  const isActive = (key: string, isRequired: boolean) =>
    !isHostKey(key) && (isRequired || kinds.has(podPreferenceKind(key)));
  const isSettled = ({ weight, selector }: AffinityTerm) =>
    weight === 0 && moving?.has(selector.id) === false;
  return [
    ...spreads.filter((each) => isActive(each.key, each.isHard)),
    ...[...affinity, ...antiAffinity].filter(
      (each) => isActive(each.key, each.weight === 0) && !isSettled(each),
    ),
  ].map((each) => each.key);
}
