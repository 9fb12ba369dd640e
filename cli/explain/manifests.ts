import { isReschedulable } from '../../shared/core/disruption/candidates.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import { replan } from '../../shared/core/scheduling/replan.ts';
import { BadInput } from '../bad-input.ts';
import { type ManifestOptions, manifestSubject } from '../compare/manifest-subject.ts';
import type { Asked } from './asked.ts';
import { explainPod, type PodExplanation } from './pod.ts';

/** A pod of the name, or the first of the workload of that name: its pods get theirs here. */
function podOf(pods: readonly Pod[], name: string, namespace: string): Pod | undefined {
  const [own = name, given] = name.split('/').reverse();
  const all = pods
    .filter((each) => each.namespace === (given ?? namespace) && isReschedulable(each))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return (
    all.find((each) => each.name === own) ?? all.find(({ controller }) => isOf(controller, own))
  );
}

/** A StatefulSet or Job by its name, a Deployment by the name of its ReplicaSet, which adds a hash. */
function isOf(controller: Pod['controller'], name: string): boolean {
  if (controller === undefined) return false;
  const { kind, name: own } = controller;
  return own === name || (kind === 'ReplicaSet' && own.replace(/-[^-]+$/, '') === name);
}

export interface OfManifests {
  readonly found: PodExplanation;
  readonly notes: readonly string[];
  readonly source: string;
}

/** Where a pod of the manifests would be, were they applied to a cluster without nodes. */
export async function explainManifest(
  { kind, name }: Asked,
  paths: readonly string[],
  options: ManifestOptions & { readonly namespace: string },
): Promise<OfManifests | undefined> {
  if (kind !== 'pod')
    throw new BadInput([`${kind}: of manifests a pod is explained, they have no nodes`]);
  const { snapshot, scheduling, notes, source } = await manifestSubject(paths, options);
  const pod = podOf(snapshot.pods, name, options.namespace);
  if (pod === undefined) return undefined;
  const plan = replan(snapshot, scheduling);
  const around = { state: { objects: snapshot }, rows: [] };
  const found = explainPod(pod, { plan }, around, { snapshot, settings: scheduling });
  return { found, notes, source };
}
