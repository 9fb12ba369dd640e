import { HOURS_A_MONTH } from '../../shared/core/duration.ts';
import type { Durations } from './durations.ts';
import type { Prices } from './prices.ts';

export type Reaction = 'watch' | 'tick';

/** What is added to a quiet month; each counts as none where it is not said. */
export interface Situations {
  /** Hours of the month in which a drain is blocked, of however many nodes. */
  readonly blockedHours?: number;
  /** Messages about instances of other clusters, a month. */
  readonly foreignMessages?: number;
  /** EKS writes each request of the API server to CloudWatch. */
  readonly auditLog?: boolean;
}

export interface CostInput extends Situations {
  readonly nodes: number;
  readonly pods: number;
  readonly reaction: Reaction;
  /** Launches for each node and day; as many nodes go. */
  readonly churn: number;
  /** How functions in a private network reach AWS; `none`: they are in none, or share a way. */
  readonly network: 'none' | 'nat' | 'endpoints';
  /** In which the functions are where they are in a network. */
  readonly zones: number;
  readonly prices: Prices;
  readonly durations: Durations;
  /** USD an hour on demand: of an average node, and of the machine that runs Karpenter. */
  readonly nodePrice: number;
  readonly karpenterNodePrice: number;
}

/** One line of the bill for a month. */
export interface Part {
  readonly name: string;
  readonly formula: string;
  readonly usd: number;
}

/** Of a month. */
export const MINUTES = HOURS_A_MONTH * 60;
const DAYS = HOURS_A_MONTH / 24;

/** Nodes that come in a month, and go. */
export function launches({ nodes, churn }: CostInput): number {
  return nodes * churn * DAYS;
}

/** `2,628,000` */
export function count(value: number): string {
  return String(Math.round(value)).replaceAll(/\B(?=(\d{3})+$)/g, ',');
}

/** At most two decimals, without zeros at the end. */
export function amount(value: number): string {
  return String(Number(value.toFixed(2)));
}
