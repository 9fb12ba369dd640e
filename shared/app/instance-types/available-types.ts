import { barsOfLastResorts, believedBars, hasRoomAgain } from '../../core/launch/bars.ts';
import { isUsable } from '../../core/launch/node-classes.ts';
import type { InstanceType, Offering } from '../../core/model/instance-type.ts';
import { type CapacityType, RESERVED } from '../../core/model/labels.ts';
import { type NodeClass, versionOf } from '../../core/model/node-class.ts';
import type { SchedulingSettings } from '../../core/model/snapshot.ts';
import { Remembered } from '../../core/remembered.ts';
import { type ClusterState, PortError, type Ports, type UnavailableOffering } from '../../ports.ts';
import { withObservedMemory } from './observed-allocatable.ts';
import { zonesAway } from './zonal-shifts.ts';

/** What can be bought now, per EC2NodeClass, before overlays. */
export interface AvailableTypes {
  readonly byNodeClass: ReadonlyMap<string, readonly InstanceType[]>;
  /** The same for whom nothing of these can be had: what was short is tried again sooner. */
  readonly lastResorts: ReadonlyMap<string, readonly InstanceType[]>;
}

function barKey(type: string, zone: string, capacityType: string, reservationId = ''): string {
  return `${type}/${zone}/${capacityType}/${reservationId}`;
}

/** What is left alone for a while. */
export interface Unavailable {
  readonly barred: readonly UnavailableOffering[];
  /** Ids of subnets without a free address. */
  readonly fullSubnets: ReadonlySet<string>;
  /** Names of zones that ARC shifts the cluster away from. */
  readonly shiftedZones: ReadonlySet<string>;
  /** False with the feature gate `ReservedCapacity` off. @default true */
  readonly reservedCapacity?: boolean;
}

/** Zones in which the class has subnets, all of which are full. */
function zonesWithout(
  { status }: Pick<NodeClass, 'status'>,
  fullSubnets: ReadonlySet<string>,
): ReadonlySet<string> {
  if (fullSubnets.size === 0) return new Set();
  const open = status.subnets.filter(({ id }) => !fullSubnets.has(id));
  const openZones = new Set(open.map(({ zone }) => zone));
  const zones = status.subnets.map(({ zone }) => zone);
  return new Set(zones.filter((zone) => !openZones.has(zone)));
}

/** In how many zones a type is offered. */
function zonesIn(types: readonly InstanceType[]) {
  const byName = new Map(types.map((type) => [type.name, type]));
  return (instanceType: string, capacityType: CapacityType): number => {
    const offerings = byName.get(instanceType)?.offerings ?? [];
    const same = offerings.filter((each) => each.capacityType === capacityType);
    return new Set(same.map(({ zone }) => zone)).size;
  };
}

/** By turns with and without last resorts, of bars that come and go one by one. */
const marked = new Remembered<readonly InstanceType[], readonly InstanceType[]>(4);

/**
 * The types with what is barred for the class marked; untouched ones are shared. The same types and
 * bars are answered with the same list.
 */
export function withUnavailable(
  types: readonly InstanceType[],
  nodeClass: Pick<NodeClass, 'uid' | 'generation' | 'status'>,
  { barred, fullSubnets, shiftedZones, reservedCapacity = true }: Unavailable,
  nowMs: number,
): readonly InstanceType[] {
  const version = versionOf(nodeClass);
  const bars = new Map(
    believedBars(barred, zonesIn(types))
      .filter((each) => nowMs < each.untilMs && (each.nodeClass ?? version) === version)
      .map((each) => [
        barKey(each.instanceType, each.zone, each.capacityType, each.reservationId),
        each,
      ]),
  );
  const zones = new Set([...zonesWithout(nodeClass, fullSubnets), ...shiftedZones]);
  if (bars.size + zones.size === 0 && reservedCapacity) return types;
  const make = () => marking(types, { bars, zones, reservedCapacity }, nowMs);
  // Whether a reservation has room again depends on the time as well.
  if ([...bars.values()].some(({ reservationId }) => reservationId !== undefined)) return make();
  const text = JSON.stringify([[...bars.keys()].sort(), [...zones].sort(), reservedCapacity]);
  return marked.of(types, text, make);
}

/** What is not to be used, with bars by their offering. */
interface Marks {
  readonly bars: ReadonlyMap<string, UnavailableOffering>;
  readonly zones: ReadonlySet<string>;
  readonly reservedCapacity: boolean;
}

function marking(
  types: readonly InstanceType[],
  { bars, zones, reservedCapacity }: Marks,
  nowMs: number,
): readonly InstanceType[] {
  return types.map((type) => {
    const isBarred = ({ zone, capacityType, reservation }: Offering): boolean => {
      if (!reservedCapacity && capacityType === RESERVED) return true;
      if (zones.has(zone) || bars.has(barKey(type.name, zone, capacityType))) return true;
      if (reservation === undefined) return false;
      const bar = bars.get(barKey(type.name, zone, capacityType, reservation.id));
      return bar !== undefined && !hasRoomAgain(bar, reservation.capacity, nowMs);
    };
    if (!type.offerings.some(isBarred)) return type;
    const offerings = type.offerings.map((each) =>
      isBarred(each) ? { ...each, available: false } : each,
    );
    return { ...type, offerings };
  });
}

/** One failing class does not stop the others: its pools simply have nothing to offer. */
export async function readAvailableTypes(
  ports: Ports,
  state: ClusterState,
  { reservedCapacity }: Pick<SchedulingSettings, 'reservedCapacity'>,
): Promise<AvailableTypes> {
  const barred = {
    reservedCapacity,
    barred: await ports.memory.unavailable(),
    fullSubnets: await ports.memory.unavailableSubnets(),
    shiftedZones: new Set((await zonesAway(ports, state)).map(({ zone }) => zone)),
  };
  const learnt = await ports.memory.allocatable();
  const nowMs = ports.clock.nowMs();
  const last = { ...barred, barred: barsOfLastResorts(barred.barred, nowMs) };
  const byNodeClass = new Map<string, readonly InstanceType[]>();
  const lastResorts = new Map<string, readonly InstanceType[]>();
  for (const nodeClass of state.nodeClasses) {
    if (!isUsable(nodeClass)) continue;
    try {
      const types = await ports.catalog.instanceTypes(nodeClass);
      const corrected = withObservedMemory(types, nodeClass, learnt);
      const { name } = nodeClass;
      byNodeClass.set(name, withUnavailable(corrected, nodeClass, barred, nowMs));
      lastResorts.set(name, withUnavailable(corrected, nodeClass, last, nowMs));
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // The class's ValidationSucceeded condition says what is wrong with it.
      ports.recorder.count('cloudprovider_errors_total', { nodeclass: nodeClass.name });
    }
  }
  return { byNodeClass, lastResorts };
}
