import { isReason, type Reason, type ReasonOf, reason } from '../../explain/reason.ts';
import { USAGE_GUARD } from '../../model/labels.ts';
import { isOver, type Pod, podKey } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import {
  addResources,
  amountOf,
  CPU,
  MEMORY,
  NO_RESOURCES,
  type Resources,
} from '../../model/resources.ts';
import { type GuardRatios, guardRatiosOf, type RatioGuard } from './guard-ratios.ts';

/** What pods used when they were metered last, as metrics.k8s.io says it. */
export type MeteredUsage =
  | {
      readonly kind: 'metered';
      /** CPU and memory by `namespace/name`. */
      readonly pods: ReadonlyMap<string, Resources>;
    }
  /** `why`: e.g. that metrics.k8s.io is not served. */
  | { readonly kind: 'missing'; readonly why: string };

/** What metrics.k8s.io meters. */
const METERED: ReadonlySet<string> = new Set([CPU, MEMORY]);

const GUARD: RatioGuard = {
  annotation: USAGE_GUARD,
  like: 'cpu=0.8,memory=0.9',
  isValid: (resource, share) => METERED.has(resource) && share <= 1,
};

/**
 * What a NodePool's annotation says, such as `cpu=0.8,memory=0.9`; empty where there is none. A
 * reason where it cannot be read.
 */
export function usageGuardOf(
  pool: Pick<NodePool, 'annotations'>,
): GuardRatios | ReasonOf<'guard-unreadable'> {
  return guardRatiosOf(pool, GUARD);
}

/** Whether the NodePool has a guard that can be read: without any nobody has to ask what pods use. */
export function hasUsageGuard(pool: Pick<NodePool, 'annotations'>): boolean {
  const guard = usageGuardOf(pool);
  return !isReason(guard) && guard.size > 0;
}

/** Of a NodePool with a guard, where nobody knows what pods use. */
export function usageUnknown({ name }: Pick<NodePool, 'name'>, why: string): Reason {
  return reason('guard-usage-unknown', { nodePool: name, why });
}

/** Whether a node may go another time, though nothing has changed but what pods use. */
export function isByUsage({ code }: Reason): boolean {
  return code === 'guard-usage' || code === 'guard-usage-unknown';
}

/** What comes to be on a node. */
export interface Occupied {
  readonly node: string;
  readonly allocatable: Resources;
  readonly pods: readonly Pod[];
  /** Requests of DaemonSets that are to run there beside these pods; absent: of none. */
  readonly daemons?: Resources;
}

/** What all on the node use together; a pod that was not metered counts as it requests. */
function usedBy(
  { pods, daemons = NO_RESOURCES }: Occupied,
  metered: ReadonlyMap<string, Resources>,
): Resources {
  return pods
    .filter((pod) => !isOver(pod))
    .map((pod) => metered.get(podKey(pod)) ?? pod.spec.requests)
    .reduce<Resources>(addResources, daemons);
}

/** In whole per cent, rounded away from what is allowed. */
function percentOf(used: number, allocatable: number): string {
  return String(Math.ceil((100 * used) / allocatable));
}

/** Why the node of the pool may not take all of this; undefined: it may. */
export function overUsage(
  pool: NodePool,
  occupied: Occupied,
  usage: MeteredUsage | undefined,
): Reason | undefined {
  const guard = usageGuardOf(pool);
  if (isReason(guard)) return guard;
  if (guard.size === 0) return undefined;
  if (usage?.kind !== 'metered') return usageUnknown(pool, usage?.why ?? 'nobody has asked for it');
  const used = usedBy(occupied, usage.pods);
  for (const [resource, share] of guard) {
    const amount = amountOf(used, resource);
    const room = amountOf(occupied.allocatable, resource);
    if (amount <= room * share) continue;
    return reason('guard-usage', {
      nodePool: pool.name,
      resource,
      node: occupied.node,
      percent: percentOf(amount, room),
      allowed: String(Number((100 * share).toFixed(1))),
    });
  }
  return undefined;
}
