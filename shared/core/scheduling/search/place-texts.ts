import { missing } from '../../missing.ts';
import type { LaunchGroup } from '../problem/launch-options.ts';
import type { PodClass } from '../problem/problem.ts';
import { placeOfGroup, type Topology } from './topology.ts';

/** A class of pods, and the label keys that its place is about. */
interface Pinned {
  readonly podClass: PodClass;
  readonly groups: readonly LaunchGroup[];
  readonly pinKeys: readonly string[];
}

/**
 * What tells launch groups apart for the pods of a class: the labels that spreads and affinities
 * name, and which spread constraints count the pods there. A constraint counts only nodes that its
 * own pods could go to (`nodeAffinityPolicy: Honor`, `nodeTaintsPolicy: Honor`): a pod in one zone
 * counts for pods that ask for on-demand nodes, or does not.
 */
export class PlaceTexts {
  private readonly topology: Topology;
  private readonly known = new Map<Pinned, ReadonlyMap<LaunchGroup, string>>();

  constructor(topology: Topology) {
    this.topology = topology;
  }

  /** Of a group that the class may go to: equal for groups that are one place to it. */
  of(pinned: Pinned, group: LaunchGroup): string {
    let texts = this.known.get(pinned);
    if (texts === undefined) {
      texts = this.textsOf(pinned);
      this.known.set(pinned, texts);
    }
    return texts.get(group) ?? missing(group.id);
  }

  private textsOf({ podClass, groups, pinKeys }: Pinned): ReadonlyMap<LaunchGroup, string> {
    const found = groups.map((group) => {
      const place = placeOfGroup(group);
      const labels = pinKeys.map((key) => place.label(key) ?? '').join('|');
      return { group, labels, counted: this.topology.countedBy(podClass, place) };
    });
    const isOne = new Set(found.map(({ counted }) => counted)).size <= 1;
    return new Map(
      found.map(({ group, labels, counted }) => [group, isOne ? labels : `${labels}|${counted}`]),
    );
  }
}
