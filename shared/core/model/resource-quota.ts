import type { PodSpec } from './pod.ts';
import { amountOf, CPU, MEMORY, PODS, type Resources } from './resources.ts';

/**
 * A ResourceQuota, as far as it bounds pods. The names of its amounts are the quota's own
 * (`requests.cpu`, `limits.memory`, `pods`), the units those of what they count.
 * https://kubernetes.io/docs/concepts/policy/resource-quotas/
 */
export interface ResourceQuota {
  readonly namespace: string;
  readonly name: string;
  /** What there may be; only of names that count pods or what they ask for. */
  readonly hard: Resources;
  /** What the quota's controller has counted of it. */
  readonly used: Resources;
  /** The quota counts pods that all of them select; none selects every pod. */
  readonly scopes: readonly QuotaScope[];
}

export interface QuotaScope {
  readonly scopeName: string;
  readonly operator: string;
  readonly values: readonly string[];
}

const REQUESTS = 'requests.';
const LIMITS = 'limits.';
/** Names that count a pod itself. */
const POD_COUNTS: ReadonlySet<string> = new Set([PODS, 'count/pods']);
/** Names that mean the same with and without `requests.`. */
const BARE = new Set([CPU, MEMORY, 'ephemeral-storage']);

/** The resource that an amount of a quota is of; undefined: the quota bounds something else by it. */
export function quotaResource(name: string): string | undefined {
  if (POD_COUNTS.has(name)) return PODS;
  if (BARE.has(name) || name.startsWith('hugepages-')) return name;
  for (const prefix of [REQUESTS, LIMITS]) {
    if (name.startsWith(prefix)) return name.slice(prefix.length);
  }
  return undefined;
}

/** Quality of service as the kubelet has it: nothing is asked for, and nothing is bounded. */
function isBestEffort({ requests, limits }: PodSpec): boolean {
  return [requests, limits].every((amounts) =>
    [CPU, MEMORY].every((name) => amountOf(amounts, name) === 0),
  );
}

function reachesNamespaces(spec: PodSpec): boolean {
  const preferred = [...spec.preferredPodAffinity, ...spec.preferredPodAntiAffinity];
  const terms = [
    ...spec.podAffinity,
    ...spec.podAntiAffinity,
    ...preferred.map(({ term }) => term),
  ];
  return terms.some(
    ({ namespaces, namespaceSelector }) => namespaces.length > 0 || namespaceSelector !== undefined,
  );
}

function isOfClass({ operator, values }: QuotaScope, name: string | undefined): boolean {
  switch (operator) {
    case 'In':
      return name !== undefined && values.includes(name);
    case 'NotIn':
      return name === undefined || !values.includes(name);
    case 'DoesNotExist':
      return name === undefined;
    default:
      return name !== undefined;
  }
}

function isSelected(scope: QuotaScope, spec: PodSpec): boolean {
  switch (scope.scopeName) {
    case 'BestEffort':
      return isBestEffort(spec);
    case 'NotBestEffort':
      return !isBestEffort(spec);
    case 'NotTerminating':
      return true;
    case 'PriorityClass':
      return isOfClass(scope, spec.priorityClassName);
    case 'CrossNamespacePodAffinity':
      return reachesNamespaces(spec);
    default:
      // Terminating: pods with a deadline, which no CapacityBuffer is for.
      return false;
  }
}

function demand(name: string, spec: PodSpec): number {
  if (POD_COUNTS.has(name)) return 1;
  const resource = quotaResource(name) ?? '';
  const amount = amountOf(name.startsWith(LIMITS) ? spec.limits : spec.requests, resource);
  // The API server refuses a pod that does not say what its quota counts of these.
  return amount === 0 && (resource === CPU || resource === MEMORY) ? Infinity : amount;
}

/** What one such pod uses of a quota; undefined: the quota does not count it. */
export function quotaDemand(quota: ResourceQuota, spec: PodSpec): Resources | undefined {
  if (!quota.scopes.every((scope) => isSelected(scope, spec))) return undefined;
  return Object.fromEntries(Object.keys(quota.hard).map((name) => [name, demand(name, spec)]));
}
