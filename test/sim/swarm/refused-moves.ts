import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import { CAPACITY_TYPE, SPOT } from '../../../shared/core/model/labels.ts';
import type { PlannedNodeClaim } from '../../../shared/core/model/plan.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import { amountOf, CPU } from '../../../shared/core/model/resources.ts';
import type { readState } from '../../../shared/sim/decode.ts';

/** Moves that a plan from nothing knows nothing of, and that Karpenter refuses as well. */

type State = ReturnType<typeof readState>['objects'];

function cpuOf({ spec }: Pod): number {
  return amountOf(spec.requests, CPU);
}

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

/** Pods of an owner with pod anti-affinity are never on one node in these worlds. */
function isApart(pod: Pod, there: readonly Pod[]): boolean {
  const isAlone = pod.spec.podAntiAffinity.length === 0;
  return isAlone || there.every(({ controller }) => controller?.name !== pod.controller?.name);
}

/** Whether other nodes take all of these pods as they are, by cpu and pod anti-affinity alone. */
function haveRoomElsewhere(own: readonly Pod[], nodeName: string, { nodes, pods }: State): boolean {
  const free = nodes
    .filter(({ name, deletedAtMs }) => name !== nodeName && deletedAtMs === undefined)
    .map(({ name, allocatable }) => {
      const there = pods.filter((each) => each.nodeName === name);
      const used = there.reduce((sum, each) => sum + cpuOf(each), 0);
      return { cpu: amountOf(allocatable, CPU) - used, there };
    });
  return own
    .toSorted((a, b) => cpuOf(b) - cpuOf(a))
    .every((pod) => {
      const host = free.find(({ cpu, there }) => cpu >= cpuOf(pod) && isApart(pod, there));
      if (host === undefined) return false;
      host.cpu -= cpuOf(pod);
      host.there.push(pod);
      return true;
    });
}

/**
 * No spot node is replaced by a spot node, as in Karpenter without `SpotToSpotConsolidation`: it
 * goes only where other nodes take its pods, and those that come before these go.
 */
export function isKeptSpot(
  { labels }: NodeClaim,
  own: readonly Pod[],
  nodeName: string,
  state: State,
): boolean {
  const moved = own.filter(({ controller }) => controller?.kind !== 'DaemonSet');
  const all = [...moved, ...surgeOf(moved, state)];
  return labels[CAPACITY_TYPE] === SPOT && !haveRoomElsewhere(all, nodeName, state);
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
