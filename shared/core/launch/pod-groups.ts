import { LAUNCHED_FOR, RETRY_LAUNCH } from '../model/labels.ts';
import type { NodeClass } from '../model/node-class.ts';
import type { OwnerReference, Pod, PodSpec } from '../model/pod.ts';
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
  /** What the pod asks of a node, where pods of the group may come to differ; else empty. */
  readonly look: string;
  /** What somebody has asked for it by the annotation {@link RETRY_LAUNCH}; else empty. */
  readonly retry: string;
}

/** What these make has one template; a changed one is another owner or another revision. */
const OF_ONE_TEMPLATE: Readonly<Record<string, string>> = {
  ReplicaSet: 'apps',
  ReplicationController: '',
  StatefulSet: 'apps',
  Job: 'batch',
};

const REVISION = 'controller-revision-hash';
const VAIN_MAX = 3;
/** Of an owner whose pods differ, and of pods of one shape that have each an owner of their own. */
const OWNER_VAIN_MAX = 9;

/** Specs never change, and those of a DaemonSet's pods are one for each node: hashed once each. */
const shapes = new WeakMap<PodSpec, string>();

/** Groups that pods of a spec are of, by what else counts; each pass asks for every pod's. */
const groupsOfSpecs = new WeakMap<PodSpec, Map<string, readonly PodGroup[]>>();
/** Each pass asks for most pods as they were in the one before. */
const groupsOfPods = new WeakMap<Pod, readonly PodGroup[]>();
/** Bare pods share a spec and are each a group: not all of those that ever were are kept. */
const GROUPS_MAX = 1024;

function knownGroups(spec: PodSpec): Map<string, readonly PodGroup[]> {
  const before = groupsOfSpecs.get(spec);
  if (before !== undefined && before.size < GROUPS_MAX) return before;
  const known = new Map<string, readonly PodGroup[]>();
  groupsOfSpecs.set(spec, known);
  return known;
}

function shortHash(value: unknown): string {
  return sha256(canonicalText(value)).slice(0, 12);
}

/** The kind of an owner whose pods have one template; another API group's kinds are not meant. */
function kindOf({ kind, apiVersion }: OwnerReference): string | undefined {
  const group = OF_ONE_TEMPLATE[kind];
  if (group === undefined || !Object.hasOwn(OF_ONE_TEMPLATE, kind)) return undefined;
  const slash = apiVersion?.indexOf('/') ?? -1;
  const isIt = apiVersion === undefined || apiVersion.slice(0, Math.max(0, slash)) === group;
  return isIt ? kind : undefined;
}

/** What of a pod a node has to meet by itself, wherever other pods and volumes are. */
function askedOf(spec: PodSpec): unknown {
  const { requests, nodeSelector, requiredNodeAffinity, tolerations, hostPorts } = spec;
  const { schedulerName, priority } = spec;
  return [
    ...[requests, nodeSelector, requiredNodeAffinity ?? null, tolerations, hostPorts],
    ...[schedulerName, priority],
  ];
}

/**
 * Groups of pods: of one owner and template, or of one owner and shape where the owner is of a kind
 * that makes pods of many. Each pod of a StatefulSet has volumes of its own and is a group. Pods
 * that come with a new owner each time, or with none, are a group by namespace and shape too.
 */
export class PodGroups {
  private readonly known = new Map<string, readonly PodGroup[]>();

  of(pod: Pod): readonly PodGroup[] {
    const known = groupsOfPods.get(pod);
    if (known !== undefined) return known;
    const groups = this.lookUp(pod);
    groupsOfPods.set(pod, groups);
    return groups;
  }

  private lookUp(pod: Pod): readonly PodGroup[] {
    const { controller, namespace, uid, name, labels, annotations, spec } = pod;
    const kind = controller === undefined ? 'Pod' : kindOf(controller);
    const owner = controller?.uid ?? uid;
    const shape = this.shapeOf(spec);
    const retry = annotations[RETRY_LAUNCH] ?? '';
    const revision = labels[REVISION] ?? '';
    const ordinal = kind === 'StatefulSet' ? name : '';
    const key = [namespace, owner, kind ?? '', shape, revision, ordinal, retry].join(' ');
    const known = this.known.get(key);
    if (known !== undefined) return known;
    const kept = knownGroups(spec);
    const before = kept.get(key);
    if (before !== undefined) return before;
    const asked = retry === '' ? '' : shortHash(retry).slice(0, 6);
    const look = shape.slice(0, 6);
    const group = (of: readonly string[], vainMax: number, same = ''): PodGroup => ({
      ...{ id: shortHash([namespace, ...of]), vainMax, look: same, retry: asked },
    });
    const byShape = group(['', shape], OWNER_VAIN_MAX);
    const groupsOf = (): readonly PodGroup[] => {
      switch (kind) {
        case undefined:
          return [group([owner, shape], VAIN_MAX), group([owner], OWNER_VAIN_MAX), byShape];
        case 'StatefulSet':
          return [
            group([owner, revision, ordinal], VAIN_MAX, look),
            group([owner, revision], OWNER_VAIN_MAX, look),
          ];
        case 'Pod':
        case 'Job':
          return [group([owner, revision], VAIN_MAX, look), byShape];
        default:
          return [group([owner, revision], VAIN_MAX, look)];
      }
    };
    const groups = groupsOf();
    this.known.set(key, groups);
    kept.set(key, groups);
    return groups;
  }

  private shapeOf(spec: PodSpec): string {
    const known = shapes.get(spec);
    if (known !== undefined) return known;
    const shape = shortHash(askedOf(spec));
    shapes.set(spec, shape);
    return shape;
  }
}

/**
 * What people have said about nodes, as a short text: while it is the same, the next launch for a
 * pod will be like the last. Prices and limits are not in it: they change by themselves. What a
 * LimitRange adds to the pods of a DaemonSet is in its requests.
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
      daemonSets.map(({ uid, templateGeneration, podSpec }) =>
        canonicalText([uid, templateGeneration ?? null, podSpec.requests]),
      ),
    ),
  ]);
}

/** How something is tried for pods of a group: what can be launched, and what the pod is like. */
export function tryText(ways: string, { look, retry }: Pick<PodGroup, 'look' | 'retry'>): string {
  return retry === '' ? `${ways}.${look}` : `${ways}.${look}.${retry}`;
}

/** What of {@link tryText} is the annotation's; empty: the pod had none. */
export function retryOf(tried: string): string {
  return tried.split('.')[2] ?? '';
}

/** A group that a claim was written for. */
export interface NamedGroup {
  readonly id: string;
  readonly look: string;
  readonly retry: string;
  /** A pod of it has run on the claim's node for a while. */
  readonly hasRun: boolean;
  /** The launch was in vain for it: what comes later, as the node's end, does not change that. */
  readonly isVain: boolean;
}

/** What the annotation {@link LAUNCHED_FOR} says. */
export interface LaunchedFor {
  /** {@link launchWays} at that time. */
  readonly ways: string;
  readonly groups: readonly NamedGroup[];
}

/** Room for 300 groups; a node rarely is for more than a few. */
const BYTES_MAX = 8192;
const RAN = '+';
const VAIN = '-';

function groupText({ id, look, retry, hasRun = false, isVain = false }: GroupToName): string {
  const parts = retry === '' ? (look === '' ? [id] : [id, look]) : [id, look, retry];
  return `${parts.join('.')}${hasRun ? RAN : ''}${isVain ? VAIN : ''}`;
}

type GroupToName = Pick<PodGroup, 'id' | 'look' | 'retry'> &
  Partial<Pick<NamedGroup, 'hasRun' | 'isVain'>>;

/** Undefined: no group, no annotation. */
export function launchedForText(ways: string, groups: Iterable<GroupToName>): string | undefined {
  let text = ways;
  const named = new Set<string>();
  for (const group of groups) {
    if (named.has(group.id)) continue;
    named.add(group.id);
    const longer = `${text} ${groupText(group)}`;
    if (longer.length > BYTES_MAX) break;
    text = longer;
  }
  return text === ways ? undefined : text;
}

/** The groups that the claim was written for. */
export function launchedFor({ annotations }: Pick<NodeClaim, 'annotations'>): LaunchedFor {
  const [ways = '', ...entries] = (annotations[LAUNCHED_FOR] ?? '').split(' ');
  const groups = entries.map((entry): NamedGroup => {
    const [name = '', marks = ''] = entry.split(/(?=[+-])/, 2);
    const [id = '', look = '', retry = ''] = name.split('.');
    return { id, look, retry, hasRun: marks.includes(RAN), isVain: entry.endsWith(VAIN) };
  });
  return { ways, groups };
}
