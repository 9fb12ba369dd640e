import type { PersistentVolumeClaim } from '../../core/model/cluster.ts';
import { ZONE } from '../../core/model/labels.ts';
import { claimNameOf, type Pod, type PodSpec } from '../../core/model/pod.ts';
import {
  NODE_NAME_FIELD,
  type NodeTerms,
  nodeTermsOf,
  termsAllow,
  termsOf,
  withoutHostname,
} from '../../core/scheduling/problem/node-terms.ts';
import { zoneOfVolume } from '../volume-zones.ts';
import type { NodeView, SchedulerView } from './view.ts';

export function matchesAny(terms: NodeTerms, { node, labels }: NodeView): boolean {
  return termsAllow(terms, (key) => (key === NODE_NAME_FIELD ? node.name : labels[key]));
}

const termsBySpec = new WeakMap<PodSpec, NodeTerms>();

/** nodeSelector and required node affinity. */
export function matchesNodeTerms(spec: PodSpec, target: NodeView): boolean {
  const terms = termsBySpec.get(spec) ?? nodeTermsOf(spec);
  termsBySpec.set(spec, terms);
  return matchesAny(terms, target);
}

/** A claim of the pod that is there, or that is missing. */
interface ClaimOfPod {
  readonly kind: 'claim' | 'ephemeral';
  readonly claim: PersistentVolumeClaim | undefined;
}

export function claimsOf({ objects }: SchedulerView, pod: Pod): readonly ClaimOfPod[] {
  return pod.spec.volumes.flatMap((volume) => {
    if (volume.kind === 'attached') return [];
    const name = claimNameOf(pod, volume);
    const claim = objects.persistentVolumeClaims.find(
      (each) => each.namespace === pod.namespace && each.name === name,
    );
    return [{ kind: volume.kind, claim }];
  });
}

/** The class that a claim without a volume waits by. */
export function classOf({ objects }: SchedulerView, claim: PersistentVolumeClaim) {
  return objects.storageClasses.find((each) => each.name === claim.storageClassName);
}

/** Volumes that are bound to a place hold their pods there; unbound ones come where they may. */
export function matchesVolumes(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  return claimsOf(view, pod).every(({ kind, claim }) => {
    // Claims of ephemeral volumes are made with their pods.
    if (claim === undefined) return kind === 'ephemeral';
    if (claim.isDeleting || claim.isLost) return false;
    return claim.volumeName === undefined
      ? mayProvision(view, claim, target)
      : mayUse(view, claim.volumeName, target);
  });
}

function mayUse({ objects }: SchedulerView, volumeName: string, target: NodeView): boolean {
  const bound = objects.persistentVolumes.find((each) => each.name === volumeName);
  if (bound?.requiredNodeAffinity === undefined) return true;
  const terms = bound.isLocal
    ? bound.requiredNodeAffinity.map(withoutHostname)
    : bound.requiredNodeAffinity;
  return matchesAny(termsOf(terms), target);
}

/** kube-scheduler leaves a pod alone whose claim has no volume and does not wait for the pod. */
function mayProvision(
  view: SchedulerView,
  claim: PersistentVolumeClaim,
  target: NodeView,
): boolean {
  const storage = classOf(view, claim);
  if (storage?.volumeBindingMode !== 'WaitForFirstConsumer') return false;
  const zone = view.assumedZones.get(claim);
  if (zone !== undefined && zone !== target.labels[ZONE]) return false;
  const { allowedTopologies } = storage;
  return allowedTopologies.length === 0 || matchesAny(termsOf(allowedTopologies), target);
}

/** The pod's new volumes will be in the node's zone: its claims are no longer free for others. */
export function assumeVolumes(view: SchedulerView, pod: Pod, target: NodeView): void {
  for (const { claim } of claimsOf(view, pod)) {
    if (claim === undefined || claim.volumeName !== undefined) continue;
    const zone = zoneOfVolume(classOf(view, claim)?.provisioner ?? '', target.labels);
    if (zone !== undefined) view.assumedZones.set(claim, zone);
  }
}
