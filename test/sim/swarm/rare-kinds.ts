import type { Json } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { nodePool } from '../small-world.ts';
import { one } from './one.ts';

/** The NodePool with `replicas`. */
export const FIXED = 'fixed';

/** Minutes from the beginning of the world, which is midnight. */
export interface LongWindow {
  readonly fromMinute: number;
  readonly minutes: number;
}

/** So many values there must be to choose from. */
export interface MinValues {
  readonly key: 'karpenter.k8s.aws/instance-family' | 'node.kubernetes.io/instance-type';
  readonly operator: 'Exists';
  readonly minValues: number;
}

/** What few worlds have; a world with nothing of it is as `Setting` alone says. */
export interface RareKinds {
  /** How many nodes NodePool `fixed` has in the beginning; undefined: there is none. */
  readonly replicas: number | undefined;
  /** Budgets of NodePool `default` with a schedule; nobody edits them. */
  readonly scheduled: readonly Json[];
  /** What NodePool `default` wants several values of. */
  readonly minValues: MinValues | undefined;
  /** In which NodePool `default` loses no node; nodes are worth moving shortly before. */
  readonly window: LongWindow | undefined;
  /**
   * The workload whose PodDisruptionBudget lets pods go for less than a minute, again and again:
   * moves of its nodes begin, and are held once the replacement is ready.
   */
  readonly heldAgain: string | undefined;
}

export const NO_RARE_KINDS: RareKinds = {
  replicas: undefined,
  scheduled: [],
  minValues: undefined,
  window: undefined,
  heldAgain: undefined,
};

/** With a generator of its own, so that everything else of a seed stays as it is. */
export function drawKinds(random: Prng, workloads: readonly string[]): RareKinds {
  const isStatic = random.next() < 0.15;
  const replicas = random.between(1, 3);
  const isScheduled = random.next() < 0.2;
  const scheduled = [scheduledBudget(random)];
  const hasMinValues = random.next() < 0.15;
  const minValues = one<MinValues>(random, [
    { key: 'karpenter.k8s.aws/instance-family', operator: 'Exists', minValues: 2 },
    { key: 'node.kubernetes.io/instance-type', operator: 'Exists', minValues: 3 },
  ]);
  const kind = random.next();
  const window = { fromMinute: random.between(24, 44), minutes: random.between(70, 100) };
  const workload = one(random, workloads);
  return {
    replicas: isStatic ? replicas : undefined,
    scheduled: isScheduled ? scheduled : [],
    minValues: hasMinValues ? minValues : undefined,
    window: kind < 0.1 ? window : undefined,
    heldAgain: kind >= 0.9 ? workload : undefined,
  };
}

/** For some minutes of each hour. */
function scheduledBudget(random: Prng): Json {
  const reasons = one<Json>(random, [
    {},
    { reasons: ['Underutilized'] },
    { reasons: ['Drifted', 'Empty'] },
  ]);
  return {
    nodes: one(random, ['0', '1', '20%']),
    schedule: `${random.between(0, 59)} * * * *`,
    duration: `${random.between(8, 25)}m`,
    ...reasons,
  };
}

/** Moves of nodes are what the world is about: they cost what they did not cost before. */
export function isAboutMoves({ window, heldAgain }: RareKinds): boolean {
  return window !== undefined || heldAgain !== undefined;
}

export function fixedPool(replicas: number): Json {
  return { ...nodePool(['on-demand'], { replicas }), metadata: { name: FIXED } };
}
