import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { BadInput } from '../bad-input.ts';
import { type ManifestOptions, manifestSubject } from '../compare/manifest-subject.ts';
import type { Asked } from './asked.ts';
import { explainPod, type PodExplanation } from './pod.ts';

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
  return kind === 'ReplicaSet' ? [name, name.replace(/-[^-]+$/, '')] : [name];
}

/** What people call pods: by their workloads, for the names of theirs are made here. */
function calledIn(pods: readonly Pod[]): readonly string[] {
  return pods.flatMap(({ name, controller }) => namesOf(controller).at(-1) ?? name);
}

export interface OfManifests {
  readonly found: PodExplanation;
  readonly notes: readonly string[];
  readonly source: string;
}

/** There is no such pod and no such workload. */
export interface NotAmongManifests {
  readonly found?: undefined;
  readonly name: string;
  readonly namespace: string;
  /** What its namespace has. */
  readonly there: readonly string[];
}

/** Where a pod of the manifests would be, were they applied to a cluster without nodes. */
export async function explainManifest(
  { kind, name }: Asked,
  paths: readonly string[],
  options: ManifestOptions & { readonly namespace: string },
): Promise<OfManifests | NotAmongManifests> {
  if (kind !== 'pod')
    throw new BadInput([`${kind}: of manifests a pod is explained, they have no nodes`]);
  const { snapshot, scheduling, notes, source } = await manifestSubject(paths, options);
  // As plans and events name pods, too.
  const [own = name, namespace = options.namespace] = name.split('/').reverse();
  const pods = podsIn(snapshot.pods, namespace);
  const pod = podOf(pods, own);
  if (pod === undefined) return { name: own, namespace, there: calledIn(pods) };
  const plan = replan(snapshot, scheduling);
  const around = { state: { objects: snapshot }, rows: [] };
  const found = explainPod(pod, { plan }, around, { snapshot, settings: scheduling });
  return { found, notes, source };
}
