import type { Currency } from '../model/currency.ts';

/** An amount of money as AWS bills it. */
export interface Money {
  readonly amount: number;
  readonly currency: Currency;
}

/** An offering with its price an hour, after overlays and in the price list. */
export interface PricedOffering {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  readonly price: Money;
  readonly listPrice: Money;
}

/**
 * A stage that eliminated instance types of a NodePool for a pod. A stage that leaves none is an
 * obstacle: the stages after it continue with what was left before, so that each obstacle is named.
 */
export interface Stage {
  /** The reason, its parameters and its sentence. */
  readonly code: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  readonly what: string;
  readonly before: number;
  readonly after: number;
}

/** The stages that left no type. */
export function obstaclesIn(stages: readonly Stage[]): readonly Stage[] {
  return stages.filter(({ after }) => after === 0);
}

/** Why EC2 has ended an instance, as a parameter. */
export const STATE_REASON = {
  type: 'text',
  what: 'StateReason of the instance; empty: EC2 does not say',
} as const;

/** What ends a sentence; records of older versions have no cause. */
export function because(cause: string | undefined): string {
  return cause === undefined || cause === '' ? '' : `: ${cause}`;
}

/** How many types a stage left, with what took the others away; a stage that left none is a cause. */
export function stageText({ what, after }: Pick<Stage, 'what' | 'after'>): string {
  return `${after === 0 ? 'cause: ' : ''}${after} after ${what}`;
}

/** The stages that left a NodePool without an instance type for a pod. */
export interface PoolStages {
  readonly nodePool: string;
  readonly stages: readonly Stage[];
}

/** Objects that have a reason in common. */
export interface Tally {
  readonly code: string;
  readonly count: number;
  /** One of the objects: `Kind/name`. */
  readonly example: string;
  /** What the reason says of it. */
  readonly text: string;
}

/** A filter of the offerings for a launch, and what was left after it. */
export interface Remainder {
  readonly what: string;
  readonly left: number;
}

/** The values of each type of parameter; all of them are plain JSON. */
interface Values {
  readonly text: string;
  readonly texts: readonly string[];
  readonly count: number;
  readonly number: number;
  readonly money: Money;
  /** ISO 8601, UTC. */
  readonly time: string;
  readonly offering: PricedOffering;
  readonly pools: readonly PoolStages[];
  readonly remainders: readonly Remainder[];
  readonly tallies: readonly Tally[];
}

export type ParameterType = keyof Values;

/** One parameter of a reason. */
export interface Parameter<Type extends ParameterType = ParameterType> {
  readonly type: Type;
  /** What it holds, for people. */
  readonly what: string;
}

export type Parameters = Readonly<Record<string, Parameter>>;

export type ValuesOf<All extends Parameters> = {
  readonly [Name in keyof All]: Values[All[Name]['type']];
};

/** What people read about a reason, and the types of its parameters. */
export interface Definition {
  /** What it means, in the field's words. */
  readonly meaning: string;
  /** What a person can do, or that there is nothing to do. */
  readonly remedy: string;
  readonly parameters: Parameters;
}

/**
 * Definitions by code: plain data, without calls and spreads, so that bundles of functions, which
 * need only the sentences, leave them out.
 */
export type Definitions = Readonly<Record<string, Definition>>;

/** By code, the sentence of each reason: the only place where it is put in words. */
export type Sentences<All extends Definitions> = {
  readonly [Code in keyof All]: (values: ValuesOf<All[Code]['parameters']>) => string;
};

/** What no parameter changes. */
export const NONE = {} as const satisfies Parameters;

/** The parameter of reasons that name a limit group: what others hold of it. */
export const OTHERS = {
  type: 'texts',
  what: 'what other clusters hold of it, such as `15 nodes`; `not known` if the bucket does not answer',
} as const;

/** What a limit group leaves; decisions of earlier versions say nothing of other clusters. */
export function roomText(left: readonly string[], others: readonly string[] = []): string {
  const elsewhere = others.join(' and ');
  if (left.length === 0) return `what other clusters hold of it is ${elsewhere}`;
  const own = `${left.join(' and ')} left`;
  return elsewhere === '' ? own : `${own}, ${elsewhere} in other clusters`;
}
