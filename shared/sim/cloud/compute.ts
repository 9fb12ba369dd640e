import { canonicalText } from '../../core/launch/canonical-text.ts';
import type { InstanceType, Offering } from '../../core/model/instance-type.ts';
import { type Labels, ON_DEMAND } from '../../core/model/labels.ts';
import {
  type Catalog,
  type Compute,
  type FleetFault,
  type FleetOverride,
  type FleetRequest,
  type FleetResult,
  type Instance,
  type InstanceStatus,
  type OfferingKey,
  PortError,
  type SpotRequest,
} from '../../ports.ts';
import { HEX, Prng } from '../prng.ts';
import type { Timeline } from '../timeline.ts';
import {
  BLOCK_TERMINATES_MS,
  type ReservationTerms,
  SimulatedReservations,
} from './reservations.ts';

/** An instance with what the simulated kubelet needs to know. */
export interface Machine extends Instance {
  readonly fleet: FleetRequest;
  readonly type: InstanceType;
  readonly offering: Offering;
  readonly subnetId: string;
}

/** Instances take this long from shutting down to gone. */
const SHUTDOWN_MS = 10_000;
/** Instances of one call are all visible by then, as the adapter of the real cloud has it. */
const VISIBLE_MS = 60_000;
const TOKEN_USED = 'IdempotentParameterMismatch';

/** A new list price, USD an hour; undefined zone: in all. */
export interface MachinePrice {
  readonly instanceType: string;
  readonly capacityType: 'on-demand' | 'spot';
  readonly zone: string | undefined;
  readonly price: number;
}

/** Any of its fields left out means all. */
export interface Shortage {
  readonly instanceType?: string | undefined;
  readonly zone?: string | undefined;
  readonly capacityType?: string | undefined;
}

function isShort(shortage: Shortage, offering: OfferingKey): boolean {
  return (
    (shortage.instanceType === undefined || shortage.instanceType === offering.instanceType) &&
    (shortage.zone === undefined || shortage.zone === offering.zone) &&
    (shortage.capacityType === undefined || shortage.capacityType === offering.capacityType)
  );
}

interface Line {
  readonly override: FleetOverride;
  readonly type: InstanceType;
  readonly offering: Offering;
}

function isPrioritised({ strategy }: FleetRequest): boolean {
  return strategy === 'prioritized' || strategy === 'capacity-optimized-prioritized';
}

/** What EC2 compares of two calls with one client token. */
function parametersOf(fleet: FleetRequest): string {
  const { claims, nodeClass, overrides, clientToken: _, ...rest } = fleet;
  const lines = overrides.map((each) =>
    isPrioritised(fleet) ? each : { ...each, priority: undefined },
  );
  return canonicalText({
    ...rest,
    capacity: claims.length,
    nodeClass: nodeClass.name,
    overrides: lines,
  });
}

/** EC2 as far as a cluster sees it: fleets, instances, shortages. Knows nothing of overlays. */
export class SimulatedCompute implements Compute {
  readonly machines = new Map<string, Machine>();
  readonly reservations: SimulatedReservations;
  /** Calls that were accepted, by client token. */
  private readonly accepted = new Map<
    string,
    { readonly parameters: string; readonly result: FleetResult }
  >();
  private readonly timeline: Timeline;
  private readonly catalog: Catalog;
  private readonly ids: Prng;
  /** Spot instances that EC2 has said it takes back. */
  private readonly takenBack = new Set<string>();
  private shortages: readonly Shortage[] = [];
  private readonly onLaunch: (machine: Machine) => void;
  private readonly onGone: (machine: Machine) => void;

  constructor(
    timeline: Timeline,
    catalog: Catalog,
    seed: number,
    on: {
      readonly launch: (machine: Machine) => void;
      readonly gone: (machine: Machine) => void;
    },
    reserved: readonly ReservationTerms[] = [],
  ) {
    this.timeline = timeline;
    this.catalog = catalog;
    this.reservations = new SimulatedReservations(timeline, (id) => this.machinesIn(id).length);
    for (const each of reserved) this.reserve(each);
    this.ids = new Prng(seed, 'instances');
    this.onLaunch = on.launch;
    this.onGone = on.gone;
  }

  /** Capacity for the cluster that somebody has reserved, until it ends. */
  reserve(terms: ReservationTerms): void {
    const { id, reservationType, endsAtMs } = terms;
    this.reservations.add(terms);
    if (endsAtMs === undefined) return;
    if (reservationType === 'capacity-block') {
      const ids = (): readonly string[] => this.machinesIn(id).map((each) => each.id);
      this.timeline.at(endsAtMs - BLOCK_TERMINATES_MS, () => this.terminate(ids()));
    }
    this.timeline.at(endsAtMs, () => this.endReservation(id));
  }

  addShortage(shortage: Shortage): void {
    this.shortages = [...this.shortages, shortage];
  }

  removeShortage(shortage: Shortage): void {
    const text = JSON.stringify(shortage);
    this.shortages = this.shortages.filter((each) => JSON.stringify(each) !== text);
  }

  async launch(fleet: FleetRequest): Promise<FleetResult> {
    const parameters = parametersOf(fleet);
    const before = this.accepted.get(fleet.clientToken);
    if (before?.parameters === parameters) return before.result;
    if (before !== undefined) return this.refuseToken(before.result);
    const lines = await this.linesOf(fleet);
    const faults: FleetFault[] = [];
    const instances: Machine[] = [];
    let left = lines;
    for (const _ of fleet.claims) {
      const had = left.findIndex((line) => {
        const fault = this.faultOf(fleet, line);
        if (fault !== undefined) faults.push(fault);
        return fault === undefined;
      });
      left = had < 0 ? [] : left.slice(had);
      const [line] = left;
      if (line !== undefined) instances.push(this.start(fleet, line));
    }
    const result = { instances, faults };
    this.accepted.set(fleet.clientToken, { parameters, result });
    return result;
  }

  /** A token said again with something else: refused for good once all it launched is visible. */
  private refuseToken({ instances }: FleetResult): FleetResult {
    const message = 'The client token was used before with other parameters';
    const launched = instances.flatMap(({ id }) => this.machines.get(id) ?? []);
    const newestMs = Math.max(...launched.map((each) => each.launchedAtMs));
    const isSettled = launched.length > 0 && this.timeline.nowMs() >= newestMs + VISIBLE_MS;
    if (!isSettled) throw new PortError('unknown', TOKEN_USED, message);
    const fault = { kind: 'unknown', code: TOKEN_USED, message, offering: undefined } as const;
    return { instances: [], faults: [fault] };
  }

  /** Charges for running instances follow, as those of EC2 do. */
  reprice({ instanceType, capacityType, zone, price }: MachinePrice): void {
    for (const [id, machine] of this.machines) {
      const { offering } = machine;
      if (machine.instanceType !== instanceType || machine.capacityType !== capacityType) continue;
      if (zone !== undefined && zone !== machine.zone) continue;
      this.machines.set(id, { ...machine, offering: { ...offering, listPrice: price } });
    }
  }

  async list(): Promise<readonly Instance[]> {
    return [...this.machines.values()];
  }

  async describe(ids: readonly string[]): Promise<readonly Instance[]> {
    return ids.flatMap((id) => this.machines.get(id) ?? []);
  }

  /** What EC2 does to the spot request of an instance that it warns of. */
  takeBack(id: string): void {
    this.takenBack.add(id);
  }

  async spotRequests(instanceIds: readonly string[]): Promise<readonly SpotRequest[]> {
    const spot = (await this.describe(instanceIds)).filter((each) => each.capacityType === 'spot');
    return spot.map(({ id }) => ({
      instanceId: id,
      statusCode: this.takenBack.has(id) ? 'marked-for-termination' : 'fulfilled',
    }));
  }

  async terminate(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const machine = this.machines.get(id);
      if (machine === undefined || machine.state === 'shutting-down') continue;
      this.machines.set(id, { ...machine, state: 'shutting-down' });
      this.timeline.after(SHUTDOWN_MS, () => {
        // Not what it was when it was told to end: its reservation may have ended since.
        const reservationId = this.machines.get(id)?.reservationId;
        this.machines.delete(id);
        if (reservationId !== undefined) this.reservations.tell(reservationId);
        this.onGone(machine);
      });
    }
  }

  /** Cancelled or over: what runs in it is on-demand from now on. */
  endReservation(reservationId: string): void {
    this.reservations.end(reservationId);
    for (const machine of this.machinesIn(reservationId)) {
      const { id, type, zone } = machine;
      const offering = type.offerings.find(
        (each) => each.zone === zone && each.capacityType === ON_DEMAND,
      );
      if (offering === undefined) continue;
      const own = { capacityType: ON_DEMAND, reservationId: undefined, offering } as const;
      this.machines.set(id, { ...machine, ...own });
    }
  }

  private machinesIn(reservationId: string): readonly Machine[] {
    return [...this.machines.values()].filter((each) => each.reservationId === reservationId);
  }

  async tag(id: string, tags: Labels): Promise<void> {
    const machine = this.machines.get(id);
    if (machine === undefined) return;
    this.machines.set(id, { ...machine, tags: { ...machine.tags, ...tags } });
  }

  /** Machines of the simulated world fail only when a scenario says so. */
  async statuses(): Promise<readonly InstanceStatus[]> {
    return [];
  }

  async removeLaunchTemplates(): Promise<void> {}

  /** The lines in the order in which the strategy tries them. */
  private async linesOf(fleet: FleetRequest): Promise<readonly Line[]> {
    const types = await this.catalog.instanceTypes(fleet.nodeClass);
    const byName = new Map(types.map((type) => [type.name, type]));
    const lines = fleet.overrides.flatMap((override): readonly Line[] => {
      const type = byName.get(override.instanceType);
      const offering = type?.offerings.find(
        (each) =>
          each.zone === override.zone &&
          each.capacityType === fleet.capacityType &&
          each.reservation?.id === override.reservationId,
      );
      return type === undefined || offering === undefined ? [] : [{ override, type, offering }];
    });
    const rank = ({ override, offering }: Line): number =>
      isPrioritised(fleet) ? override.priority : offering.listPrice;
    return lines.sort(
      (a, b) =>
        rank(a) - rank(b) ||
        (a.type.name < b.type.name ? -1 : a.type.name > b.type.name ? 1 : 0) ||
        (a.offering.zone < b.offering.zone ? -1 : 1),
    );
  }

  /** Undefined: it can be launched. What is reserved is never short. */
  private faultOf(fleet: FleetRequest, line: Line): FleetFault | undefined {
    const { type, offering } = line;
    if (offering.reservation !== undefined) {
      const { id } = offering.reservation;
      const code = this.reservations.faultOf(id);
      if (code === undefined) return undefined;
      return { ...faultOf(fleet, line, code, `${code}: ${id}`), kind: 'reservation' };
    }
    const { capacityType } = fleet;
    const key = { instanceType: type.name, zone: offering.zone, capacityType };
    if (!this.shortages.some((each) => isShort(each, key))) return undefined;
    const message = `no ${capacityType} capacity for ${type.name} in ${offering.zone}`;
    return faultOf(fleet, line, 'InsufficientInstanceCapacity', message);
  }

  private start(fleet: FleetRequest, { type, offering, override }: Line): Machine {
    const machine: Machine = {
      id: `i-${this.ids.text(HEX, 17)}`,
      instanceType: type.name,
      zone: offering.zone,
      capacityType: fleet.capacityType,
      reservationId: override.reservationId,
      imageId: override.imageId,
      launchedAtMs: this.timeline.nowMs(),
      state: 'running',
      tags: fleet.tags,
      fleet,
      type,
      offering,
      subnetId: override.subnetId ?? '',
    };
    this.machines.set(machine.id, machine);
    if (override.reservationId !== undefined) {
      this.reservations.tell(override.reservationId);
    }
    this.onLaunch(machine);
    return machine;
  }
}

function faultOf(
  { capacityType }: FleetRequest,
  { type, offering: { zone, reservation } }: Line,
  code: string,
  message: string,
): FleetFault {
  const offering = {
    instanceType: type.name,
    zone,
    capacityType,
    reservationId: reservation?.id,
  };
  return { kind: 'shortage', code, message, offering };
}
