import { missing } from '../../missing.ts';
import { ruleAllowsNode } from '../problem/node-rules.ts';
import { type HostRule, type HostTotals, hostAllows } from './host.ts';
import { type ExistingNode, fitsFree, type ResolvedClass } from './search-context.ts';
import type { Place, Topology } from './topology.ts';

/** Existing nodes that other pods, and preferences, tell apart for no pod of a class. */
export interface NodeGroup {
  readonly place: Place;
  /** Weight of the preferences about nodes that these do not meet. */
  readonly penalty: number;
  /** Positions of its nodes, in the order in which room is used. */
  readonly nodes: readonly number[];
}

/** By existing nodes and topology keys: the values that they have, which most classes share. */
const placeTexts = new WeakMap<readonly ExistingNode[], Map<string, readonly string[]>>();

function placeTextsOf(
  existingNodes: readonly ExistingNode[],
  keys: readonly string[],
): readonly string[] {
  const byKeys = placeTexts.get(existingNodes) ?? new Map<string, readonly string[]>();
  placeTexts.set(existingNodes, byKeys);
  const text = keys.join('|');
  const known = byKeys.get(text);
  if (known !== undefined) return known;
  const found = existingNodes.map(({ place }) =>
    JSON.stringify(keys.map((key) => place.label(key) ?? null)),
  );
  byKeys.set(text, found);
  return found;
}

/** Existing nodes in groups, by the values of the keys that matter to where a pod may go. */
export function nodeGroups(
  { placeKeys, wanted }: ResolvedClass,
  fitting: readonly number[],
  existingNodes: readonly ExistingNode[],
): readonly NodeGroup[] {
  const [first] = fitting;
  if (first === undefined) return [];
  if (placeKeys.length + wanted.length === 0) {
    const { place } = existingNodes[first] ?? missing(first);
    return [{ place, penalty: 0, nodes: fitting }];
  }
  const texts = placeTextsOf(existingNodes, placeKeys);
  const groups = new Map<string, NodeGroup & { readonly nodes: number[] }>();
  for (const index of fitting) {
    const { node, place } = existingNodes[index] ?? missing(index);
    const unmet = wanted.filter(({ rule }) => !ruleAllowsNode(rule, node.label, node.taints));
    const penalty = unmet.reduce((sum, { weight }) => sum + weight, 0);
    const text = `${penalty}${texts[index] ?? missing(index)}`;
    const known = groups.get(text);
    if (known === undefined) groups.set(text, { place, penalty, nodes: [index] });
    else known.nodes.push(index);
  }
  return [...groups.values()];
}

/** A group without the nodes at its beginning that are full. */
interface OpenGroup extends NodeGroup {
  next: number;
}

/**
 * Where an attempt may still put pods of one class. Existing nodes only fill up, so one that has no
 * room for such a pod is not looked at again: what many equal pods cost follows nodes and pods, not
 * their product.
 */
export class OpenNodes {
  private readonly resolved: ResolvedClass;
  private readonly existingNodes: readonly ExistingNode[];
  private readonly withoutNeeds: HostRule;
  private groups: OpenGroup[];
  /** Nodes and groups looked at. */
  looks = 0;

  constructor(
    resolved: ResolvedClass,
    groups: readonly NodeGroup[],
    existingNodes: readonly ExistingNode[],
  ) {
    this.resolved = resolved;
    this.existingNodes = existingNodes;
    this.withoutNeeds = { ...resolved.host, needs: [] };
    this.groups = groups.map(({ place, penalty, nodes }) => ({ place, penalty, nodes, next: 0 }));
  }

  /** The node that takes one more pod with the least penalty, the first of those in order. */
  best(
    topology: Topology,
    totals: HostTotals,
  ): { readonly existing: ExistingNode; readonly penalty: number } | undefined {
    const { podClass, kinds } = this.resolved;
    let best = { index: -1, penalty: Number.POSITIVE_INFINITY };
    let hasFull = false;
    for (const group of this.groups) {
      this.looks++;
      const first = this.firstWithRoom(group);
      if (first === undefined) hasFull = true;
      if (first === undefined || (best.penalty === 0 && first > best.index)) continue;
      if (!topology.allows(podClass, group.place)) continue;
      const penalty = group.penalty + topology.penalty(podClass, group.place, kinds);
      if (penalty > best.penalty) continue;
      const index = this.firstWithCompany(group, totals);
      if (index === undefined || (penalty === best.penalty && index > best.index)) continue;
      best = { index, penalty };
    }
    if (hasFull) this.groups = this.groups.filter(({ next, nodes }) => next < nodes.length);
    const existing = this.existingNodes[best.index];
    return existing === undefined ? undefined : { existing, penalty: best.penalty };
  }

  private hasRoom({ free, host }: ExistingNode, totals?: HostTotals): boolean {
    const { podClass, host: rule } = this.resolved;
    if (!fitsFree(podClass.requests, free)) return false;
    return totals === undefined
      ? hostAllows(this.withoutNeeds, host, NO_TOTALS)
      : hostAllows(rule, host, totals);
  }

  private firstWithRoom(group: OpenGroup): number | undefined {
    for (; group.next < group.nodes.length; group.next++) {
      const index = group.nodes[group.next] ?? missing(group.next);
      if (this.hasRoom(this.existingNodes[index] ?? missing(index))) return index;
      this.looks++;
    }
    return undefined;
  }

  /** Pods that need others on their node may find them later: such nodes stay in the group. */
  private firstWithCompany({ nodes, next }: OpenGroup, totals: HostTotals): number | undefined {
    if (this.resolved.host.needs.length === 0) return nodes[next];
    for (let at = next; at < nodes.length; at++) {
      this.looks++;
      const index = nodes[at] ?? missing(at);
      if (this.hasRoom(this.existingNodes[index] ?? missing(index), totals)) return index;
    }
    return undefined;
  }
}

/** Only needs are checked against totals. */
const NO_TOTALS: HostTotals = new Map();
