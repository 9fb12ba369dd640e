import { HOSTNAME, normalizeLabelKey } from '../../model/labels.ts';
import type { NodeSelectorTerm, PodSpec } from '../../model/pod.ts';
import {
  allows,
  contradictingKey,
  intersect,
  oneOf,
  type Requirements,
  requirementsOf,
  type ValueSet,
} from '../../requirements/value-set.ts';

/** The field `metadata.name` of a node, written as if it were a label. */
export const NODE_NAME_FIELD = 'metadata.name';

/**
 * OR-ed alternatives, each a conjunction over node labels. One alternative without keys accepts
 * every node; no alternative at all accepts none.
 */
export type NodeTerms = readonly Requirements[];

export const EVERY_NODE: NodeTerms = [new Map()];

/**
 * More alternatives than this are cut where both sides have some: the plan then may miss a
 * possibility, never break a rule.
 */
const ALTERNATIVES_MAX = 64;

function conjunction(a: Requirements, b: Requirements): Requirements | undefined {
  const merged = new Map(a);
  for (const [key, set] of b) {
    const before = merged.get(key);
    merged.set(key, before === undefined ? set : intersect(before, set));
  }
  return contradictingKey(merged) === undefined ? merged : undefined;
}

/** (a₁ ∨ a₂ …) ∧ (b₁ ∨ b₂ …), contradictions left out. */
export function bothTerms(a: NodeTerms, b: NodeTerms): NodeTerms {
  const most = Math.max(ALTERNATIVES_MAX, a.length, b.length);
  const product: Requirements[] = [];
  for (const left of a) {
    for (const right of b) {
      const both = conjunction(left, right);
      if (both !== undefined) product.push(both);
      if (product.length >= most) return product;
    }
  }
  return product;
}

/** A node selector term; an empty one matches no node, as in kube-scheduler. */
function termRequirements(term: NodeSelectorTerm): Requirements | undefined {
  if (term.matchExpressions.length + term.matchFields.length === 0) return undefined;
  const fields = term.matchFields.map((field) => ({ ...field, key: NODE_NAME_FIELD }));
  const all = requirementsOf([...term.matchExpressions, ...fields]);
  return contradictingKey(all) === undefined ? all : undefined;
}

export function termsOf(terms: readonly NodeSelectorTerm[]): NodeTerms {
  return terms.map(termRequirements).filter((each) => each !== undefined);
}

/** nodeSelector and required node affinity of a pod. */
export function nodeTermsOf(spec: PodSpec): NodeTerms {
  const selector = new Map<string, ValueSet>();
  for (const [key, value] of Object.entries(spec.nodeSelector)) {
    const name = normalizeLabelKey(key);
    const before = selector.get(name);
    const set = oneOf(value);
    selector.set(name, before === undefined ? set : intersect(before, set));
  }
  const base: NodeTerms = contradictingKey(selector) === undefined ? [selector] : [];
  if (spec.requiredNodeAffinity === undefined) return base;
  return bothTerms(base, termsOf(spec.requiredNodeAffinity));
}

/** Whether a node with these labels, and its name as {@link NODE_NAME_FIELD}, meets one of them. */
export function termsAllow(terms: NodeTerms, label: (key: string) => string | undefined): boolean {
  return terms.some((term) => {
    for (const [key, set] of term) if (!allows(set, label(key))) return false;
    return true;
  });
}

/** The same terms without what they say of the hostname (volumes of local disks). */
export function withoutHostname(term: NodeSelectorTerm): NodeSelectorTerm {
  return {
    ...term,
    matchExpressions: term.matchExpressions.filter((each) => each.key !== HOSTNAME),
  };
}
