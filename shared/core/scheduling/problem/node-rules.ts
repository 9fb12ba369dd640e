import { missing } from '../../missing.ts';
import type { Taint, Toleration } from '../../model/taint.ts';
import { tolerates, untoleratedTaint } from '../../model/taint.ts';
import type { Requirements } from '../../requirements/value-set.ts';
import { type Domain, launchMeets, type PoolVariant, type TypeVariant } from './launch-space.ts';
import { type NodeTerms, termsAllow } from './node-terms.ts';

/** What a pod demands of a node by itself: labels and taints, nothing about other pods. */
export interface NodeRule {
  readonly id: number;
  readonly terms: NodeTerms;
  /** Undefined: taints do not matter to this rule. */
  readonly tolerations: readonly Toleration[] | undefined;
  /** The rule is to stay away from PreferNoSchedule taints that are not tolerated. */
  readonly avoidsSoftTaints: boolean;
}

function requirementsText(requirements: Requirements): string {
  const parts = [...requirements].map(([key, set]) =>
    JSON.stringify([
      key,
      set.complement,
      [...set.values].sort(),
      set.atLeast ?? null,
      set.atMost ?? null,
      set.absent,
    ]),
  );
  return parts.sort().join(';');
}

/** Interns rules, and the conjunctions of all rules. */
export class NodeRules {
  readonly all: NodeRule[] = [];
  readonly conjunctions: Requirements[] = [];
  private readonly numbers = new Map<Requirements, number>();
  private readonly conjunctionByText = new Map<string, Requirements>();
  private readonly byText = new Map<string, NodeRule>();

  intern(
    terms: NodeTerms,
    tolerations: readonly Toleration[] | undefined,
    avoidsSoftTaints = false,
  ): NodeRule {
    const shared = terms.map((each) => this.internConjunction(each));
    const text = JSON.stringify([
      shared.map((each) => this.numbers.get(each) ?? missing(each)).sort((a, b) => a - b),
      tolerations === undefined
        ? null
        : tolerations
            .map(({ key, operator, value, effect }) =>
              JSON.stringify([key, operator, value, effect]),
            )
            .sort(),
      avoidsSoftTaints,
    ]);
    const known = this.byText.get(text);
    if (known !== undefined) return known;
    const rule = { id: this.all.length, terms: shared, tolerations, avoidsSoftTaints };
    this.all.push(rule);
    this.byText.set(text, rule);
    return rule;
  }

  /** Equal for rules and conjunctions that are the same, with the same numbers. */
  get text(): string {
    return JSON.stringify([[...this.conjunctionByText.keys()], [...this.byText.keys()]]);
  }

  private internConjunction(requirements: Requirements): Requirements {
    const text = requirementsText(requirements);
    const known = this.conjunctionByText.get(text);
    if (known !== undefined) return known;
    this.numbers.set(requirements, this.conjunctions.push(requirements) - 1);
    this.conjunctionByText.set(text, requirements);
    return requirements;
  }
}

export function taintsAllowed(rule: NodeRule, taints: readonly Taint[]): boolean {
  const { tolerations } = rule;
  if (tolerations === undefined || taints.length === 0) return true;
  if (rule.avoidsSoftTaints) {
    return taints.every(
      (taint) =>
        taint.effect !== 'PreferNoSchedule' || tolerations.some((each) => tolerates(each, taint)),
    );
  }
  return untoleratedTaint(tolerations, taints) === undefined;
}

/** Whether a new node of the pool, type and offering would satisfy the rule. */
export function ruleAllowsLaunch(
  rule: NodeRule,
  pool: PoolVariant,
  type: TypeVariant,
  domain: Domain,
): boolean {
  return (
    taintsAllowed(rule, pool.taints) &&
    rule.terms.some((term) => launchMeets(term, pool, type, domain))
  );
}

/** Whether a node with these labels and taints satisfies the rule. */
export function ruleAllowsNode(
  rule: NodeRule,
  label: (key: string) => string | undefined,
  taints: readonly Taint[],
): boolean {
  return taintsAllowed(rule, taints) && termsAllow(rule.terms, label);
}
