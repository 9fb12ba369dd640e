import {
  type Look,
  lookAt,
  type Move,
  type MoveContext,
} from '../../shared/core/disruption/consolidation/move.ts';
import type { ConsolidationSettings } from '../../shared/core/disruption/consolidation/payback.ts';
import { sentences } from '../../shared/core/explain/reason.ts';
import type { Pod, PodSpec } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { type Cluster, consolidationOf, type Used } from './consolidation.ts';
import { podOf, typeOf } from './scheduling.ts';

/** On demand only, 0.05 USD an hour for a CPU. */
export const ON_DEMAND = [
  typeOf('m.large', 2, 8, 0.1),
  typeOf('m.xlarge', 4, 16, 0.2),
  typeOf('m.2xlarge', 8, 32, 0.4),
  typeOf('m.4xlarge', 16, 64, 0.8),
];

/** A pod that asks for no memory. */
export function cpuPod(name: string, cpu: number, spec: Partial<PodSpec> = {}): Pod {
  return podOf(name, { cpu, memory: 0, ...spec });
}

export function used(name: string, type: string, ...pods: readonly Pod[]): Used {
  return { name, type, pods };
}

export function withSnapshot(
  { snapshot, usages }: Cluster,
  rest: Partial<ClusterSnapshot>,
): Cluster {
  return { snapshot: { ...snapshot, ...rest }, usages };
}

/** Nodes that would go, and what is known beside them; no pod waits by default. */
export interface MoveCase extends Partial<Omit<MoveContext, 'settings' | 'snapshot'>> {
  readonly cluster: Cluster;
  /** By name; `a` by default. */
  readonly gone?: readonly string[];
  readonly settings?: Partial<ConsolidationSettings>;
  /** As many plans as it takes by default. */
  readonly plansMax?: number;
}

/** What comes of it, and how many plans that took. */
export function tried({
  cluster,
  gone = ['a'],
  settings = {},
  plansMax = Number.POSITIVE_INFINITY,
  ...rest
}: MoveCase): Look {
  const nodes = cluster.usages.filter(({ node }) => gone.includes(node.name));
  const { snapshot, pools, scheduling, settings: all } = consolidationOf(cluster, { settings });
  const context = { snapshot, waiting: new Set<string>(), pools, scheduling, settings: all };
  return lookAt({ ...context, ...rest }, nodes, plansMax);
}

/** The move; throws where the nodes stay. */
export function moved(given: MoveCase): Move {
  const { found } = tried(given);
  if (found.kind !== 'move') throw new Error(sentences(found.reasons));
  return found;
}

/** The types that each replacement leaves open; what the nodes stay for. */
export function openTypes(given: MoveCase): readonly string[] {
  const { found } = tried(given);
  return found.kind === 'move'
    ? found.replacements.map(({ instanceTypes }) => instanceTypes.join(' '))
    : found.reasons.map(({ code }) => code);
}
