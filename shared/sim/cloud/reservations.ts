import type { Labels } from '../../core/model/labels.ts';
import type { CapacityReservation, SelectorTerm } from '../../core/model/node-class.ts';
import type { Network } from '../../ports.ts';
import type { Timeline } from '../timeline.ts';

type Found = Awaited<ReturnType<Network['reservations']>>;

/** What the account has reserved. */
export interface ReservationTerms {
  /** `cr-…`. */
  readonly id: string;
  readonly instanceType: string;
  readonly zone: string;
  readonly instances: number;
  readonly reservationType: CapacityReservation['reservationType'];
  readonly tags: Labels;
  /** Undefined: it lasts until it is cancelled. */
  readonly endsAtMs: number | undefined;
}

/** EC2 begins to terminate the instances of a Capacity Block so long before its end. */
export const BLOCK_TERMINATES_MS = 30 * 60_000;
/** And the adapter of the real cloud says so long before that. */
const BLOCK_EXPIRING_MS = BLOCK_TERMINATES_MS + 10 * 60_000;

/** What is used of a reservation is told so much later. */
const LAG_MS = 5_000;

/** Why EC2 launches nothing into a reservation. */
export type ReservationFault =
  | 'ReservationCapacityExceeded'
  | 'InvalidCapacityReservationState.Unavailable';

/** Only launches that name a reservation go into it. */
const MATCH_CRITERIA = 'targeted';

/** The simulated account owns all of them, whatever its number is. */
function isMatch(term: SelectorTerm, { id, tags }: ReservationTerms): boolean {
  const { id: named = id, instanceMatchCriteria = MATCH_CRITERIA } = term;
  const isTagged = Object.entries(term.tags ?? {}).every(([key, value]) =>
    value === '*' ? key in tags : tags[key] === value,
  );
  return named === id && instanceMatchCriteria === MATCH_CRITERIA && isTagged;
}

/**
 * On-demand capacity reservations and Capacity Blocks of the simulated account.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/capacity-reservations-using.html
 */
export class SimulatedReservations {
  private readonly timeline: Timeline;
  private readonly terms = new Map<string, ReservationTerms>();
  private readonly instancesIn: (id: string) => number;
  private readonly ended = new Set<string>();
  /** What somebody else in the account uses of each. */
  private readonly others = new Map<string, number>();
  /** How many instances of each EC2 says are used. */
  private readonly told = new Map<string, number>();

  /** `instancesIn`: how many of the cluster's instances are in one. */
  constructor(timeline: Timeline, instancesIn: (id: string) => number) {
    this.timeline = timeline;
    this.instancesIn = instancesIn;
  }

  add(terms: ReservationTerms): void {
    this.terms.set(terms.id, terms);
  }

  has(id: string): boolean {
    return this.terms.has(id);
  }

  /** The active ones. */
  async matching(terms: readonly SelectorTerm[]): Promise<Found> {
    return [...this.terms.values()]
      .filter(({ id }) => this.isActive(id))
      .filter((each) => terms.some((term) => isMatch(term, each)))
      .map((each) => ({
        id: each.id,
        instanceType: each.instanceType,
        zone: each.zone,
        ownerID: '',
        instanceMatchCriteria: MATCH_CRITERIA,
        reservationType: each.reservationType,
        interruptible: false,
        state: this.isExpiring(each.id) ? 'expiring' : 'active',
        endsAtMs: each.endsAtMs,
        available: Math.max(0, each.instances - (this.told.get(each.id) ?? 0)),
      }));
  }

  /** Undefined: an instance may be launched into it. */
  faultOf(id: string): ReservationFault | undefined {
    const terms = this.terms.get(id);
    if (terms === undefined || !this.isActive(id) || this.isBlockNear(terms, BLOCK_TERMINATES_MS)) {
      return 'InvalidCapacityReservationState.Unavailable';
    }
    return this.usedOf(id) < terms.instances ? undefined : 'ReservationCapacityExceeded';
  }

  /** Whether it is a Capacity Block that is about to end, and has been for so long. */
  isExpiring(id: string | undefined, forMs = 0): boolean {
    return this.isBlockNear(this.terms.get(id ?? ''), BLOCK_EXPIRING_MS - forMs);
  }

  /** After an instance has come into it or has gone: what EC2 says follows. */
  tell(id: string): void {
    this.timeline.after(LAG_MS, () => {
      this.told.set(id, this.usedOf(id));
    });
  }

  /** Somebody else has launched instances into it, or has ended them. */
  setOthers(id: string, instances: number): void {
    this.others.set(id, instances);
    this.tell(id);
  }

  /** Cancelled or over: instances in it run on, and are none of its any more. */
  end(id: string): void {
    this.ended.add(id);
  }

  isActive(id: string): boolean {
    return this.terms.has(id) && !this.ended.has(id);
  }

  private isBlockNear(terms: ReservationTerms | undefined, beforeMs: number): boolean {
    if (terms?.reservationType !== 'capacity-block' || terms.endsAtMs === undefined) return false;
    return this.timeline.nowMs() >= terms.endsAtMs - beforeMs;
  }

  private usedOf(id: string): number {
    return this.instancesIn(id) + (this.others.get(id) ?? 0);
  }
}
