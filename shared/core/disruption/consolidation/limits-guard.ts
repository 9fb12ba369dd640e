import { isReason, type Reason, type ReasonOf, reason } from '../../explain/reason.ts';
import { LIMITS_GUARD } from '../../model/labels.ts';
import { isOver, type Pod } from '../../model/pod.ts';
import type { NodePool } from '../../model/provisioning.ts';
import {
  addResources,
  amountOf,
  CPU,
  EPHEMERAL_STORAGE,
  HUGEPAGES_PREFIX,
  MEMORY,
  maxResources,
  PODS,
  type Resources,
} from '../../model/resources.ts';
import { type GuardRatios, guardRatiosOf, type RatioGuard } from './guard-ratios.ts';

/** What pods use of a node, besides huge pages and the resources of a domain. */
const NATIVE: ReadonlySet<string> = new Set([CPU, MEMORY, EPHEMERAL_STORAGE, PODS]);

/** Whether there can be a resource of the name: Kubernetes gives names without a domain itself. */
function isResource(name: string): boolean {
  return NATIVE.has(name) || name.startsWith(HUGEPAGES_PREFIX) || name.includes('/');
}

const GUARD: RatioGuard = {
  annotation: LIMITS_GUARD,
  like: 'cpu=4,memory=1.2',
  isValid: isResource,
};

/**
 * What a NodePool's annotation says, such as `cpu=4,memory=1.2`; empty where there is none. A
 * reason where it cannot be read.
 */
export function limitsGuardOf(
  pool: Pick<NodePool, 'annotations'>,
): GuardRatios | ReasonOf<'guard-unreadable'> {
  return guardRatiosOf(pool, GUARD);
}

/** What the pods may use at most; one without a limit counts as it requests. */
function limitsOf(pods: readonly Pod[]): Resources {
  return pods.reduce<Resources>(
    (sum, { spec }) => addResources(sum, maxResources(spec.limits, spec.requests)),
    {},
  );
}

/** Why the pods together are too much for a node of the pool; undefined: they are not. */
export function overLimits(
  pool: NodePool,
  node: string,
  allocatable: Resources,
  pods: readonly Pod[],
): Reason | undefined {
  const guard = limitsGuardOf(pool);
  if (isReason(guard)) return guard;
  const limits = limitsOf(pods.filter((pod) => !isOver(pod)));
  for (const [resource, ratio] of guard) {
    const most = amountOf(allocatable, resource) * ratio;
    const total = amountOf(limits, resource);
    if (total <= most) continue;
    const share = (total / amountOf(allocatable, resource)).toFixed(2);
    return reason('guard-limits', { nodePool: pool.name, resource, node, share, allowed: ratio });
  }
  return undefined;
}
