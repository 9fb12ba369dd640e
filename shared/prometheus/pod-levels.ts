import type { Measurement } from '../contract/prometheus.ts';
import { NODE_POOL } from '../core/model/labels.ts';
import { isOver, type Pod } from '../core/model/pod.ts';
import type { ClusterView } from '../ports/metrics.ts';
import { placeLabels } from './node-levels.ts';
import type { Level } from './series.ts';

const POD_PLACE = ['nodepool', 'zone', 'arch', 'capacity_type', 'instance_type'] as const;

/** More are not remembered; a pod beyond that is not in the durations of starts. */
const STARTING_PODS_MAX = 5_000;

/** The state of each pod, and how long those wait that have no node or are `starting`. */
export function podLevels(
  { nodes, pods }: ClusterView,
  starting: ReadonlySet<string>,
  nowMs: number,
): readonly Level[] {
  const byName = new Map(nodes.map((node) => [node.name, node]));
  return pods.flatMap((pod) => {
    const node = pod.nodeName === undefined ? undefined : byName.get(pod.nodeName);
    const { namespace, name, phase, ready } = pod;
    const labels = {
      ...placeLabels(node, POD_PLACE),
      namespace,
      name,
      owner: pod.controller === undefined ? '' : `${pod.controller.kind}/${pod.controller.name}`,
      node: pod.nodeName ?? '',
      scheduled: String(pod.nodeName !== undefined),
      managed: String(node?.labels[NODE_POOL] !== undefined),
      phase,
      ready: String(ready),
    };
    const waits = starting.has(pod.uid) ? waitLevels(pod, nowMs) : [];
    return [{ name: 'karpenter_pods_state', labels, value: 1 }, ...waits];
  });
}

function waitLevels(pod: Pod, nowMs: number): readonly Level[] {
  const { namespace, name } = pod;
  const value = Math.max(0, nowMs - pod.createdAtMs) / 1000;
  const wait = (metric: string): Level => ({
    name: `karpenter_pods_${metric}_time_seconds`,
    labels: { namespace, name },
    value,
  });
  if (pod.nodeName !== undefined) return [wait('unstarted')];
  const served = pod.unschedulable ? [wait('provisioning_unbound')] : [];
  return [wait('unstarted'), wait('unbound'), ...served];
}

/**
 * Pods that have not been ready yet, so that of those which are next time one knows that they
 * became so. As in Karpenter a start begins with the phase Pending; a pod made since `sinceMs` may
 * have left that phase already. One that was ready, and is not for a while, does not start again.
 */
export function startingPods(
  { pods }: ClusterView,
  before: ReadonlySet<string>,
  sinceMs: number | undefined,
): ReadonlySet<string> {
  const waiting = pods
    .filter((pod) => !pod.ready && !isOver(pod))
    .filter(
      ({ uid, phase, createdAtMs }) =>
        phase === 'Pending' || before.has(uid) || createdAtMs > (sinceMs ?? createdAtMs),
    )
    .map(({ uid }) => uid);
  return new Set(waiting.slice(0, STARTING_PODS_MAX));
}

/**
 * How long pods took that were bound or became ready since `sinceMs`. A pod that was ready before
 * and is so again has not started: it is not among those that were starting.
 */
export function podDurations(
  { pods, podTimes }: ClusterView,
  starting: ReadonlySet<string>,
  sinceMs: number,
): readonly Measurement[] {
  return pods.flatMap((pod): readonly Measurement[] => {
    const { boundAtMs, readyAtMs } = podTimes.get(pod.uid) ?? {};
    const measured = (name: string, atMs: number): Measurement => [
      `karpenter_pods_${name}_duration_seconds`,
      {},
      Math.max(0, atMs - pod.createdAtMs) / 1000,
    ];
    const isNew = pod.createdAtMs > sinceMs;
    const bound = boundAtMs !== undefined && boundAtMs > sinceMs;
    const started = readyAtMs !== undefined && (starting.has(pod.uid) || isNew);
    return [
      ...(bound ? [measured('bound', boundAtMs)] : []),
      ...(started ? [measured('startup', readyAtMs)] : []),
    ];
  });
}
