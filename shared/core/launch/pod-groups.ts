import { LAUNCHED_FOR } from '../model/labels.ts';
import type { NodeClass } from '../model/node-class.ts';
import type { Pod, PodSpec } from '../model/pod.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { canonicalText } from './canonical-text.ts';
import { sha256 } from './sha256.ts';

/** Pods that stand for each other: where a node is of no use to one, it is of none to the others. */
export interface PodGroup {
  /** Short, and the same for each pod of the group. */
  readonly id: string;
  /** How much in vain is launched for it: two for a node without pods, one for one with others. */
  readonly vainMax: number;
}

/** What these make has one template; a changed one is another owner or another revision. */
const OF_ONE_TEMPLATE: ReadonlySet<string> = new Set([
  'ReplicaSet',
  'ReplicationController',
  'StatefulSet',
  'Job',
]);

const REVISION = 'controller-revision-hash';
const VAIN_MAX = 3;
/** Of an owner whose pods differ, whatever they look like. */
const OWNER_VAIN_MAX = 9;

/** Specs never change, and those of a DaemonSet's pods are one for each node: hashed once each. */
const shapes = new WeakMap<PodSpec, string>();

function shortHash(value: unknown): string {
  return sha256(canonicalText(value)).slice(0, 12);
}

/**
 * Groups of pods: of one owner and template, or of one owner and shape where the owner is of a kind
 * that makes pods of many; a pod without an owner is a group of its own.
 */
export class PodGroups {
  private readonly known = new Map<string, readonly PodGroup[]>();

  of(pod: Pod): readonly PodGroup[] {
    const { controller, namespace, uid } = pod;
    const owner = controller?.uid ?? uid;
    const isOfOne = controller === undefined || OF_ONE_TEMPLATE.has(controller.kind);
    const variant = isOfOne ? (pod.labels[REVISION] ?? '') : this.shapeOf(pod.spec);
    const key = `${namespace} ${owner} ${variant}`;
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const own = { id: shortHash([namespace, owner, variant]), vainMax: VAIN_MAX };
    const groups = isOfOne
      ? [own]
      : [own, { id: shortHash([namespace, owner]), vainMax: OWNER_VAIN_MAX }];
    this.known.set(key, groups);
    return groups;
  }

  private shapeOf(spec: PodSpec): string {
    const known = shapes.get(spec);
    if (known !== undefined) return known;
    const shape = shortHash(spec);
    shapes.set(spec, shape);
    return shape;
  }
}

/**
 * What people have said about nodes, as a short text: while it is the same, the next launch for a
 * pod will be like the last. Prices and limits are not in it: they change by themselves.
 */
export function launchWays(
  { nodePools, daemonSets }: Pick<ClusterSnapshot, 'nodePools' | 'daemonSets'>,
  nodeClasses: readonly NodeClass[],
): string {
  const byName = (lines: readonly string[]): readonly string[] => lines.toSorted();
  return shortHash([
    byName(nodePools.map(({ name, template }) => canonicalText([name, template]))),
    byName(nodeClasses.map(({ name, generation }) => canonicalText([name, generation]))),
    byName(
      daemonSets.map(({ uid, templateGeneration }) => canonicalText([uid, templateGeneration])),
    ),
  ]);
}

/** Room for 300 groups; a node rarely is for more than a few. */
const BYTES_MAX = 4096;

/** What the annotation {@link LAUNCHED_FOR} says; undefined: no group, no annotation. */
export function launchedForText(ways: string, groups: Iterable<string>): string | undefined {
  let text = ways;
  for (const id of new Set(groups)) {
    const longer = `${text} ${id}`;
    if (longer.length > BYTES_MAX) break;
    text = longer;
  }
  return text === ways ? undefined : text;
}

/** The groups that the claim was written for, and {@link launchWays} at that time. */
export function launchedFor({ annotations }: Pick<NodeClaim, 'annotations'>): {
  readonly ways: string;
  readonly ids: readonly string[];
} {
  const [ways = '', ...ids] = (annotations[LAUNCHED_FOR] ?? '').split(' ');
  return { ways, ids };
}
