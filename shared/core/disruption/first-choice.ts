import { parseDurationMs } from '../duration.ts';
import type { ReasonOf } from '../explain/reason.ts';
import type { InstanceType } from '../model/instance-type.ts';
import {
  CAPACITY_TYPE,
  type CapacityType,
  ON_DEMAND,
  RESERVED,
  RETURN_TO_FIRST_CHOICE,
  SPOT,
} from '../model/labels.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { allows, requirementsOf, UNCONSTRAINED } from '../requirements/value-set.ts';
import { readEntries } from './annotation-entries.ts';

/** What a NodePool asks for those of its nodes that are fallbacks. */
export interface ReturnTerms {
  /** How many of its nodes may go at once: `2`, or `10%` of them. @default '1' */
  readonly nodes: string;
  /** Nodes are at least so old. @default 30 minutes */
  readonly afterMs: number;
}

const ANNOTATION = { annotation: RETURN_TO_FIRST_CHOICE, like: 'nodes=1,after=30m' };
/** As `nodes` of a disruption budget in a NodePool. */
const NODES = /^((100|\d{1,2})%|\d+)$/;

/**
 * What a NodePool's annotation says, such as `nodes=1,after=30m`; one of them may be left out.
 * Undefined: it has none, and its nodes return only where that saves. A reason where it cannot be
 * read.
 */
export function returnTermsOf({
  annotations,
}: Pick<NodePool, 'annotations'>): ReturnTerms | ReasonOf<'guard-unreadable'> | undefined {
  const text = annotations[RETURN_TO_FIRST_CHOICE];
  if (text === undefined) return undefined;
  const terms = { nodes: '1', afterMs: 30 * 60_000 };
  const fault = readEntries(text, ANNOTATION, (key, value) => {
    const durationMs = parseDurationMs(value);
    if (key === 'nodes' && NODES.test(value)) terms.nodes = value;
    else if (key === 'after' && durationMs !== undefined) terms.afterMs = durationMs;
    else return false;
    return true;
  });
  return fault ?? terms;
}

/**
 * In the order in which capacity types are tried for a NodeClaim.
 * https://karpenter.sh/docs/concepts/nodepools/#capacity-type
 */
const BY_PREFERENCE = [RESERVED, SPOT, ON_DEMAND] as const;

function rankOf(capacityType = ''): number {
  const names: readonly string[] = BY_PREFERENCE;
  return names.indexOf(capacityType);
}

/** Something that a node would rather have been, for people, and what can be had of it. */
interface Preferred {
  readonly name: string;
  readonly isAvailable: boolean;
}

/** Whether an offering of the types can be had, of one capacity type or of any. */
function isOffered(types: readonly InstanceType[], capacityType?: CapacityType): boolean {
  return types.some(({ offerings }) =>
    offerings.some(
      (each) =>
        each.available && (capacityType === undefined || each.capacityType === capacityType),
    ),
  );
}

/**
 * What is tried before a node of this pool and capacity type: NodePools of a greater weight, and
 * capacity types of its own NodePool. Whether its pods fit there is another question. Empty: the
 * node is no fallback.
 */
export function preferredOver(
  { labels }: Pick<NodeClaim, 'labels'>,
  pool: NodePool,
  nodePools: readonly NodePool[],
  typesOf: (pool: string) => readonly InstanceType[],
): readonly Preferred[] {
  const heavier = nodePools
    .filter(({ weight, replicas, isDeleting }) => {
      return weight > pool.weight && replicas === undefined && !isDeleting;
    })
    .toSorted((a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1))
    .map(({ name }) => ({ name: `NodePool ${name}`, isAvailable: isOffered(typesOf(name)) }));
  const allowed = requirementsOf(pool.template.requirements).get(CAPACITY_TYPE) ?? UNCONSTRAINED;
  const types = typesOf(pool.name);
  const capacityTypes = BY_PREFERENCE.slice(0, Math.max(0, rankOf(labels[CAPACITY_TYPE])))
    .filter((each) => allows(allowed, each))
    .map((each) => ({ name: each, isAvailable: isOffered(types, each) }));
  return [...heavier, ...capacityTypes];
}

interface HasCapacityType {
  readonly capacityType: string;
}

/** Whether what is planned is tried before a node of this pool and capacity type. */
export function isPreferred(
  { nodePool, chosen }: { readonly nodePool: string; readonly chosen: HasCapacityType },
  { labels }: Pick<NodeClaim, 'labels'>,
  pool: Pick<NodePool, 'name' | 'weight'>,
  nodePools: readonly Pick<NodePool, 'name' | 'weight'>[],
): boolean {
  if (nodePool === pool.name) return rankOf(chosen.capacityType) < rankOf(labels[CAPACITY_TYPE]);
  const weight = nodePools.find(({ name }) => name === nodePool)?.weight ?? 0;
  return weight > pool.weight;
}
