import { allocatable } from '../../shared/core/instance-types/allocatable.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { changedPrice } from '../../shared/core/overlay/resolve.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import type { Machine } from '../../shared/sim/cloud/compute.ts';
import { isJson, numberAt, textAt } from '../../shared/sim/json.ts';
import type { World } from '../../shared/sim/world.ts';
import type { Lifetime, PackedNode, PodCount, RunnerUpText } from './packing.ts';

type Mutable<Shape> = { -readonly [Key in keyof Shape]: Shape[Key] };

/** A node while it is filmed. */
export interface Shot {
  readonly node: PackedNode;
  readonly life: Mutable<Lifetime>;
  readonly offering: {
    readonly type: string;
    readonly zone: string;
    readonly capacityType: string;
  };
  nodeName: string | undefined;
  lastPods: readonly PodCount[];
}

export function offerKey({ type, zone, capacityType }: Shot['offering']): Shot['offering'] {
  return { type, zone, capacityType };
}

/** The runner-up in the detail of a decision. */
export function runnerUpOf(detail: unknown): RunnerUpText | null {
  if (!isJson(detail)) return null;
  const text = (key: string): string => textAt(detail, key) ?? '';
  return {
    type: text('type'),
    zone: text('zone'),
    capacityType: text('capacityType'),
    price: numberAt(detail, 'price') ?? 0,
    listPrice: numberAt(detail, 'listPrice') ?? 0,
    why: text('why'),
  };
}

/** The node of an instance that was launched for the claim just now. */
export function launched(
  { terms }: World,
  machine: Machine,
  claim: NodeClaim,
  seconds: number,
): Shot {
  const { instanceType: type, zone, capacityType, offering } = machine;
  const { overlays = [], priceChange } = terms.get(machine.id) ?? {};
  const { listPrice } = offering;
  const life = { launched: seconds, ready: null, draining: null, gone: null };
  return {
    life,
    offering: { type, zone, capacityType },
    nodeName: undefined,
    lastPods: [],
    node: {
      name: claim.name,
      nodeClaim: claim.name,
      nodePool: claim.labels[NODE_POOL] ?? null,
      instanceType: type,
      zone,
      capacityType,
      listPrice,
      price: priceChange === undefined ? listPrice : changedPrice(listPrice, priceChange),
      overlays,
      state: 'new',
      allocatable: formatResources(allocatable(machine.type, offering)),
      pods: [],
      reserved: {},
      ladder: null,
      runnerUp: null,
      why: null,
      life,
    },
  };
}
