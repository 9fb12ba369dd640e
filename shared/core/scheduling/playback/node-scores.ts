import { missing } from '../../missing.ts';
import { CPU, MEMORY } from '../../model/resources.ts';
import { ruleAllowsNode } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import type { HostState } from '../search/host.ts';
import type { Place, Topology } from '../search/topology.ts';
import type { SchedulerClass, SchedulerNode } from './scheduler-node.ts';

/** Weights of kube-scheduler's default score plugins that tell new nodes apart. */
const WEIGHT = { nodeAffinity: 2, taints: 3, spread: 2, podAffinity: 2 };

/** What the terms about other pods give each of the domains that they allow. */
export function domainScores(
  podClass: PodClass,
  topology: Topology,
  domains: readonly (readonly [number, Place])[],
): ReadonlyMap<number, number> {
  const crowdings = new Map<number, number>();
  for (const [domain, place] of domains) {
    crowdings.set(domain, topology.softCrowding(podClass, place));
  }
  const mostCrowded = Math.max(1, ...crowdings.values());
  const scores = new Map<number, number>();
  for (const [domain, place] of domains) {
    const unmet = topology.softAffinityPenalty(podClass, place);
    const spread = (WEIGHT.spread * 100 * (crowdings.get(domain) ?? missing(domain))) / mostCrowded;
    scores.set(domain, -spread - WEIGHT.podAffinity * unmet);
  }
  return scores;
}

/** What kube-scheduler's default plugins give a node by itself: labels, taints, its own pods. */
export function ownScore(candidate: SchedulerClass, node: SchedulerNode, host: HostState): number {
  const { podClass, softHostSpreads, softHostAffinity } = candidate;
  let score = candidate.hasPreferences ? preferenceScore(podClass, node) : 0;
  for (const id of softHostSpreads) {
    const count = host.counts.get(id) ?? 0;
    score -= (WEIGHT.spread * 100 * count) / (count + 2);
  }
  for (const { selector, weight } of softHostAffinity) {
    if ((host.counts.get(selector) ?? 0) > 0) score += WEIGHT.podAffinity * weight;
  }
  return score;
}

function preferenceScore({ scored }: PodClass, { bin, existing }: SchedulerNode): number {
  let score = 0;
  let wanted = 0;
  let met = 0;
  for (const { kind, rule, weight } of scored.preferences) {
    const isMet =
      bin === undefined
        ? existing !== undefined && ruleAllowsNode(rule, existing.node.label, existing.node.taints)
        : bin.chosen.group.allowed[rule.id] === 1;
    if (kind === 'taint') score += isMet ? WEIGHT.taints * 100 : 0;
    else {
      wanted += weight;
      met += isMet ? weight : 0;
    }
  }
  return wanted === 0 ? score : score + (WEIGHT.nodeAffinity * 100 * met) / wanted;
}

/**
 * Which of kube-scheduler's plugins score what is left of a node's resources: in its default
 * profile `balanced` and least allocated, in others the latter alone.
 */
export type Scoring = 'balanced' | 'least-allocated';

/** Least allocated and balanced allocation, 0–100 each, by the share of CPU and memory left free. */
export class ResourceScores {
  private readonly cpu: number;
  private readonly memory: number;
  private readonly scoring: Scoring;

  constructor(resources: readonly string[], scoring: Scoring) {
    this.cpu = resources.indexOf(CPU);
    this.memory = resources.indexOf(MEMORY);
    this.scoring = scoring;
  }

  /** With the pod on the node. */
  of(requests: Float64Array, free: Float64Array, total: Float64Array): number {
    const one = shareLeft(this.cpu, requests, free, total);
    const other = shareLeft(this.memory, requests, free, total);
    if (this.scoring === 'least-allocated') return 50 * (one + other);
    return Math.floor(50 * (one + other)) + Math.floor(100 - 50 * Math.abs(one - other));
  }
}

/** Of a resource that no pod asks for (−1) all is left. */
function shareLeft(
  resource: number,
  requests: Float64Array,
  free: Float64Array,
  total: Float64Array,
): number {
  if (resource < 0) return 1;
  const whole = total[resource] ?? missing(resource);
  return whole > 0
    ? ((free[resource] ?? missing(resource)) - (requests[resource] ?? missing(resource))) / whole
    : 0;
}
