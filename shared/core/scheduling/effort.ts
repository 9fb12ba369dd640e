import type { SchedulingSettings } from '../model/snapshot.ts';
import type { SearchEffort } from './packing/pattern-queue.ts';

/**
 * How long patterns are looked for that are combined. Steps: patterns looked at, and numbers of the
 * programme.
 */
export interface CombiningBudget {
  readonly least: number;
  /** More for plans that cost more an hour, up to `most`. */
  readonly perUsd: number;
  readonly most: number;
  /** Parts of nodes from these shares on are launched as whole ones: one combination for each. */
  readonly roundedFrom: readonly number[];
  /** Plans of so many USD an hour are worth all that follows. */
  readonly longCostLeast: number;
  /** The mix of pods is packed once without nodes. */
  readonly rehearsal: SearchEffort;
  /** For one launch option at a time, once short searches find no more. */
  readonly longSteps: number;
  /** And where those do not end: more for plans that cost more an hour, up to `longestMost`. */
  readonly longestLeast: number;
  readonly longestPerUsd: number;
  readonly longestMost: number;
  /** For combining what is left again and again: for each USD an hour of the plan, up to a bound. */
  readonly divesPerUsd: number;
  readonly divesMost: number;
}

/** Bounds on a large neighbourhood search. */
export interface ImprovingBudget {
  /** Tries in a row without a gain. */
  readonly tries: number;
  /** Steps of all plans together, of which the cheapest takes first: launches looked at, pods copied. */
  readonly most: number;
}

/** Bounds on making one node of two. */
export interface MergingBudget {
  /** Placed pods that all tries together copy. */
  readonly copied: number;
  /** Pairs of unlike nodes looked at. */
  readonly looks: number;
  /** Plans made of them. */
  readonly tries: number;
}

/** How many steps an effort gives to each part of a plan: nothing depends on the number of pods. */
export interface StepBudgets {
  /**
   * For all of a plan together: every attempt at it takes what it needs of the parts below from
   * these. Once they are spent, nodes are filled without searching.
   */
  readonly plan: number;
  /** The search that every way to pack begins with. */
  readonly usual: SearchEffort;
  /** A longer one; undefined: none. */
  readonly searched: SearchEffort | undefined;
  /** A longer one that revalues, where revaluing has paid. */
  readonly revalued: SearchEffort | undefined;
  readonly combining: CombiningBudget | undefined;
  /** Launches looked at while pods are placed one by one. */
  readonly growing: number;
  /** Launches looked at in plans that begin with what others leave over, beyond the first. */
  readonly leftOver: number;
  /** Undefined: plans stay as they are packed. */
  readonly improving: ImprovingBudget | undefined;
  readonly merging: MergingBudget | undefined;
}

const USUAL: SearchEffort = { searchSteps: 1000, searchedMax: 500_000 };
const LONG: SearchEffort = { searchSteps: 30_000, searchedMax: 4_000_000 };

const QUICK: StepBudgets = {
  plan: 12_000_000,
  usual: USUAL,
  searched: undefined,
  revalued: undefined,
  combining: undefined,
  growing: 100_000,
  leftOver: 0,
  improving: undefined,
  merging: undefined,
};

const NORMAL: StepBudgets = {
  plan: 36_000_000,
  usual: USUAL,
  searched: { searchSteps: 10_000, searchedMax: 500_000 },
  revalued: LONG,
  combining: {
    least: 800_000,
    perUsd: 2500,
    most: 16_000_000,
    roundedFrom: [1],
    longCostLeast: 5,
    rehearsal: LONG,
    longSteps: 20_000,
    longestLeast: 80_000,
    longestPerUsd: 32,
    longestMost: 320_000,
    divesPerUsd: 2000,
    divesMost: 2_000_000,
  },
  growing: 250_000,
  leftOver: 500_000,
  improving: { tries: 24, most: 250_000 },
  merging: { copied: 120_000, looks: 2000, tries: 200 },
};

const THOROUGH: StepBudgets = {
  plan: 240_000_000,
  usual: USUAL,
  searched: { searchSteps: 30_000, searchedMax: 4_000_000 },
  revalued: { searchSteps: 100_000, searchedMax: 10_000_000 },
  combining: {
    least: 4_000_000,
    perUsd: 10_000,
    most: 64_000_000,
    roundedFrom: [1, 0.5],
    longCostLeast: 0,
    rehearsal: LONG,
    longSteps: 100_000,
    longestLeast: 1_600_000,
    longestPerUsd: 32,
    longestMost: 1_600_000,
    divesPerUsd: 20_000,
    divesMost: 64_000_000,
  },
  growing: 2_000_000,
  leftOver: 1_000_000,
  improving: { tries: 48, most: 4_000_000 },
  merging: { copied: 500_000, looks: 5000, tries: 400 },
};

type Effort = SchedulingSettings['effort'];

/** The one place where an effort becomes bounds on steps; docs/concepts/packing.md has the table. */
const BUDGETS: Readonly<Record<Effort, StepBudgets>> = {
  quick: QUICK,
  normal: NORMAL,
  thorough: THOROUGH,
};

/**
 * The budgets by which plans are made, one after the other: a thorough plan is the better of the
 * normal one and one that took more steps.
 */
export function budgetsOf(effort: Effort): readonly StepBudgets[] {
  return effort === 'thorough' ? [BUDGETS.normal, BUDGETS.thorough] : [BUDGETS[effort]];
}
