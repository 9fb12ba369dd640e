import { runnerUpText } from '../../shared/core/explain/reasons/provisioning.ts';
import { allocatable } from '../../shared/core/instance-types/allocatable.ts';
import { launchPlanOf } from '../../shared/core/model/annotations/launch-plan.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import type { InstanceType } from '../../shared/core/model/instance-type.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { changedPrice } from '../../shared/core/overlay/resolve.ts';
import { formatResources } from '../../shared/core/quantity.ts';
import type { Machine } from '../../shared/sim/cloud/compute.ts';
import { isJson, numberAt, textAt } from '../../shared/sim/json.ts';
import type { World } from '../../shared/sim/world.ts';
import type { Amounts, Lifetime, PackedNode, PodCount, RunnerUpText } from './packing.ts';

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

/** The runner-up that the claim's own annotation names; null: there was none, or it names none. */
export function plannedRunnerUp(
  claim: NodeClaim,
  types: readonly InstanceType[],
  currency: Currency,
): RunnerUpText | null {
  const plan = launchPlanOf(claim);
  const { runnerUp } = plan ?? {};
  if (plan?.price === undefined || runnerUp === undefined || runnerUp === 'none') return null;
  const { type, zone, capacityType, price } = runnerUp;
  const offering = types
    .find(({ name }) => name === type)
    ?.offerings.find((each) => each.zone === zone && each.capacityType === capacityType);
  if (type === undefined || zone === undefined || capacityType === undefined) return null;
  if (price === undefined || offering === undefined) return null;
  const { listPrice } = offering;
  const why = runnerUpText(price - plan.price, currency);
  return { type, zone, capacityType, price, listPrice, why };
}

/** What overlays have made of the capacity that the machine has by itself. */
function overlaidOf(machine: Machine, types: readonly InstanceType[]): Amounts {
  const type = types.find(({ name }) => name === machine.instanceType);
  if (type === undefined || type.capacityOverlays.length === 0) return {};
  const own = machine.type.capacity;
  const changed = Object.entries(type.capacity).filter(([name, each]) => each !== own[name]);
  return formatResources(Object.fromEntries(changed));
}

/** The node of an instance that was launched for the claim just now. */
export function launched(
  { terms }: World,
  machine: Machine,
  claim: NodeClaim,
  types: readonly InstanceType[],
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
      replaces: [],
      overlaid: overlaidOf(machine, types),
      why: null,
      life,
    },
  };
}
