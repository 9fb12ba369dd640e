import type { Condition } from './cluster.ts';
import type { Labels } from './labels.ts';
import type { RequirementExpression } from './requirement.ts';

/** One way to name cloud objects; its fields are AND-ed, the terms of a list are OR-ed. */
export interface SelectorTerm {
  readonly id?: string;
  readonly name?: string;
  readonly alias?: string;
  readonly owner?: string;
  readonly ssmParameter?: string;
  readonly instanceMatchCriteria?: 'open' | 'targeted';
  readonly ownerID?: string;
  /** `*` stands for any value. */
  readonly tags?: Labels;
}

/** Values of spec.amiFamily. */
export const FAMILY_NAMES = [
  'AL2',
  'AL2023',
  'Bottlerocket',
  'Custom',
  'Windows2019',
  'Windows2022',
  'Windows2025',
] as const;

export type ImageFamily = (typeof FAMILY_NAMES)[number];

export interface Subnet {
  readonly id: string;
  readonly zone: string;
  readonly zoneId: string | undefined;
}

export interface SecurityGroup {
  readonly id: string;
  readonly name: string | undefined;
}

/** A machine image and the instance types it is meant for. */
export interface Image {
  readonly id: string;
  readonly name: string | undefined;
  readonly deprecated: boolean;
  readonly requirements: readonly RequirementExpression[];
}

export interface CapacityReservation {
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly ownerID: string;
  readonly instanceMatchCriteria: 'open' | 'targeted';
  readonly reservationType: 'default' | 'capacity-block';
  readonly interruptible: boolean;
  readonly state: 'active' | 'expiring';
  readonly endsAtMs: number | undefined;
}

/**
 * An EC2NodeClass. `spec` is kept as the API has it beyond the fields that decisions read, so that
 * the adapter that writes launch templates and user data sees all of it.
 */
export interface NodeClass {
  readonly name: string;
  readonly uid: string;
  readonly generation: number;
  readonly annotations: Labels;
  readonly finalizers: readonly string[];
  readonly isDeleting: boolean;
  readonly subnetSelectorTerms: readonly SelectorTerm[];
  readonly securityGroupSelectorTerms: readonly SelectorTerm[];
  readonly capacityReservationSelectorTerms: readonly SelectorTerm[];
  readonly amiSelectorTerms: readonly SelectorTerm[];
  /** Named, or what the alias implies. */
  readonly imageFamily: ImageFamily;
  readonly role: string | undefined;
  readonly instanceProfile: string | undefined;
  readonly tags: Labels;
  /** The whole spec, defaults filled in, as plain JSON data. */
  readonly spec: Readonly<Record<string, unknown>>;
  readonly status: NodeClassStatus;
}

/** Names one spec of one EC2NodeClass among those of all clusters. */
export function versionOf({ uid, generation }: Pick<NodeClass, 'uid' | 'generation'>): string {
  return `${uid}/${generation}`;
}

export interface NodeClassStatus {
  readonly subnets: readonly Subnet[];
  readonly securityGroups: readonly SecurityGroup[];
  readonly images: readonly Image[];
  readonly capacityReservations: readonly CapacityReservation[];
  readonly instanceProfile: string | undefined;
  readonly conditions: readonly Condition[];
  /** The generation of the spec that all this is about; undefined: the one that is there. */
  readonly observedGeneration?: number | undefined;
}
