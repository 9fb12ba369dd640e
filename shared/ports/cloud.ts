import type { OfferingKey, SubnetKey } from '../core/launch/bars.ts';
import type { LaunchFaultKind } from '../core/launch/faults.ts';
import type { AllocationStrategy } from '../core/launch/launch-request.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import type { CapacityType, Labels } from '../core/model/labels.ts';
import type {
  CapacityReservation,
  Image,
  NodeClass,
  SecurityGroup,
  SelectorTerm,
  Subnet,
} from '../core/model/node-class.ts';
import type { Resources } from '../core/model/resources.ts';
import type { Taint } from '../core/model/taint.ts';

export type { AllocationStrategy, OfferingKey, SubnetKey };

/** One line of a fleet: a type in a subnet with an image. */
export interface FleetOverride {
  readonly instanceType: string;
  readonly zone: string;
  /** Undefined: the launch template names the zone. */
  readonly subnetId: string | undefined;
  readonly imageId: string;
  readonly reservationId: string | undefined;
  /** USD an hour after overlays; lower is preferred where the strategy is a prioritised one. */
  readonly priority: number;
}

/** Equal claims launched in one call. */
export interface FleetRequest {
  /** Hash of the sorted uids of `claims`: the same group never launches twice. */
  readonly clientToken: string;
  /** Sorted by uid; one instance is wanted for each. */
  readonly claims: readonly { readonly name: string; readonly uid: string }[];
  readonly nodePool: string | undefined;
  readonly nodeClass: NodeClass;
  readonly capacityType: CapacityType;
  readonly reservationType: 'default' | 'capacity-block' | undefined;
  readonly strategy: AllocationStrategy;
  /** Cheapest first, at most 60 types. */
  readonly overrides: readonly FleetOverride[];
  /** Of the instances, volumes and the fleet. */
  readonly tags: Labels;
  /** What the kubelet registers the node with. */
  readonly nodeLabels: Labels;
  readonly taints: readonly Taint[];
  /** Pod capacity by instance type (`--max-pods`). */
  readonly podsMax: Readonly<Record<string, number>>;
  /** Whether a pod asks for EFA interfaces or an enclave. */
  readonly requests: Resources;
  /** `spec.context` is withheld when minValues were relaxed. */
  readonly sendContext: boolean;
}

export interface LaunchedInstance {
  /** `i-…`. */
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly capacityType: CapacityType;
  readonly reservationId: string | undefined;
  readonly imageId: string;
}

/** A line of the fleet that could not be had. */
export interface FleetFault {
  readonly kind: LaunchFaultKind;
  readonly code: string;
  readonly message: string;
  /** Undefined: the whole call. */
  readonly offering: OfferingKey | undefined;
  /** The subnet of the line. */
  readonly subnetId?: string | undefined;
}

/** `instances` may be fewer than the claims; the rest share `faults`. */
export interface FleetResult {
  readonly instances: readonly LaunchedInstance[];
  readonly faults: readonly FleetFault[];
}

/** An instance that carries this cluster's tags. */
export interface Instance extends LaunchedInstance {
  readonly launchedAtMs: number;
  readonly state: 'pending' | 'running' | 'stopping' | 'stopped' | 'shutting-down' | 'terminated';
  readonly tags: Labels;
  /**
   * Why it has ended or is about to, as EC2 has it: `Code: message`. Undefined where EC2 does not
   * say. https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_StateReason.html
   */
  readonly stateReason?: string | undefined;
}

/** A check on an instance that failed, or maintenance that EC2 has scheduled for it. */
export interface InstanceStatus {
  readonly instanceId: string;
  readonly kind: 'instance_status' | 'system_status' | 'event_status';
  readonly sinceMs: number;
  readonly description: string;
}

/** What EC2 says of the request by which it launched a spot instance. */
export interface SpotRequest {
  readonly instanceId: string;
  /** As EC2 has it, e.g. `fulfilled`, `marked-for-termination`. */
  readonly statusCode: string;
}

export interface Compute {
  /** Throws only where nothing is known about the outcome; the same token may then be repeated. */
  launch(fleet: FleetRequest): Promise<FleetResult>;
  /** Pending to shutting-down, with our tags; terminated ones are left out. */
  list(): Promise<readonly Instance[]>;
  /** Terminated ones as long as EC2 knows them; ids that it does not know are absent. */
  describe(ids: readonly string[]): Promise<readonly Instance[]>;
  /** Of these instances; those that are not spot are absent from the answer. */
  spotRequests(instanceIds: readonly string[]): Promise<readonly SpotRequest[]>;
  /** Repeated and unknown ids are not an error. */
  terminate(ids: readonly string[]): Promise<void>;
  tag(id: string, tags: Labels): Promise<void>;
  statuses(): Promise<readonly InstanceStatus[]>;
  /** Deletes the launch templates made for this NodeClass that no fleet of the last hour used. */
  removeLaunchTemplates(nodeClass: string, keep: 'used' | 'none'): Promise<void>;
  /**
   * Whether nodes of the class could be launched; throws a PortError whose code is the reason of
   * the condition ValidationSucceeded. Absent: nothing to ask.
   */
  check?(nodeClass: NodeClass): Promise<void>;
}

export interface Images {
  /** Newest first; empty = none found. */
  resolve(nodeClass: NodeClass): Promise<readonly Image[]>;
}

export interface Network {
  subnets(terms: readonly SelectorTerm[]): Promise<readonly (Subnet & FreeAddresses)[]>;
  securityGroups(terms: readonly SelectorTerm[]): Promise<readonly SecurityGroup[]>;
  reservations(
    terms: readonly SelectorTerm[],
  ): Promise<readonly (CapacityReservation & { readonly available: number })[]>;
}

export interface FreeAddresses {
  readonly freeAddresses: number;
}

export interface Profiles {
  /** The name of the class's own instance profile, or of that of its role, made or found. */
  ensure(nodeClass: NodeClass): Promise<string>;
  /** Removes all that were made for the class. */
  remove(nodeClass: NodeClass): Promise<void>;
}

/** Zones that are to be left alone for a while. */
export interface ZonalShifts {
  /**
   * Ids of the zones that ARC shifts the cluster away from now. Undefined: it has not said so far.
   * Never throws.
   */
  awayFrom(): Promise<ReadonlySet<string> | undefined>;
}

/** Instance types with prices, before overlays and with every offering that has a price. */
export interface Catalog {
  readonly region: string;
  /** Where the prices come from and of which day, for people. */
  readonly source: string;
  /** Types that the class can launch, with offerings in its subnets' zones and reservations. */
  instanceTypes(nodeClass: NodeClass): Promise<readonly InstanceType[]>;
}
