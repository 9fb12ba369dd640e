import type { World } from '../../../shared/sim/world.ts';
import type { Karpenter } from './karpenter.ts';
import type { Setting } from './setting.ts';
import type { Users } from './users.ts';

/** Clocks of invocations and reads may differ by so much from what was true. */
export const TOLERANCE_MS = 4_000;

export interface CheckerSettings {
  readonly world: World;
  readonly setting: Setting;
  readonly karpenter: Karpenter;
  readonly users: Pick<
    Users,
    'touched' | 'protectedAtMs' | 'pools' | 'fixed' | 'havePricesChanged'
  >;
  /** Nothing has happened yet for which a NodePool could not launch what it should. */
  readonly isCapacityCertain: () => boolean;
  readonly onProblem: (problem: string) => void;
}
