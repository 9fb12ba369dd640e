import { offeringOf, requestsBeside } from '../../shared/core/comparison/cluster-at-rest.ts';
import { allocatable } from '../../shared/core/instance-types/allocatable.ts';
import { claimOfNode, podsOnNode } from '../../shared/core/model/joins.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  type Labels,
  NODE_POOL,
  ZONE,
} from '../../shared/core/model/labels.ts';
import type { Plan, PlannedNodeClaim, RunnerUp } from '../../shared/core/model/plan.ts';
import { isOver, type Pod, podKey } from '../../shared/core/model/pod.ts';
import { NO_RESOURCES, type Resources } from '../../shared/core/model/resources.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import { Ladders } from './ladders.ts';
import type { Amounts, PackedNode, Packing, RunnerUpText } from './packing.ts';
import { Workloads } from './workloads.ts';

/** What a node is beside its pods. */
export type NodeFacts = Pick<PackedNode, 'state' | 'why'>;

type PlanParts = Pick<Plan, 'newNodeClaims' | 'existing'>;

const NOT_PLANNED = {
  reserved: {},
  ladder: null,
  runnerUp: null,
  replaces: [],
  overlaid: {},
  life: null,
} as const;

function runnerUpText(runnerUp: RunnerUp | undefined): RunnerUpText | null {
  if (runnerUp === undefined) return null;
  const { type, zone, capacityType, price, listPrice, why } = runnerUp;
  return { type, zone, capacityType, price, listPrice, why };
}

/** Workloads are numbered as they are met: in the same order, whatever order the pods came in. */
function byKey(a: Pod, b: Pod): number {
  return podKey(a) < podKey(b) ? -1 : 1;
}

/** CPU and memory that DaemonSets take of a node. */
export function reservedOf(amounts: Resources = NO_RESOURCES): Amounts {
  const known = ['cpu', 'memory'].map((name) => [name, amounts[name] ?? 0] as const);
  return formatResources(Object.fromEntries(known.filter(([, amount]) => amount > 0)));
}

/** A snapshot and what is planned for it, as a picture needs them. */
export class Packer {
  readonly #snapshot: ClusterSnapshot;
  readonly #workloads = new Workloads();
  readonly #ladders = new Ladders();
  readonly #pods: ReadonlyMap<string, Pod>;

  constructor(snapshot: ClusterSnapshot) {
    this.#snapshot = snapshot;
    this.#pods = new Map(snapshot.pods.map((pod) => [podKey(pod), pod]));
  }

  packing(nodes: readonly PackedNode[]): Packing {
    return { workloads: this.#workloads.list, ladders: this.#ladders.list, nodes };
  }

  /** Nodes of a snapshot, with the pods that are planned for them. */
  standing(
    { nodes, nodeClaims, pods }: ClusterSnapshot,
    existing: Plan['existing'],
    factsOf: (name: string, claim: string | undefined) => NodeFacts,
  ): readonly PackedNode[] {
    const coming = new Map(existing.map((each) => [each.node, this.#podsOf(each.pods)]));
    const joined = new Set(nodes.map(({ providerId }) => providerId));
    const joining = nodeClaims.filter(
      ({ providerId }) => providerId !== undefined && !joined.has(providerId),
    );
    const inOrder = [...nodes, ...joining].toSorted((a, b) => (a.name < b.name ? -1 : 1));
    return inOrder.map((node): PackedNode => {
      const claim = claimOfNode(nodeClaims, node);
      const labels: Labels = { ...claim?.labels, ...node.labels };
      const offering = offeringOf(this.#snapshot, labels)?.offering;
      const there = podsOnNode(pods, node.name).filter((pod) => !isOver(pod));
      const own = [...there, ...(coming.get(node.name) ?? [])].toSorted(byKey);
      return {
        ...NOT_PLANNED,
        name: node.name,
        nodeClaim: claim?.name ?? null,
        nodePool: labels[NODE_POOL] ?? null,
        instanceType: labels[INSTANCE_TYPE] ?? null,
        zone: labels[ZONE] ?? null,
        capacityType: labels[CAPACITY_TYPE] ?? null,
        listPrice: offering?.listPrice ?? null,
        price: offering?.price ?? null,
        overlays: offering?.priceOverlay === undefined ? [] : [offering.priceOverlay],
        ...factsOf(node.name, claim?.name),
        allocatable: formatResources(node.allocatable),
        pods: this.#workloads.counted(own),
      };
    });
  }

  /** The node of a planned claim. */
  planned(claim: PlannedNodeClaim, name: string): PackedNode {
    const { nodePool, chosen, runnerUp, overlays, requirements, requests } = claim;
    const { type, zone, capacityType, listPrice, price } = chosen;
    const types = this.#snapshot.instanceTypes.get(nodePool) ?? [];
    const machine = types.find((each) => each.name === type);
    const offering = machine?.offerings.find(
      (each) => each.zone === zone && each.capacityType === capacityType,
    );
    const pods = this.#podsOf(claim.pods);
    const shown = [chosen, ...(runnerUp === undefined ? [] : [runnerUp])];
    const asked = {
      nodePool,
      requirements,
      requests,
      shown: shown.map((each) => ({
        type: each.type,
        zone: each.zone,
        capacityType: each.capacityType,
      })),
    };
    return {
      name,
      nodeClaim: null,
      nodePool,
      instanceType: type,
      zone,
      capacityType,
      listPrice,
      price,
      overlays,
      state: 'new',
      allocatable:
        machine === undefined || offering === undefined
          ? {}
          : formatResources(allocatable(machine, offering)),
      pods: this.#workloads.counted(pods),
      reserved: reservedOf(
        requestsBeside(
          claim,
          pods.map(({ spec }) => spec.requests),
        ),
      ),
      ladder: this.#ladders.indexOf(asked, types),
      runnerUp: runnerUpText(runnerUp),
      replaces: [],
      overlaid: {},
      why: null,
      life: null,
    };
  }

  #podsOf(keys: readonly string[]): readonly Pod[] {
    return keys.flatMap((key) => this.#pods.get(key) ?? []);
  }
}

/** The nodes that are there, and those that the plan adds. */
export function plannedPacking(
  snapshot: ClusterSnapshot,
  { newNodeClaims, existing }: PlanParts,
): Packing {
  const packer = new Packer(snapshot);
  const there = packer.standing(snapshot, existing, () => ({ state: 'runs', why: null }));
  const added = newNodeClaims.map((claim, at) => packer.planned(claim, `new-${at + 1}`));
  return packer.packing([...there, ...added]);
}
