import type { CapacityType } from './labels.ts';
import type { Resources } from './resources.ts';

/** What the system keeps for itself, by the part that takes it. */
export interface Overhead {
  readonly kubeReserved: Resources;
  readonly systemReserved: Resources;
  readonly evictionThreshold: Resources;
}

/** One way to buy an instance type: a zone and a capacity type (and a reservation). */
export interface Offering {
  readonly zone: string;
  /** Undefined where the source does not say. */
  readonly zoneId: string | undefined;
  readonly capacityType: CapacityType;
  /** An hour's price after overlays, in the region's currency: what decisions compare. */
  readonly price: number;
  /** An hour's price before overlays, in the region's currency. */
  readonly listPrice: number;
  /** The overlay that changed the price; undefined = list price. */
  readonly priceOverlay: string | undefined;
  /** False while a shortage bars it; such an offering is never chosen. */
  readonly available: boolean;
  readonly reservation: Reservation | undefined;
  /** Added to the type's capacity and overhead on this offering only. */
  readonly capacityOverride: Resources | undefined;
  readonly overheadOverride: Overhead | undefined;
}

export interface Reservation {
  readonly id: string;
  readonly type: 'default' | 'capacity-block';
  /** Instances still free in it. */
  readonly capacity: number;
  /** Its owner may take it back; undefined: no. */
  readonly interruptible?: boolean;
}

/**
 * A machine shape as one NodePool sees it. `labels` lists the values that a node of the type may
 * have (several only where the choice is open); null: such a node never has the label. A key that
 * is not listed is not described by the type.
 */
export interface InstanceType {
  readonly name: string;
  readonly labels: Readonly<Record<string, readonly string[] | null>>;
  readonly capacity: Resources;
  readonly overhead: Overhead;
  readonly offerings: readonly Offering[];
  /** Overlays that added to the capacity, in alphabetical order. */
  readonly capacityOverlays: readonly string[];
  /** Volumes that a node of the type can attach, by CSI driver; undefined = unknown, no limit. */
  readonly attachLimits: Readonly<Record<string, number>> | undefined;
}
