import { type Reason, reason } from '../../explain/reason.ts';
import type { PersistentVolume, PersistentVolumeClaim, StorageClass } from '../../model/cluster.ts';
import { claimNameOf, type NodeSelectorTerm, type Pod, type PodVolume } from '../../model/pod.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { bothTerms, EVERY_NODE, type NodeTerms, termsOf, withoutHostname } from './node-terms.ts';

/** What a pod's volumes ask of the node. */
export interface VolumeNeeds {
  /** What keeps every node from having them; empty: nothing does. */
  readonly problems: readonly Reason[];
  readonly terms: NodeTerms;
  /** `driver` and volume of each attachment, the same volume counted once. */
  readonly attachments: readonly { readonly driver: string; readonly volume: string }[];
}

export const NO_VOLUMES: VolumeNeeds = { problems: [], terms: EVERY_NODE, attachments: [] };

function problem(why: Reason): VolumeNeeds {
  return { ...NO_VOLUMES, problems: [why] };
}

/** For volumes, unlike for pods, no term or an empty term means every node. */
function anywhereIfEmpty(terms: readonly NodeSelectorTerm[]): NodeTerms {
  const isOpen = terms.length === 0 || terms.some((term) => term.matchExpressions.length === 0);
  return isOpen ? EVERY_NODE : termsOf(terms);
}

function attachmentsOf(volume: PersistentVolume): VolumeNeeds['attachments'] {
  const { name, csiDriver: driver, csiVolumeHandle = name } = volume;
  return driver === undefined ? [] : [{ driver, volume: csiVolumeHandle }];
}

/** Resolves claims to the topology of their volumes or storage classes. */
export class VolumeIndex {
  private readonly claims = new Map<string, PersistentVolumeClaim>();
  private readonly volumes = new Map<string, PersistentVolume>();
  private readonly classes = new Map<string, StorageClass>();

  constructor(snapshot: ClusterSnapshot) {
    for (const claim of snapshot.persistentVolumeClaims) {
      this.claims.set(`${claim.namespace}/${claim.name}`, claim);
    }
    for (const volume of snapshot.persistentVolumes) this.volumes.set(volume.name, volume);
    for (const each of snapshot.storageClasses) this.classes.set(each.name, each);
  }

  /** All volumes of a pod together: alternatives are cross-multiplied. */
  needsOf(pod: Pod): VolumeNeeds {
    let all = NO_VOLUMES;
    for (const volume of pod.spec.volumes) {
      const one = this.needsOfVolume(pod, volume);
      all = {
        problems: [...all.problems, ...one.problems],
        terms: bothTerms(all.terms, one.terms),
        attachments: [...all.attachments, ...one.attachments.filter((each) => !has(all, each))],
      };
    }
    return all;
  }

  /** Whether nothing is wrong with the claim of one of the pod's volumes. */
  isUsable(pod: Pod, volume: PodVolume): boolean {
    return this.needsOfVolume(pod, volume).problems.length === 0;
  }

  private needsOfVolume(pod: Pod, volume: PodVolume): VolumeNeeds {
    if (volume.kind === 'attached') {
      const { driver, volume: attached } = volume;
      return { ...NO_VOLUMES, attachments: [{ driver, volume: attached }] };
    }
    const name = claimNameOf(pod, volume);
    const claim = this.claims.get(`${pod.namespace}/${name}`);
    if (claim === undefined) {
      if (volume.kind === 'claim')
        return problem(reason('volume-claim-missing', { volumeClaim: name }));
      return this.unbound(pod.namespace, name, volume.storageClassName);
    }
    if (claim.isDeleting) {
      const bound = this.volumes.get(claim.volumeName ?? '');
      const why = problem(reason('volume-claim-deleting', { volumeClaim: name }));
      // Pods that run with it keep it, and it takes its place on their node until they are gone.
      return bound === undefined ? why : { ...why, attachments: attachmentsOf(bound) };
    }
    if (claim.isLost) return problem(reason('volume-claim-lost', { volumeClaim: name }));
    if (claim.volumeName === undefined) {
      return this.unbound(pod.namespace, name, claim.storageClassName);
    }
    if (!claim.bindCompleted) return problem(reason('volume-claim-binding', { volumeClaim: name }));
    const bound = this.volumes.get(claim.volumeName);
    if (bound === undefined) return problem(reason('volume-missing', { volume: claim.volumeName }));
    return this.bound(bound);
  }

  private bound(volume: PersistentVolume): VolumeNeeds {
    const required = volume.requiredNodeAffinity ?? [];
    const terms = required.map((term) => (volume.isLocal ? withoutHostname(term) : term));
    return { problems: [], terms: anywhereIfEmpty(terms), attachments: attachmentsOf(volume) };
  }

  private unbound(namespace: string, name: string, className: string | undefined): VolumeNeeds {
    if (className === undefined || className === '') {
      return problem(reason('volume-claim-without-class', { volumeClaim: name }));
    }
    const storageClass = this.classes.get(className);
    if (storageClass === undefined) {
      return problem(
        reason('storage-class-missing', { volumeClaim: name, storageClass: className }),
      );
    }
    if (storageClass.volumeBindingMode === 'Immediate') {
      return problem(reason('volume-claim-unbound', { volumeClaim: name }));
    }
    const topologies = storageClass.allowedTopologies;
    return {
      problems: [],
      terms: anywhereIfEmpty(topologies),
      attachments: [{ driver: storageClass.provisioner, volume: `${namespace}/${name}` }],
    };
  }
}

/** A volume that a pod mounts twice is attached once. */
function has({ attachments }: VolumeNeeds, wanted: VolumeNeeds['attachments'][number]): boolean {
  return attachments.some((each) => each.driver === wanted.driver && each.volume === wanted.volume);
}
