import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import { deploymentName, type Pod } from '../../shared/core/model/pod.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { BadInput } from '../bad-input.ts';
import { type ManifestOptions, manifestSubject } from '../compare/manifest-subject.ts';
import { type Asked, placed } from './asked.ts';
import { explainPod, type PodExplanation } from './pod.ts';
import { explainWorkload, type WorkloadExplanation, workloadOf } from './workload.ts';

/** Pods that may be explained, of one namespace, by their names. */
function podsIn(pods: readonly Pod[], namespace: string): readonly Pod[] {
  return pods
    .filter((each) => each.namespace === namespace && isReschedulable(each))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

/** A pod of the name, or the first of the workload of that name: its pods get theirs here. */
function podOf(pods: readonly Pod[], name: string): Pod | undefined {
  return (
    pods.find((each) => each.name === name) ??
    pods.find(({ controller }) => namesOf(controller).includes(name))
  );
}

/** A StatefulSet or Job has its name, a Deployment that of its ReplicaSet, which adds a hash. */
function namesOf(controller: Pod['controller']): readonly string[] {
  if (controller === undefined) return [];
  const { kind, name } = controller;
  return kind === 'ReplicaSet' ? [name, deploymentName(name)] : [name];
}

/** What people call pods: by their workloads, for the names of theirs are made here. */
function calledIn(pods: readonly Pod[]): readonly string[] {
  return pods.flatMap(({ name, controller }) => namesOf(controller).at(-1) ?? name);
}

export interface OfManifests {
  readonly explained:
    | { readonly kind: 'pod'; readonly found: PodExplanation }
    | { readonly kind: 'workload'; readonly found: WorkloadExplanation };
  readonly notes: readonly string[];
  readonly source: string;
}

/** There is no such pod and no such workload. */
export interface NotAmongManifests {
  readonly explained?: undefined;
  /** What is not there, such as `pod of Deployment web`. */
  readonly absent: string;
  readonly name: string;
  readonly namespace: string;
  /** What its namespace has. */
  readonly there: readonly string[];
}

interface Options extends ManifestOptions {
  readonly namespace: string;
}

/** Where a pod, or the pods of a workload, would be, were the manifests applied to an empty cluster. */
export async function explainManifest(
  { kind, name }: Asked,
  paths: readonly string[],
  options: Options,
): Promise<OfManifests | NotAmongManifests> {
  if (kind === 'node' || kind === 'nodeclaim')
    throw new BadInput([`${kind}: of manifests pods and workloads are explained`]);
  const { snapshot, scheduling, notes, source } = await manifestSubject(paths, options);
  const { namespace, own } = placed(name, options.namespace);
  const pods = podsIn(snapshot.pods, namespace);
  const planning = { snapshot, settings: scheduling };
  const around = { state: { objects: snapshot }, rows: [] };
  if (kind !== 'pod') {
    const workload = { workload: kind, namespace, name: own };
    const plan = replan(snapshot, scheduling);
    const found = explainWorkload(workload, pods, { plan }, around, planning);
    if (found !== undefined) return { explained: { kind: 'workload', found }, notes, source };
    const there = pods.flatMap((pod) => workloadOf(pod, kind) ?? []);
    return { absent: `pod of ${kind} ${own}`, name: own, namespace, there };
  }
  const pod = podOf(pods, own);
  if (pod === undefined) {
    return { absent: `Pod, and no workload, ${own}`, name: own, namespace, there: calledIn(pods) };
  }
  const plan = replan(snapshot, scheduling);
  const found = explainPod(pod, { plan }, around, planning);
  return { explained: { kind: 'pod', found }, notes, source };
}
