import { missing } from '../../missing.ts';
import type { Taint } from '../../model/taint.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';
import { launchLabel, launchMeets } from '../problem/launch-space.ts';
import { type NodeRule, ruleAllowsNode, taintsAllowed } from '../problem/node-rules.ts';
import {
  type PodClass,
  type PreferenceKind,
  type Problem,
  podPreferenceKind,
} from '../problem/problem.ts';
import type { StateNode } from '../problem/state-node.ts';
import {
  type AffinityTerm,
  isHostKey,
  requiredOf,
  type SpreadTerm,
  type TopologyTerms,
} from '../problem/topology-terms.ts';
import { addTo, type Counts, type LiveDomains, liveOf, lowest } from './domain-counts.ts';

/** A place as topology sees it: its labels, and whether a spread constraint counts it. */
export interface Place {
  readonly label: (key: string) => string | undefined;
  readonly node: StateNode | undefined;
  readonly group: LaunchGroup | undefined;
}

export function placeOfNode(node: StateNode): Place {
  return { label: node.label, node, group: undefined };
}

export function placeOfGroup(group: LaunchGroup): Place {
  const { pool, type, domain } = group;
  return {
    label: (key) => launchLabel(pool, type, domain, key),
    node: undefined,
    group,
  };
}

/** By selector and label key: the index of the counts. */
type Tables = Map<number, Map<string, number>>;

/** Which nodes spread constraints count, whatever pods they select. */
interface SpreadDomains {
  readonly key: string;
  readonly hardKeys: readonly string[];
  readonly affinity: NodeRule | undefined;
  readonly taintsOf: NodeRule | undefined;
  /**
   * Values of eligible nodes: of those that exist and of those that could be launched for any pod
   * of the demand, because an empty node that another pod brings counts for the minimum, too. What
   * no pod may use is launched for none: kube-scheduler knows no domain there, although
   * `nodeAffinityPolicy: Ignore` and `nodeTaintsPolicy: Ignore` would let it in.
   */
  readonly domains: readonly string[];
  readonly eligible: Map<StateNode | LaunchGroup, boolean>;
}

/** Pods of one selector by the values of one label, on the nodes that a constraint counts. */
interface SpreadCounter extends SpreadDomains {
  /** Index of its counts. */
  readonly table: number;
}

/** What one class's spread term is checked against. */
export interface BoundSpread {
  readonly term: SpreadTerm;
  readonly counter: SpreadCounter;
  readonly domains: readonly string[];
}

/** Where pods are, by the labels of their nodes; hostnames are counted on the nodes themselves. */
export class Topology {
  private readonly problem: Problem;
  /** The only part that changes; everything else is shared between copies. */
  private tables: Counts[] = [];
  private readonly matches: Tables = new Map();
  private readonly antiOwners: Tables = new Map();
  private readonly divisions = new Map<string, SpreadDomains>();
  private readonly counters = new Map<string, SpreadCounter>();
  private readonly countersBySelector = new Map<number, SpreadCounter[]>();
  private readonly spreads = new Map<PodClass, readonly BoundSpread[]>();

  constructor(problem: Problem) {
    this.problem = problem;
    for (const podClass of problem.classes) this.register(podClass.topology);
    for (const each of problem.running) this.registerAnti(each.topology);
    for (const podClass of problem.classes) {
      if (podClass.topology.spreads.length > 0) this.bindSpreads(podClass);
    }
    for (const { pod, node, topology, matching } of problem.running) {
      const isTerminating = pod.deletedAtMs !== undefined;
      this.count(topology, matching, placeOfNode(node), 1, !isTerminating);
    }
  }

  /** The same topology with counts of its own. */
  copy(): Topology {
    const copy: Topology = Object.assign(Object.create(Topology.prototype), this);
    copy.tables = this.tables.map((counts) => new Map(counts));
    return copy;
  }

  /** Every topology key that somebody's terms name, the hostname apart, in alphabetical order. */
  get keys(): readonly string[] {
    const keys = new Set<string>();
    for (const tables of [...this.matches.values(), ...this.antiOwners.values()]) {
      for (const key of tables.keys()) keys.add(key);
    }
    for (const { key } of this.counters.values()) keys.add(key);
    return [...keys].sort();
  }

  /** Whether other pods, beyond those on its own node, matter to where the class may go. */
  concerns({ topology, matching }: PodClass): boolean {
    const { spreads, affinity, antiAffinity } = topology;
    return (
      [...spreads, ...affinity, ...antiAffinity].some((each) => !isHostKey(each.key)) ||
      matching.some((id) => this.antiOwners.has(id))
    );
  }

  private at(table: number): Counts {
    return this.tables[table] ?? missing(table);
  }

  private tableOf(index: Tables, id: number, key: string): number {
    let byKey = index.get(id);
    if (byKey === undefined) {
      byKey = new Map();
      index.set(id, byKey);
    }
    let table = byKey.get(key);
    if (table === undefined) {
      table = this.tables.push(new Map()) - 1;
      byKey.set(key, table);
    }
    return table;
  }

  private register({ affinity, antiAffinity }: TopologyTerms): void {
    for (const { key, selector } of [...affinity, ...antiAffinity]) {
      if (!isHostKey(key)) this.tableOf(this.matches, selector.id, key);
    }
    this.registerAnti({ affinity, antiAffinity, spreads: [] });
  }

  private registerAnti({ antiAffinity }: TopologyTerms): void {
    for (const { key, selector, weight } of antiAffinity) {
      if (!isHostKey(key) && weight === 0) this.tableOf(this.antiOwners, selector.id, key);
    }
  }

  private bindSpreads(podClass: PodClass): void {
    const { spreads } = podClass.topology;
    const hard = spreads.filter((each) => each.isHard).map((each) => each.key);
    const bound = spreads
      .filter((term) => !isHostKey(term.key))
      .map((term) => {
        const hardKeys = term.isHard ? hard : [term.key];
        const counter = this.counter(podClass, term, hardKeys);
        return { term, counter, domains: counter.domains };
      });
    this.spreads.set(podClass, bound);
  }

  private counter(
    podClass: PodClass,
    term: SpreadTerm,
    hardKeys: readonly string[],
  ): SpreadCounter {
    const affinity = term.honorAffinity ? podClass.affinityRule : undefined;
    const taintsOf = term.honorTaints ? podClass.rule : undefined;
    const keys = [...new Set(hardKeys)].sort().join();
    const division = [term.key, keys, affinity?.id ?? '', taintsOf?.id ?? ''].join('|');
    const text = `${division}|${term.selector.id}`;
    const known = this.counters.get(text);
    if (known !== undefined) return known;
    // Most constraints of a cluster select different pods and count the same nodes.
    const rules = { key: term.key, hardKeys, affinity, taintsOf };
    const domains = this.divisions.get(division) ?? this.domainsBy(rules);
    this.divisions.set(division, domains);
    const table = this.tables.push(new Map()) - 1;
    const added: SpreadCounter = { ...domains, table };
    this.counters.set(text, added);
    const list = this.countersBySelector.get(term.selector.id) ?? [];
    list.push(added);
    this.countersBySelector.set(term.selector.id, list);
    return added;
  }

  private domainsBy(rules: Omit<SpreadDomains, 'domains' | 'eligible'>): SpreadDomains {
    const eligible = new Map<StateNode | LaunchGroup, boolean>();
    const { nodes, usable } = this.problem;
    const domains = new Set<string>();
    for (const place of [...nodes.map(placeOfNode), ...[...usable].map(placeOfGroup)]) {
      const value = place.label(rules.key);
      if (value !== undefined && this.isEligible({ ...rules, eligible }, place)) domains.add(value);
    }
    return { ...rules, domains: [...domains].sort(), eligible };
  }

  private isEligible(counter: Omit<SpreadDomains, 'domains'>, place: Place): boolean {
    const subject = place.node ?? place.group;
    if (subject === undefined) return true;
    const known = counter.eligible.get(subject);
    if (known !== undefined) return known;
    const taints: readonly Taint[] = place.node?.taints ?? place.group?.pool.taints ?? [];
    const { affinity, taintsOf, hardKeys } = counter;
    const isEligible =
      hardKeys.every((key) => isHostKey(key) || place.label(key) !== undefined) &&
      (affinity === undefined || allowsTerms(affinity, place)) &&
      (taintsOf === undefined || taintsAllowed(taintsOf, taints));
    counter.eligible.set(subject, isEligible);
    return isEligible;
  }

  /** Which spread constraints count pods of the class there: a digit for each that may. */
  countedBy({ matching }: PodClass, place: Place): string {
    const counters = matching.flatMap((id) => this.countersBySelector.get(id) ?? []);
    return counters.map((counter) => (this.isEligible(counter, place) ? '1' : '0')).join('');
  }

  /**
   * Counts pods that are put there (or taken away: negative amounts). kube-scheduler does not count
   * terminating pods for spreads, though it does for affinity.
   */
  count(
    topology: TopologyTerms,
    matching: readonly number[],
    place: Place,
    amount: number,
    countsForSpreads = true,
  ): void {
    for (const id of matching) {
      for (const [key, table] of this.matches.get(id) ?? []) {
        const value = place.label(key);
        if (value !== undefined) addTo(this.at(table), value, amount);
      }
      for (const counter of countsForSpreads ? (this.countersBySelector.get(id) ?? []) : []) {
        const value = place.label(counter.key);
        if (value !== undefined && this.isEligible(counter, place)) {
          addTo(this.at(counter.table), value, amount);
        }
      }
    }
    for (const { key, selector, weight } of topology.antiAffinity) {
      const value = isHostKey(key) || weight > 0 ? undefined : place.label(key);
      if (value === undefined) continue;
      addTo(this.at(this.tableOf(this.antiOwners, selector.id, key)), value, amount);
    }
  }

  /**
   * Whether the required terms, hostnames apart, let one more pod of the class go there. With
   * `live` only those values of a key count as domains of a spread, instead of all that could be
   * launched.
   */
  allows(podClass: PodClass, place: Place, live?: LiveDomains): boolean {
    return (
      this.allowsSpreads(podClass, place, live) &&
      this.allowsAffinity(podClass, place) &&
      this.allowsAntiAffinity(podClass, place)
    );
  }

  /** The spread terms of the class that are rules, hostnames apart. */
  requiredSpreads(podClass: PodClass): readonly BoundSpread[] {
    return (this.spreads.get(podClass) ?? []).filter(({ term }) => term.isHard);
  }

  private allowsSpreads(podClass: PodClass, place: Place, live?: LiveDomains): boolean {
    return this.requiredSpreads(podClass).every((each) => this.allowsSpread(each, place, live));
  }

  allowsSpread(
    { term, counter, domains: all }: BoundSpread,
    place: Place,
    live?: LiveDomains,
  ): boolean {
    const domains = live === undefined ? all : liveOf(all, live.get(term.key));
    const value = place.label(term.key);
    if (value === undefined) return false;
    const counts = this.at(counter.table);
    const after = (counts.get(value) ?? 0) + (term.isSelf ? 1 : 0);
    return after - lowest(counts, domains, term.minDomains) <= term.maxSkew;
  }

  private allowsAffinity({ topology }: PodClass, place: Place): boolean {
    const required = requiredOf(topology.affinity);
    return required.every((term) => this.allowsAffinityTerm(required, term, place));
  }

  allowsAffinityTerm(required: readonly AffinityTerm[], term: AffinityTerm, place: Place): boolean {
    const countsOf = ({ selector, key }: AffinityTerm) =>
      this.at(this.tableOf(this.matches, selector.id, key));
    const value = place.label(term.key);
    if (value === undefined) return false;
    if ((countsOf(term).get(value) ?? 0) > 0) return true;
    // The first of a group may go anywhere: as long as none is counted by any of its terms.
    const isStarted = required.some((each) =>
      [...countsOf(each).values()].some((count) => count > 0),
    );
    return !isStarted && term.isSelf;
  }

  private allowsAntiAffinity(podClass: PodClass, place: Place): boolean {
    for (const term of podClass.topology.antiAffinity) {
      if (term.weight > 0 || isHostKey(term.key)) continue;
      if (!this.allowsAntiAffinityTerm(term, place)) return false;
    }
    return this.allowedByOthers(podClass, place);
  }

  allowsAntiAffinityTerm({ key, selector }: AffinityTerm, place: Place): boolean {
    const value = place.label(key);
    if (value === undefined) return true;
    return (this.at(this.tableOf(this.matches, selector.id, key)).get(value) ?? 0) === 0;
  }

  /** Whether no pod there has a required anti-affinity against the class. */
  allowedByOthers({ matching }: PodClass, place: Place): boolean {
    for (const id of matching) {
      for (const [key, owners] of this.antiOwners.get(id) ?? []) {
        const value = place.label(key);
        if (value !== undefined && (this.at(owners).get(value) ?? 0) > 0) return false;
      }
    }
    return true;
  }

  /** Weight of the preferences about other pods that would not be met there. */
  penalty(podClass: PodClass, place: Place, kinds: ReadonlySet<PreferenceKind>): number {
    let penalty = 0;
    for (const { term, counter, domains } of this.spreads.get(podClass) ?? []) {
      if (term.isHard || !kinds.has(podPreferenceKind(term.key))) continue;
      const value = place.label(term.key);
      const counts = this.at(counter.table);
      const after = (counts.get(value ?? '') ?? 0) + (term.isSelf ? 1 : 0);
      const excess = after - lowest(counts, domains, undefined) - term.maxSkew;
      if (value === undefined || excess > 0) penalty += 100 * Math.max(1, excess);
    }
    return penalty + this.softAffinityPenalty(podClass, place, kinds);
  }

  /** Weight of the preferred terms about other pods, of all or some kinds, not met at the place. */
  softAffinityPenalty(
    { topology }: PodClass,
    place: Place,
    kinds?: ReadonlySet<PreferenceKind>,
  ): number {
    let penalty = 0;
    const { affinity, antiAffinity } = topology;
    for (const [terms, wanted] of [
      [affinity, true],
      [antiAffinity, false],
    ] as const) {
      for (const { key, selector, weight } of terms) {
        if (weight === 0 || isHostKey(key)) continue;
        if (kinds !== undefined && !kinds.has(podPreferenceKind(key))) continue;
        const value = place.label(key);
        const table = this.tableOf(this.matches, selector.id, key);
        const there = this.at(table).get(value ?? '') ?? 0;
        if (there > 0 !== wanted) penalty += weight;
      }
    }
    return penalty;
  }

  /** Pods counted at the place by the class's soft spread terms. */
  softCrowding(podClass: PodClass, place: Place): number {
    let crowding = 0;
    for (const { term, counter } of this.spreads.get(podClass) ?? []) {
      if (!term.isHard) crowding += this.at(counter.table).get(place.label(term.key) ?? '') ?? 0;
    }
    return crowding;
  }

  /** Pods already counted at the place by the class's own spread terms: fewer is better. */
  crowding(podClass: PodClass, place: Place): number {
    let crowding = 0;
    for (const { term, counter } of this.spreads.get(podClass) ?? []) {
      crowding += this.at(counter.table).get(place.label(term.key) ?? '') ?? 0;
    }
    return crowding;
  }
}

function allowsTerms(rule: NodeRule, place: Place): boolean {
  const { node, group } = place;
  if (node !== undefined)
    return ruleAllowsNode({ ...rule, tolerations: undefined }, node.label, []);
  if (group === undefined) return true;
  return rule.terms.some((term) => launchMeets(term, group.pool, group.type, group.domain));
}
