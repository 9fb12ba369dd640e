import { invariant } from '../invariant.ts';
import type { Node } from '../model/cluster.ts';
import type { Labels } from '../model/labels.ts';
import { ownValue } from '../model/labels.ts';
import { hardDomainSpreads, type Pod, type PodSpec } from '../model/pod.ts';

/** Pods, and the node that they are meant for. */
export interface Nominees {
  readonly node: Node;
  readonly pods: readonly Pod[];
}

/** Nominees of a node whose labels are not all its own yet. */
interface Arrivals extends Nominees {
  readonly labels: Labels;
}

/** The places that pods of one group have in one domain. */
interface Turn {
  /** Not given out yet. */
  places: Arrivals[];
  given: number;
}

/** The label over whose values the pod has to be spread, the hostname apart. */
function spreadKey(spec: PodSpec): string | undefined {
  return hardDomainSpreads(spec)[0]?.topologyKey;
}

/** How many of the places that a domain has left are on one node. */
function crowd({ places }: Turn): number {
  const counts = Map.groupBy(places, ({ node }) => node.name);
  return Math.max(0, ...[...counts.values()].map(({ length }) => length));
}

/**
 * The domain that has been given least; of those, one whose places are on many nodes
 * (`nominableTogether`), and then the one with most places left.
 */
function nextTurn(turns: readonly Turn[]): Turn {
  const open = turns.filter(({ places }) => places.length > 0);
  const [next] = open.toSorted(
    (a, b) => a.given - b.given || crowd(a) - crowd(b) || b.places.length - a.places.length,
  );
  invariant(next !== undefined, 'there is a place for each pod of a group');
  return next;
}

function turnsOf(key: string, group: ReadonlySet<Pod>, arrivals: readonly Arrivals[]): Turn[] {
  const turns = new Map<string, Turn>();
  for (const each of arrivals) {
    const domain = ownValue(each.node.labels, key) ?? ownValue(each.labels, key) ?? '';
    const turn = turns.get(domain) ?? { places: [], given: 0 };
    turns.set(domain, turn);
    for (const pod of each.pods) if (group.has(pod)) turn.places.push(each);
  }
  return [...turns].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, turn]) => turn);
}

/**
 * Those of a node's pods that may be nominated to it beside those that are. kube-scheduler counts
 * all that are nominated to a node as if they were there when it looks at one of them, but those of
 * other nodes not at all (kube-scheduler 1.35, RunFilterPluginsWithNominatedPods). So equal pods
 * that a hard spread keeps from being more than `maxSkew` ahead keep one another away, and go where
 * others belong: but for one, once each other domain has got its next pod, which comes before
 * (`inTurn`). The rest find their room free: all else is nominated.
 */
export function nominableTogether(
  pods: readonly Pod[],
  nominated: readonly Pod[] = [],
): readonly Pod[] {
  const counts = new Map<PodSpec, Map<string | undefined, number>>();
  const count = ({ spec, controller }: Pod): number => {
    const ofSpec = counts.get(spec) ?? new Map<string | undefined, number>();
    counts.set(spec, ofSpec);
    const before = ofSpec.get(controller?.uid) ?? 0;
    ofSpec.set(controller?.uid, before + 1);
    return before;
  };
  for (const pod of nominated) count(pod);
  return pods.filter((pod) => {
    const skews = hardDomainSpreads(pod.spec).map(({ maxSkew }) => maxSkew);
    return skews.length === 0 || count(pod) <= Math.min(...skews);
  });
}

/**
 * The same places, those of one owner's equal pods exchanged so that their domains take turns in the
 * order in which kube-scheduler tries the pods. Else it may come to a pod whose domain is full for
 * the moment, as its hard spread has it, and put it where another pod belongs.
 */
export function inSpreadOrder(
  arrivals: readonly Arrivals[],
  orderOf: (pod: Pod) => number,
): readonly Nominees[] {
  const pods = arrivals.flatMap((each) => each.pods);
  const owned = pods.filter(({ controller }) => controller !== undefined);
  const places = new Map<Pod, Arrivals>();
  for (const [spec, ofSpec] of Map.groupBy(owned, (pod) => pod.spec)) {
    const key = spreadKey(spec);
    if (key === undefined) continue;
    for (const [, group] of Map.groupBy(ofSpec, ({ controller }) => controller?.uid)) {
      const turns = turnsOf(key, new Set(group), arrivals);
      for (const pod of group.toSorted((a, b) => orderOf(a) - orderOf(b))) {
        const turn = nextTurn(turns);
        const [place, ...rest] = turn.places;
        turn.places = rest;
        turn.given += 1;
        if (place !== undefined) places.set(pod, place);
      }
    }
  }
  const placed = Map.groupBy(
    arrivals.flatMap((each) => each.pods.map((pod) => ({ pod, at: places.get(pod) ?? each }))),
    ({ at }) => at,
  );
  return arrivals.map((each) => ({
    node: each.node,
    pods: (placed.get(each) ?? []).map(({ pod }) => pod),
  }));
}
