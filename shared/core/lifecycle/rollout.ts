/** How a Deployment replaces its pods. */
export interface Rollout {
  readonly isPaused: boolean;
  /** `RollingUpdate`, or another. */
  readonly strategy: string;
  readonly replicas: number;
  /** Numbers, or shares such as `25%`. */
  readonly maxUnavailable: number | string;
  readonly maxSurge: number | string;
}

function amountOf(value: number | string, total: number, round: (x: number) => number): number {
  if (typeof value === 'number') return value;
  const share = /^(\d+)%$/.exec(value)?.[1];
  return share === undefined ? Number(value) : round((Number(share) * total) / 100);
}

/**
 * Pods that may be missing at once. Where none may, and none may be too many, one may be missing:
 * the Deployment would never get on. https://pkg.go.dev/k8s.io/kubectl/pkg/util/deployment
 */
export function missingMax(rollout: Rollout): number {
  const { replicas, maxUnavailable } = rollout;
  const missing = amountOf(maxUnavailable, replicas, Math.floor);
  return Math.min(replicas, missing === 0 && surgeMax(rollout) === 0 ? 1 : missing);
}

/** Pods that there may be beyond the replicas at once. */
export function surgeMax({ replicas, maxSurge }: Rollout): number {
  return amountOf(maxSurge, replicas, Math.ceil);
}

/**
 * Why a restart does not start another pod before it ends one; undefined: it does. What it ends
 * first no PodDisruptionBudget keeps.
 */
export function rolloutFault(rollout: Rollout): string | undefined {
  const { isPaused, strategy, replicas, maxUnavailable, maxSurge } = rollout;
  if (isPaused) return 'spec.paused is true; valid: false';
  if (strategy !== 'RollingUpdate') {
    return `spec.strategy.type is "${strategy}"; valid: RollingUpdate`;
  }
  const missing = missingMax(rollout);
  if (missing === 0) return undefined;
  const allows = `maxUnavailable ${maxUnavailable} and maxSurge ${maxSurge}`;
  return `spec.strategy: ${allows} let ${missing} of ${replicas} pods be missing; valid: maxUnavailable 0`;
}
