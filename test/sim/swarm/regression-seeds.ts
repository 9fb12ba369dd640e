import type { SwarmOptions } from './swarm.ts';

/** Seeds that have found something, with what it was. */
export const REGRESSION_SEEDS: readonly {
  readonly seed: number;
  readonly options: SwarmOptions;
  readonly found: string;
}[] = [];
