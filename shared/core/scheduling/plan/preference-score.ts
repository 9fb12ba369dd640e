import type { PreferenceScore } from '../../model/plan.ts';
import type { Taint } from '../../model/taint.ts';
import { launchLabel } from '../problem/launch-space.ts';
import { ruleAllowsNode, taintsAllowed } from '../problem/node-rules.ts';
import {
  type NodePreference,
  type PodClass,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from '../problem/problem.ts';
import type { AffinityTerm, SpreadTerm } from '../problem/topology-terms.ts';
import { isHostKey } from '../problem/topology-terms.ts';
import type { Bin, ExistingNode, SearchContext, SearchState } from '../search/search-state.ts';
import { type DomainCounts, type Domains, PodCounts } from './pod-counts.ts';

/** Weight of a soft spread, which carries none of its own. */
const SPREAD_WEIGHT = 100;

/** A node of the final state, existing or planned. */
interface FinalNode {
  readonly label: (key: string) => string | undefined;
  readonly taints: readonly Taint[];
  /** Whether the node meets the rule that a preference expresses. */
  readonly meets: (preference: NodePreference) => boolean;
  /** Whether a spread of the class counts the node. */
  readonly isEligible: (podClass: PodClass, term: SpreadTerm) => boolean;
  /** Pods that the plan puts there. */
  readonly content: ReadonlyMap<PodClass, number>;
}

/** Pods that run, and those that the plan places. */
interface Counts {
  readonly running: DomainCounts;
  readonly placed: DomainCounts;
}

/** Pods of both in the domain; undefined: there is no such domain. */
function podsAt({ running, placed }: Counts, value: string): number | undefined {
  const [before, added] = [running.at(value), placed.at(value)];
  return before === undefined && added === undefined ? undefined : (before ?? 0) + (added ?? 0);
}

interface SpreadCounts extends Counts {
  /** Of the domains counted or reachable. */
  readonly lowest: number;
  readonly reachable: ReadonlySet<string>;
}

const NOWHERE: ReadonlySet<string> = new Set();

/** Sums what was met and what there was, by kind. */
class Tally {
  private readonly kinds = new Map<string, { satisfied: number; total: number }>();

  add(kind: string, weight: number, isMet: boolean): void {
    const known = this.kinds.get(kind) ?? { satisfied: 0, total: 0 };
    known.total += weight;
    if (isMet) known.satisfied += weight;
    this.kinds.set(kind, known);
  }

  score(): PreferenceScore {
    const all = [...this.kinds].sort(([a], [b]) => (a < b ? -1 : 1));
    return {
      satisfiedWeight: all.reduce((sum, [, { satisfied }]) => sum + satisfied, 0),
      totalWeight: all.reduce((sum, [, { total }]) => sum + total, 0),
      byKind: Object.fromEntries(all),
    };
  }
}

/** The same for every plan of a problem. */
const runningOf = new WeakMap<Problem, PodCounts<FinalNode>>();

/** The pods that run on existing nodes. */
function runningPods({ problem, existingNodes }: SearchContext): PodCounts<FinalNode> {
  let running = runningOf.get(problem);
  if (running === undefined) {
    const byNode = new Map(
      existingNodes.map((existing) => [existing.node, existingFinalNode(existing)] as const),
    );
    running = new PodCounts(byNode.values());
    for (const { node, matching } of problem.running) {
      const finalNode = byNode.get(node);
      if (finalNode !== undefined) running.add(finalNode, matching, 1);
    }
    runningOf.set(problem, running);
  }
  return running;
}

/** What is where at the end of a plan, counted only as far as somebody's preferences ask. */
class FinalState {
  /** Nodes on which the plan puts pods. */
  readonly finalNodes: readonly FinalNode[];
  private readonly context: SearchContext;
  private readonly running: PodCounts<FinalNode>;
  private readonly placed: PodCounts<FinalNode>;
  private readonly matches = new Map<string, Counts>();
  private readonly spreads = new Map<string, SpreadCounts>();

  constructor({ context, existingNodes, bins }: SearchState) {
    this.context = context;
    this.running = runningPods(context);
    this.finalNodes = [
      ...existingNodes.filter(({ content }) => content.size > 0).map(existingFinalNode),
      ...bins.map(plannedFinalNode),
    ];
    this.placed = new PodCounts(this.finalNodes);
    for (const finalNode of this.finalNodes) {
      for (const [{ matching }, amount] of finalNode.content) {
        this.placed.add(finalNode, matching, amount);
      }
    }
  }

  /** Pods that the selector matches, by the value of the key. */
  matching({ key, selector }: AffinityTerm): Counts {
    const text = `${key}|${selector.id}`;
    let counts = this.matches.get(text);
    if (counts === undefined) {
      counts = this.count({ text: key, key, isCounted: () => true }, selector.id);
      this.matches.set(text, counts);
    }
    return counts;
  }

  /** Pods that the spread counts, by domain. */
  spread(podClass: PodClass, term: SpreadTerm): SpreadCounts {
    const { key, selector, honorAffinity, honorTaints } = term;
    const rule = honorTaints ? podClass.rule.id : '';
    const affinity = honorAffinity ? podClass.affinityRule.id : '';
    const text = `${key}|${affinity}|${rule}`;
    const known = this.spreads.get(`${text}|${selector.id}`);
    if (known !== undefined) return known;
    const isCounted = (finalNode: FinalNode) => finalNode.isEligible(podClass, term);
    const counts = this.count({ text, key, isCounted }, selector.id);
    const values = isHostKey(key) ? NOWHERE : reachable(this.context.problem, podClass, key);
    const hasEmpty = [...values].some((value) => podsAt(counts, value) === undefined);
    const lowest = hasEmpty ? 0 : counts.running.lowestWith(counts.placed);
    const added = { ...counts, lowest, reachable: values };
    this.spreads.set(`${text}|${selector.id}`, added);
    return added;
  }

  private count(domains: Domains<FinalNode>, selector: number): Counts {
    return {
      running: this.running.by(domains, selector),
      placed: this.placed.by(domains, selector),
    };
  }

  /**
   * Whether a node on which the class may run has a PreferNoSchedule taint that it does not
   * tolerate.
   */
  couldMeetSoftTaint(podClass: PodClass, preference: NodePreference): boolean {
    const { groups, nodes } = this.context.problem;
    return (
      groups.some(
        (group) =>
          group.allowed[podClass.rule.id] === 1 &&
          !taintsAllowed(preference.rule, group.pool.taints),
      ) ||
      nodes.some(
        ({ label, taints }) =>
          !taintsAllowed(preference.rule, taints) && ruleAllowsNode(podClass.rule, label, taints),
      )
    );
  }
}

/** The same for every plan of a problem. */
const reachableOf = new WeakMap<Problem, Map<string, ReadonlySet<string>>>();

/** The values of the key that new nodes for the class could have. */
function reachable(problem: Problem, { rule }: PodClass, key: string): ReadonlySet<string> {
  const known = reachableOf.get(problem) ?? new Map<string, ReadonlySet<string>>();
  reachableOf.set(problem, known);
  const text = `${rule.id}|${key}`;
  let values = known.get(text);
  if (values === undefined) {
    const allowed = problem.groups.filter((group) => group.allowed[rule.id] === 1);
    values = new Set(
      allowed.flatMap(({ pool, type, domain }) => launchLabel(pool, type, domain, key) ?? []),
    );
    known.set(text, values);
  }
  return values;
}

function existingFinalNode({ node, content }: ExistingNode): FinalNode {
  const { label, taints } = node;
  return {
    label,
    taints,
    meets: ({ rule }) => ruleAllowsNode(rule, label, taints),
    isEligible: (podClass, { honorAffinity, honorTaints }) =>
      (!honorAffinity ||
        ruleAllowsNode({ ...podClass.affinityRule, tolerations: undefined }, label, [])) &&
      (!honorTaints || taintsAllowed(podClass.rule, taints)),
    content,
  };
}

function plannedFinalNode({ chosen, content }: Bin, index: number): FinalNode {
  const { group } = chosen;
  const { pool, type, domain } = group;
  const label = (key: string) =>
    isHostKey(key) ? `new node ${index}` : launchLabel(pool, type, domain, key);
  const { taints } = pool;
  return {
    label,
    taints,
    meets: ({ rule }) => group.allowed[rule.id] === 1,
    isEligible: (podClass, { honorAffinity, honorTaints }) =>
      (!honorAffinity ||
        group.allowed[podClass.affinityRule.id] === 1 ||
        ruleAllowsNode({ ...podClass.affinityRule, tolerations: undefined }, label, [])) &&
      (!honorTaints || taintsAllowed(podClass.rule, taints)),
    content,
  };
}

/** Pods of a class on one node, whose preferences are counted: those of one kind, or all. */
interface Scored {
  readonly tally: Tally;
  readonly finalState: FinalState;
  readonly podClass: PodClass;
  readonly finalNode: FinalNode;
  readonly amount: number;
  readonly only: PreferenceKind | undefined;
}

function scoreNode({ tally, finalState, podClass, finalNode, amount, only }: Scored): void {
  for (const preference of podClass.scored.preferences) {
    const { kind, weight } = preference;
    if (only !== undefined && kind !== only) continue;
    if (kind === 'taint') {
      if (!finalState.couldMeetSoftTaint(podClass, preference)) continue;
      const isClear = taintsAllowed(preference.rule, finalNode.taints);
      tally.add('preferNoSchedule', weight * amount, isClear);
    } else tally.add('nodeAffinity', weight * amount, finalNode.meets(preference));
  }
}

/** Whether another pod that matches is in the node's domain. */
function hasPeer(finalState: FinalState, term: AffinityTerm, finalNode: FinalNode): boolean {
  const value = finalNode.label(term.key);
  if (value === undefined) return false;
  return (podsAt(finalState.matching(term), value) ?? 0) > (term.isSelf ? 1 : 0);
}

function isSpreadMet(
  finalState: FinalState,
  podClass: PodClass,
  term: SpreadTerm,
  finalNode: FinalNode,
): boolean {
  const spread = finalState.spread(podClass, term);
  const value = finalNode.label(term.key) ?? '';
  const here = podsAt(spread, value) ?? (spread.reachable.has(value) ? 0 : undefined);
  return here !== undefined && here - spread.lowest <= term.maxSkew;
}

function scoreTerms({ tally, finalState, podClass, finalNode, amount, only }: Scored): void {
  const isOther = (key: string) => only !== undefined && podPreferenceKind(key) !== only;
  const { spreads, affinity, antiAffinity } = podClass.scored.topology;
  for (const term of affinity) {
    if (term.weight === 0 || isOther(term.key)) continue;
    tally.add('podAffinity', term.weight * amount, hasPeer(finalState, term, finalNode));
  }
  for (const term of antiAffinity) {
    if (term.weight === 0 || isOther(term.key)) continue;
    tally.add('podAntiAffinity', term.weight * amount, !hasPeer(finalState, term, finalNode));
  }
  for (const term of spreads) {
    if (term.isHard || isOther(term.key)) continue;
    const isMet = isSpreadMet(finalState, podClass, term, finalNode);
    tally.add(`spread:${term.key}`, SPREAD_WEIGHT * amount, isMet);
  }
}

function scoreOf(finalState: FinalState, only?: PreferenceKind): PreferenceScore {
  const tally = new Tally();
  for (const finalNode of finalState.finalNodes) {
    for (const [podClass, amount] of finalNode.content) {
      if (amount === 0) continue;
      const scored = { tally, finalState, podClass, finalNode, amount, only };
      scoreNode(scored);
      scoreTerms(scored);
    }
  }
  return tally.score();
}

/**
 * How much of the placed pods' preferences the plan meets: satisfied over total weight. A preferred
 * term has its own weight, a soft spread 100, and so has staying off PreferNoSchedule taints where
 * the pod could meet one. Preferences that nobody could meet count, too.
 */
export function preferenceScore(state: SearchState): PreferenceScore {
  return scoreOf(new FinalState(state));
}

/** By kind: how much weight of its preferences the plan meets. */
export function metByKind(
  state: SearchState,
  kinds: Iterable<PreferenceKind>,
): ReadonlyMap<PreferenceKind, number> {
  const finalState = new FinalState(state);
  return new Map([...kinds].map((kind) => [kind, scoreOf(finalState, kind).satisfiedWeight]));
}
