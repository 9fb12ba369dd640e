import { claimNameOf, type Pod, type PodSpec } from '../../core/model/pod.ts';
import {
  NODE_NAME_FIELD,
  type NodeTerms,
  nodeTermsOf,
  termsAllow,
  termsOf,
  withoutHostname,
} from '../../core/scheduling/problem/node-terms.ts';
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

/** Volumes that are bound to a place hold their pods there. */
export function matchesVolumes(view: SchedulerView, pod: Pod, target: NodeView): boolean {
  const { persistentVolumeClaims: claims, persistentVolumes, storageClasses } = view.objects;
  return pod.spec.volumes.every((volume) => {
    if (volume.kind === 'attached') return true;
    const isClaim = volume.kind === 'claim';
    const name = claimNameOf(pod, volume);
    const claim = claims.find((each) => each.namespace === pod.namespace && each.name === name);
    if (claim === undefined) return !isClaim;
    if (claim.isDeleting || claim.isLost) return false;
    const bound = persistentVolumes.find((each) => each.name === claim.volumeName);
    if (bound?.requiredNodeAffinity !== undefined) {
      const terms = bound.isLocal
        ? bound.requiredNodeAffinity.map(withoutHostname)
        : bound.requiredNodeAffinity;
      return matchesAny(termsOf(terms), target);
    }
    const storage = storageClasses.find((each) => each.name === claim.storageClassName);
    const topologies = storage?.allowedTopologies ?? [];
    return topologies.length === 0 || matchesAny(termsOf(topologies), target);
  });
}
