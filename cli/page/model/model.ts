/** What a page shows: plain data, which the page carries with it for its script. */
import type { Currency } from '../../../shared/core/model/currency.ts';
import type { Frame, History } from '../../packing/film.ts';
import type { Ladder, Lifetime, NodeState, PodCount, RunnerUpText } from '../../packing/packing.ts';

export type { Frame, History, Ladder, PodCount };

export type Amounts = Readonly<Record<string, number>>;

export interface WorkloadModel {
  /** `namespace/name`. */
  readonly label: string;
  readonly kind: string;
  /** One pod's, in milli-cores, bytes or units. */
  readonly requests: Amounts;
  /** Its place among the colours; undefined: a DaemonSet's, which are all alike. */
  readonly colour: number | undefined;
}

export interface NodeModel {
  readonly name: string;
  /** The NodeClaim; empty: none, or of that name. */
  readonly claim: string;
  readonly pool: string;
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly listPrice: number | null;
  readonly price: number | null;
  readonly overlays: readonly string[];
  /** What overlays have added to its capacity. */
  readonly overlaid: Amounts;
  readonly state: NodeState | 'starting';
  readonly allocatable: Amounts;
  readonly reserved: Amounts;
  readonly pods: readonly PodCount[];
  readonly ladder: number | null;
  readonly runnerUp: RunnerUpText | null;
  readonly why: string;
  /** Why it goes, from when it is drained; empty: it stays, or `why` says so. */
  readonly went: string;
  readonly life: Lifetime | null;
}

/** One packing: nodes and what is on them. */
export interface Scene {
  readonly title: string;
  readonly workloads: readonly WorkloadModel[];
  readonly ladders: readonly Ladder[];
  readonly nodes: readonly NodeModel[];
  /** Drawn as a bar each, in this order. */
  readonly resources: readonly string[];
}

export interface CostRow {
  readonly label: string;
  /** Null: not known. */
  readonly perHour: number | null;
  readonly note: string;
  readonly tone: 'before' | 'after' | 'bound';
}

export interface Unplaced {
  readonly why: string;
  readonly pods: readonly string[];
}

/** Something decided, for one object or for several alike. */
export interface DecisionModel {
  /** Seconds since the start; undefined: there is no time. */
  readonly at: number | undefined;
  readonly action: string;
  readonly object: string;
  /** Objects of which the same was decided. */
  readonly others: readonly string[];
  readonly why: string;
}

/** Something that was not done. */
export interface StayModel {
  /** An example. */
  readonly object: string;
  /** How many beside it at one time, at most. */
  readonly more: number;
  readonly why: string;
  /** Who did not do it. */
  readonly useCase: string;
  /** Seconds since the start. */
  readonly first: number;
  readonly last: number;
  /** How many passes said so; null: it is a span of time. */
  readonly times: number | null;
}

/** What several scenes have in one respect, in the order of the scenes. */
export type Difference = readonly [what: string, values: readonly string[]];

export interface Headline {
  readonly value: string;
  readonly label: string;
}

/** What NodeOverlays make of an instance type with one capacity type in one NodePool. */
export interface PriceChange {
  readonly pool: string;
  readonly type: string;
  readonly capacityType: string;
  /** The lowest over the zones. */
  readonly listPrice: number;
  readonly price: number;
  /** What a NodeOverlay has changed of its capacity, as it is then; empty: nothing. */
  readonly capacity: string;
}

/** A level over time: its value from a moment on. */
export type Steps = readonly (readonly [at: number, value: number])[];

/** What one of two has over the same time. */
export interface Side {
  readonly name: string;
  readonly nodes: Steps;
  readonly cost: Steps;
  readonly pending: Steps;
}

/** Two beside each other. */
export interface Sides {
  readonly seconds: number;
  readonly sides: readonly [Side, Side];
  /** What both have, in the order of the sides. */
  readonly figures: readonly Difference[];
}

export interface PageModel {
  readonly command: string;
  readonly subject: string;
  /** The answer, in a sentence. */
  readonly lead: string;
  readonly headlines: readonly Headline[];
  readonly facts: readonly (readonly [name: string, value: string])[];
  readonly currency: Currency;
  readonly costs: readonly CostRow[];
  /** Whether costs are shown for a month, too; not where they are no forecast. @default true */
  readonly hasMonths?: boolean;
  readonly verdict: string;
  readonly scenes: readonly Scene[];
  readonly history: History | null;
  readonly decisions: readonly DecisionModel[];
  /** What was not done, and why. */
  readonly stays: readonly StayModel[];
  /** What happened beside decisions. */
  readonly events: readonly DecisionModel[];
  readonly unplaced: readonly Unplaced[];
  /** Undefined: the command does not compare prices before and after NodeOverlays. */
  readonly priceChanges?: readonly PriceChange[];
  /** In what the scenes differ; undefined: they are not ways of the same. */
  readonly differences?: readonly Difference[];
  /** Undefined: the command does not lay two beside each other over time. */
  readonly sides?: Sides;
  /** What makes one of the ways what it is; empty or undefined: nothing has to be said. */
  readonly basis?: string;
  readonly notes: readonly string[];
}
