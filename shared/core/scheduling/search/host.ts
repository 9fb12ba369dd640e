import type { HostPort } from '../../model/pod.ts';
import { portsClash } from '../problem/host-ports.ts';
import type { PodClass, Problem } from '../problem/problem.ts';
import { isHostKey } from '../problem/topology-terms.ts';

/** What a class asks of the pods on its own node. */
export interface HostRule {
  readonly ports: readonly HostPort[];
  /** Selectors none of whose pods may be there. */
  readonly avoids: readonly number[];
  /** Selectors by which pods already there may refuse this class. */
  readonly avoidedBy: readonly number[];
  readonly spreads: readonly { readonly selector: number; readonly most: number }[];
  readonly needs: readonly { readonly selector: number; readonly isSelf: boolean }[];
  /** Selectors that count this class and that some host rule reads. */
  readonly counted: readonly number[];
  /** Nothing about other pods on the node matters, and it matters to none. */
  readonly isFree: boolean;
}

/** Pods on one node as host rules see them. */
export interface HostState {
  readonly ports: HostPort[];
  /** Pods by selector, and owners of anti-affinity terms by selector. */
  readonly counts: Map<number, number>;
  readonly owners: Map<number, number>;
  /** Of the counted pods, those that are terminating: spreads do not count them. */
  readonly terminating: Map<number, number>;
}

export function emptyHost(ports: readonly HostPort[] = []): HostState {
  return { ports: [...ports], counts: new Map(), owners: new Map(), terminating: new Map() };
}

export function copyHost(host: HostState): HostState {
  return {
    ports: [...host.ports],
    counts: new Map(host.counts),
    owners: new Map(host.owners),
    terminating: new Map(host.terminating),
  };
}

/** How many pods each selector means anywhere: the first pod of an affinity group may start it. */
export type HostTotals = Map<number, number>;

/**
 * The host rules of a problem's classes; soft terms count as rules where `hardens` says so, and
 * what they mean is at least counted where `countsSoft` does.
 */
export class HostRules {
  readonly ofClass: readonly HostRule[];
  /** Selectors that some host rule counts. */
  private readonly read = new Set<number>();
  private readonly avoided = new Set<number>();

  constructor(problem: Problem, hardens: boolean, countsSoft = hardens) {
    const all = [...problem.classes, ...problem.running];
    for (const { topology } of all) {
      for (const each of topology.antiAffinity) {
        if (!isHostKey(each.key)) continue;
        if (each.weight === 0 || hardens) this.avoided.add(each.selector.id);
        if (each.weight === 0 || countsSoft) this.read.add(each.selector.id);
      }
      for (const each of [...topology.affinity, ...topology.spreads]) {
        if (isHostKey(each.key)) this.read.add(each.selector.id);
      }
    }
    this.ofClass = problem.classes.map((each) => this.rule(each, hardens));
  }

  private rule({ topology, matching, ports }: PodClass, hardens: boolean): HostRule {
    const avoids = topology.antiAffinity
      .filter((each) => isHostKey(each.key) && (each.weight === 0 || hardens))
      .map((each) => each.selector.id);
    const needs = topology.affinity
      .filter((each) => isHostKey(each.key) && each.weight === 0)
      .map((each) => ({ selector: each.selector.id, isSelf: each.isSelf }));
    const spreads = topology.spreads
      .filter((each) => isHostKey(each.key) && (each.isHard || hardens))
      .map((each) => ({
        selector: each.selector.id,
        most: each.maxSkew - (each.isSelf ? 1 : 0),
      }));
    const counted = matching.filter((id) => this.read.has(id));
    const avoidedBy = matching.filter((id) => this.avoided.has(id));
    const isFree =
      avoids.length + needs.length + spreads.length + counted.length + ports.length === 0;
    return { ports, avoids, avoidedBy, spreads, needs, counted, isFree };
  }

  /** Pods that already run on the node. */
  addRunning(
    host: HostState,
    pod: Pick<PodClass, 'ports' | 'topology' | 'matching'> & { readonly isTerminating: boolean },
  ): void {
    host.ports.push(...pod.ports);
    for (const id of pod.matching) {
      if (!this.read.has(id)) continue;
      increase(host.counts, id, 1);
      if (pod.isTerminating) increase(host.terminating, id, 1);
    }
    for (const each of pod.topology.antiAffinity) {
      if (isHostKey(each.key) && each.weight === 0) increase(host.owners, each.selector.id, 1);
    }
  }
}

function increase(counts: Map<number, number>, id: number, amount: number): void {
  counts.set(id, (counts.get(id) ?? 0) + amount);
}

/** Whether one more pod of the class may join the pods on the node. */
export function hostAllows(rule: HostRule, host: HostState, totals: HostTotals): boolean {
  if (rule.isFree) return true;
  for (const id of rule.avoids) if ((host.counts.get(id) ?? 0) > 0) return false;
  for (const id of rule.avoidedBy) if ((host.owners.get(id) ?? 0) > 0) return false;
  for (const { selector, most } of rule.spreads) {
    const counted = (host.counts.get(selector) ?? 0) - (host.terminating.get(selector) ?? 0);
    if (counted > most) return false;
  }
  for (const { selector, isSelf } of rule.needs) {
    if ((host.counts.get(selector) ?? 0) > 0) continue;
    if (!isSelf || (totals.get(selector) ?? 0) > 0) return false;
  }
  return rule.ports.length === 0 || !portsClash(rule.ports, host.ports);
}

/** Puts pods of the class on the node. */
export function addToHost(
  rule: HostRule,
  host: HostState,
  totals: HostTotals,
  amount: number,
): void {
  if (rule.isFree) return;
  for (let each = 0; each < amount; each++) host.ports.push(...rule.ports);
  for (const id of rule.counted) {
    increase(host.counts, id, amount);
    increase(totals, id, amount);
  }
  for (const id of rule.avoids) increase(host.owners, id, amount);
}
