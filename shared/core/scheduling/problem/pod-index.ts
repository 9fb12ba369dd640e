import { missing } from '../../missing.ts';
import { alikeText, isBufferPod, isOver, type Pod } from '../../model/pod.ts';
import { RunningTerms } from './running-terms.ts';
import type { PodSelectors } from './selectors.ts';
import { hasTopology } from './topology-terms.ts';

/** Pods of one namespace with the same labels. */
interface Alike {
  readonly pod: Pod;
  /** Places in the list of those that have a node and run, in order. */
  readonly places: number[];
}

/**
 * What plans ask of the pods of a snapshot. Whoever looks for nodes that may go makes many plans of
 * the same pods, and each of them moves only few: it is worked out once for a list.
 */
export class PodIndex {
  /** Pods without a node, in the order of the list. */
  readonly waiting: readonly Pod[];
  /** Pods on nodes that are not over, by the node's name. */
  readonly onNodes: ReadonlyMap<string, readonly Pod[]>;
  readonly namespaces: ReadonlySet<string>;
  /** Those of DaemonSets, wherever they are. */
  readonly ofDaemonSets: readonly Pod[];
  /** Those that stand for room. */
  readonly buffers: readonly Pod[];
  /** Of those on nodes: the ones with volumes. */
  readonly withVolumes: readonly Pod[];
  private readonly pods: readonly Pod[];
  /** Of those on nodes: the terms about others. */
  readonly terms: RunningTerms;
  /** Of those on nodes: places of the ones with host ports. */
  private readonly withPorts: readonly number[];
  private groups: readonly Alike[] | undefined;

  constructor(pods: readonly Pod[]) {
    const waiting: Pod[] = [];
    const onNodes = new Map<string, Pod[]>();
    const [tied, withPorts]: [number[], number[]] = [[], []];
    const [withVolumes, ofDaemonSets, buffers]: [Pod[], Pod[], Pod[]] = [[], [], []];
    const namespaces = new Set<string>();
    for (let at = 0; at < pods.length; at++) {
      const pod = pods[at] ?? missing(at);
      const { nodeName, spec } = pod;
      namespaces.add(pod.namespace);
      if (pod.controller?.kind === 'DaemonSet') ofDaemonSets.push(pod);
      if (isBufferPod(pod)) buffers.push(pod);
      if (nodeName === undefined) {
        waiting.push(pod);
        continue;
      }
      if (isOver(pod)) continue;
      const there = onNodes.get(nodeName);
      if (there === undefined) onNodes.set(nodeName, [pod]);
      else there.push(pod);
      if (hasTopology(pod)) tied.push(at);
      if (spec.hostPorts.length > 0) withPorts.push(at);
      if (spec.volumes.length > 0) withVolumes.push(pod);
    }
    this.pods = pods;
    this.waiting = waiting;
    this.onNodes = onNodes;
    this.terms = new RunningTerms(pods, tied);
    this.withPorts = withPorts;
    this.withVolumes = withVolumes;
    this.namespaces = namespaces;
    this.ofDaemonSets = ofDaemonSets;
    this.buffers = buffers;
  }

  /**
   * Those on nodes that pods to come can notice beyond the room that they take, in the order of the
   * list: some selector means them, they have host ports, or terms about those (places `tied`).
   */
  noticed(selectors: PodSelectors, tied: Iterable<number>): readonly Pod[] {
    const places = new Set([...tied, ...this.withPorts]);
    if (selectors.all.length > 0) {
      for (const { pod, places: own } of this.alike()) {
        if (selectors.matching(pod.namespace, pod.labels).length === 0) continue;
        for (const at of own) places.add(at);
      }
    }
    return [...places].sort((a, b) => a - b).map((at) => this.pods[at] ?? missing(at));
  }

  private alike(): readonly Alike[] {
    if (this.groups !== undefined) return this.groups;
    const byText = new Map<string, Alike>();
    for (let at = 0; at < this.pods.length; at++) {
      const pod = this.pods[at] ?? missing(at);
      if (pod.nodeName === undefined || isOver(pod)) continue;
      const text = alikeText(pod);
      const known = byText.get(text);
      if (known === undefined) byText.set(text, { pod, places: [at] });
      else known.places.push(at);
    }
    this.groups = [...byText.values()];
    return this.groups;
  }
}

const known = new WeakMap<readonly Pod[], PodIndex>();

/** The index of a list, which is never changed. */
export function podIndexOf(pods: readonly Pod[]): PodIndex {
  const before = known.get(pods);
  if (before !== undefined) return before;
  const index = new PodIndex(pods);
  known.set(pods, index);
  return index;
}
