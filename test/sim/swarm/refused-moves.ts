import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import type { PlannedNodeClaim } from '../../../shared/core/model/plan.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodePool } from '../../../shared/core/model/provisioning.ts';
import type { readState } from '../../../shared/sim/decode.ts';

/** Moves that a plan from nothing knows nothing of, and that Karpenter refuses as well. */

type State = ReturnType<typeof readState>['objects'];

/** A drain restarts its Deployment. */
export function isRestarted({ annotations, controller }: Pod): boolean {
  return annotations['joiner.dev/drain'] === 'rollout' && controller?.kind === 'ReplicaSet';
}

/**
 * Pods that there are more for as long as Deployments are restarted whose pods are not to be
 * missing: a quarter of theirs, which is what a Deployment says that says nothing.
 */
export function surgeOf(own: readonly Pod[], { pods }: State): readonly Pod[] {
  const restarted = own.filter(isRestarted);
  const byOwner = new Map(restarted.map((pod) => [pod.controller?.name, pod]));
  return [...byOwner].flatMap(([name, pod]) => {
    const replicas = pods.filter(({ controller }) => controller?.name === name).length;
    return Array.from({ length: Math.ceil(replicas / 4) }, () => pod);
  });
}

/** Of the type, as the capacity type; infinite: there is none now. */
function priceOf(type: InstanceType, capacityType: string): number {
  const prices = type.offerings
    .filter((each) => each.available && each.capacityType === capacityType)
    .map(({ price }) => price);
  return Math.min(Number.POSITIVE_INFINITY, ...prices);
}

/**
 * What a node costs at most that is planned in the place of others, USD an hour: what replaces them
 * keeps as many types open as `minValues` says, and each has to be cheaper, as in Karpenter. Without
 * `minValues` what was chosen.
 */
export function priceToReplaceBy(
  { chosen, instanceTypes }: PlannedNodeClaim,
  { template }: Pick<NodePool, 'template'>,
  types: readonly InstanceType[],
): number {
  const prices = template.requirements.flatMap(({ key, minValues }) => {
    if (minValues === undefined) return [];
    const byValue = new Map<string, number>();
    for (const type of types) {
      if (!instanceTypes.includes(type.name)) continue;
      const price = priceOf(type, chosen.capacityType);
      for (const value of type.labels[key] ?? [type.name]) {
        byValue.set(value, Math.min(price, byValue.get(value) ?? price));
      }
    }
    const sorted = [...byValue.values()].toSorted((a, b) => a - b);
    return sorted[minValues - 1] ?? [];
  });
  return Math.max(chosen.price, ...prices.filter(Number.isFinite));
}
