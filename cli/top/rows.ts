import type { Catalog } from '../../shared/catalog/facts.ts';
import { capacityTypeOf, listPrice } from '../../shared/catalog/list-price.ts';
import { isEmpty } from '../../shared/core/disruption/candidates.ts';
import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import type { Node } from '../../shared/core/model/cluster.ts';
import { claimOfNode, podsOnNode } from '../../shared/core/model/joins.ts';
import {
  ARCH,
  INSTANCE_TYPE,
  type Labels,
  NODE_POOL,
  ZONE,
} from '../../shared/core/model/labels.ts';
import { isOver, type Pod } from '../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { addResources, amountOf, CPU, MEMORY } from '../../shared/core/model/resources.ts';
import { isDisrupted } from '../../shared/core/model/taint.ts';
import type { ClusterState } from '../../shared/ports.ts';

/** What pods on a node request of what it has for pods: milli-cores, or bytes. */
export interface Use {
  readonly requested: number;
  readonly allocatable: number;
}

/** A node, or a NodeClaim that has none yet. */
export interface NodeRow {
  readonly node: string | undefined;
  readonly nodeClaim: string | undefined;
  /** Undefined: somebody else's node. */
  readonly nodePool: string | undefined;
  readonly instanceType: string | undefined;
  readonly capacityType: string | undefined;
  readonly zone: string | undefined;
  /** As the label `kubernetes.io/arch` has it: `amd64`, `arm64`. */
  readonly architecture: string | undefined;
  /** `ami-…`; undefined: not launched by a NodeClaim, or not yet. */
  readonly imageId: string | undefined;
  /** `i-…`; undefined: not launched yet, or no instance of EC2. */
  readonly instanceId: string | undefined;
  /** USD, list price; undefined: the catalog has none. */
  readonly pricePerHour: number | undefined;
  readonly cpu: Use;
  readonly memory: Use;
  /** That run or are about to, those of DaemonSets included. */
  readonly pods: number;
  readonly ageSeconds: number;
  /** What is to be known of it; `Ready` alone where there is nothing. */
  readonly state: readonly string[];
}

function nodeState(
  node: Node,
  claim: NodeClaim | undefined,
  pods: readonly Pod[],
): readonly string[] {
  const is: readonly (readonly [boolean, string])[] = [
    [!isTrue(node, 'Ready'), 'NotReady'],
    [claim?.deletedAtMs !== undefined || node.deletedAtMs !== undefined, 'Deleting'],
    [isDisrupted(node), 'Disrupted'],
    [node.taints.some(({ key }) => key === 'node.kubernetes.io/unschedulable'), 'Cordoned'],
    [claim !== undefined && isTrue(claim, 'Drifted'), 'Drifted'],
    [claim !== undefined && isTrue(claim, 'Initialized') && isEmpty({ pods }), 'Empty'],
    [claim !== undefined && !isTrue(claim, 'Initialized'), 'Starting'],
  ];
  const found = is.flatMap(([holds, name]) => (holds ? [name] : []));
  return found.length === 0 ? ['Ready'] : found;
}

/** Of a claim whose node had joined, and that somebody has deleted, while the instance is paid. */
export const NODE_GONE = 'NodeGone';

function stateWithoutNode(claim: NodeClaim): string {
  if (claim.deletedAtMs !== undefined) return 'Deleting';
  if (claim.providerId === undefined) return 'Waiting';
  return isTrue(claim, 'Registered') ? NODE_GONE : 'Starting';
}

function use(requested: number, allocatable: number): Use {
  return { requested, allocatable };
}

function age(createdAtMs: number, nowMs: number): number {
  return Math.max(0, Math.round((nowMs - createdAtMs) / 1000));
}

function ofLabels(labels: Labels, catalog: Catalog | undefined) {
  return {
    nodePool: labels[NODE_POOL],
    instanceType: labels[INSTANCE_TYPE],
    capacityType: capacityTypeOf(labels),
    zone: labels[ZONE],
    architecture: labels[ARCH],
    pricePerHour: catalog === undefined ? undefined : listPrice(catalog, labels),
  };
}

/** Every node, and every NodeClaim without one; by NodePool, then by name, others' nodes last. */
export function nodeRows(
  { objects }: ClusterState,
  catalog: Catalog | undefined,
  nowMs: number,
): readonly NodeRow[] {
  const joined = new Set(objects.nodes.map(({ providerId }) => providerId));
  const nodes = objects.nodes.map((node): NodeRow => {
    const claim = claimOfNode(objects.nodeClaims, node);
    const pods = podsOnNode(objects.pods, node.name).filter((pod) => !isOver(pod));
    const requested = pods.reduce((sum, { spec }) => addResources(sum, spec.requests), {});
    return {
      node: node.name,
      nodeClaim: claim?.name,
      ...ofLabels(node.labels, catalog),
      imageId: claim?.imageId,
      instanceId: instanceIdOf(node.providerId),
      cpu: use(amountOf(requested, CPU), amountOf(node.allocatable, CPU)),
      memory: use(amountOf(requested, MEMORY), amountOf(node.allocatable, MEMORY)),
      pods: pods.length,
      ageSeconds: age(node.createdAtMs, nowMs),
      state: nodeState(node, claim, pods),
    };
  });
  const starting = objects.nodeClaims
    .filter(({ providerId }) => providerId === undefined || !joined.has(providerId))
    .map(
      (claim): NodeRow => ({
        node: undefined,
        nodeClaim: claim.name,
        ...ofLabels(claim.labels, catalog),
        imageId: claim.imageId,
        instanceId: instanceIdOf(claim.providerId),
        cpu: use(0, 0),
        memory: use(0, 0),
        pods: 0,
        ageSeconds: age(claim.createdAtMs, nowMs),
        state: [stateWithoutNode(claim)],
      }),
    );
  return [...nodes, ...starting].sort(
    (a, b) =>
      compare(a.nodePool ?? '\uffff', b.nodePool ?? '\uffff') || compare(nameOf(a), nameOf(b)),
  );
}

function nameOf({ node, nodeClaim }: NodeRow): string {
  return node ?? nodeClaim ?? '';
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** What the nodes of one NodePool come to, or of all. */
export interface Total {
  /** Undefined: nodes of others. */
  readonly nodePool: string | undefined;
  readonly nodes: number;
  /** USD, of those whose price is known. */
  readonly pricePerHour: number;
  /** Nodes whose price is not known. */
  readonly unpriced: number;
  readonly cpu: Use;
  readonly memory: Use;
}

/** USD an hour; null where nothing of it is known. */
export function totalPrice({ nodes, unpriced, pricePerHour }: Total): number | null {
  return nodes > 0 && unpriced === nodes ? null : pricePerHour;
}

function added(a: Use, b: Use): Use {
  return use(a.requested + b.requested, a.allocatable + b.allocatable);
}

function totalOf(nodePool: string | undefined, rows: readonly NodeRow[]): Total {
  return {
    nodePool,
    nodes: rows.length,
    pricePerHour: rows.reduce((sum, row) => sum + (row.pricePerHour ?? 0), 0),
    unpriced: rows.filter((row) => row.pricePerHour === undefined).length,
    cpu: rows.reduce((sum, row) => added(sum, row.cpu), use(0, 0)),
    memory: rows.reduce((sum, row) => added(sum, row.memory), use(0, 0)),
  };
}

/** By NodePool in the order of the rows, and of all of them. */
export function totalsOf(rows: readonly NodeRow[]): {
  readonly byPool: readonly Total[];
  readonly all: Total;
} {
  const byPool = [...Map.groupBy(rows, ({ nodePool }) => nodePool)];
  return { byPool: byPool.map(([pool, own]) => totalOf(pool, own)), all: totalOf(undefined, rows) };
}

/** How a table may be sorted; each but the name from the most to the least. */
export const SORTS = ['name', 'price', 'cpu', 'memory', 'pods', 'age'] as const;
export type Sort = (typeof SORTS)[number];

/** The share of what a node has that is requested; 0 where it has nothing. */
export function shareOf({ requested, allocatable }: Use): number {
  return allocatable === 0 ? 0 : requested / allocatable;
}

/** The rows in that order; equal ones stay as they are. */
export function sorted<Row extends NodeRow>(rows: readonly Row[], by: Sort): readonly Row[] {
  const keys: Readonly<Record<Exclude<Sort, 'name'>, (row: NodeRow) => number>> = {
    price: ({ pricePerHour }) => pricePerHour ?? 0,
    cpu: ({ cpu }) => shareOf(cpu),
    memory: ({ memory }) => shareOf(memory),
    pods: ({ pods }) => pods,
    age: ({ ageSeconds }) => ageSeconds,
  };
  if (by === 'name') return rows.toSorted((a, b) => compare(nameOf(a), nameOf(b)));
  return rows.toSorted((a, b) => keys[by](b) - keys[by](a));
}
