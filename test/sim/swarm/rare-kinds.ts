import type { Json } from '../../../shared/sim/json.ts';
import type { Prng } from '../../../shared/sim/prng.ts';
import { nodePool } from '../small-world.ts';
import { type ClusterPause, drawPauses } from './cluster-pauses.ts';
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
  /** Nodes of NodePool `default` are to be so old; they are worth moving long before. */
  readonly leastAgeMinutes: number | undefined;
  /** Within a minute no move of NodePool `default` pays back, though others are cheaper. */
  readonly isHorizonShort: boolean;
  /** From when on its nodes are worth moving, but for `minValues` or the horizon. */
  readonly dearerFromMinute: number | undefined;
  /** From when on spot can be had: several nodes of NodePool `default` are fallbacks then. */
  readonly spotFromMinute: number | undefined;
  /** People change the number of static nodes again and again. */
  readonly isRescaled: boolean;
  /** Of the whole cluster; none in worlds that are about moves. */
  readonly pauses: readonly ClusterPause[];
}

export const NO_RARE_KINDS: RareKinds = {
  replicas: undefined,
  scheduled: [],
  minValues: undefined,
  window: undefined,
  heldAgain: undefined,
  leastAgeMinutes: undefined,
  isHorizonShort: false,
  dearerFromMinute: undefined,
  spotFromMinute: undefined,
  isRescaled: false,
  pauses: [],
};

/** More than there are of the largest size: pods may not be put together on few large nodes. */
const MANY_TYPES: MinValues = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'Exists',
  minValues: 6,
};

/** All of them: once what a node has is dearer, too few are left to replace it by. */
const ALL_FAMILIES: MinValues = {
  key: 'karpenter.k8s.aws/instance-family',
  operator: 'Exists',
  minValues: 4,
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
  const isIn = (from: number, until: number): boolean => kind >= from && kind < until;
  // Drawn with what there was before, so that seeds of no new kind stay as they are.
  const isRescaled = isIn(0.71, 0.75);
  const isNarrow = isIn(0.77, 0.81);
  const isHorizonShort = isIn(0.82, 0.86);
  const isPaused = random.next() < 0.4;
  const pauses = drawPauses(random);
  const own = isIn(0.65, 0.69) ? MANY_TYPES : isNarrow ? ALL_FAMILIES : undefined;
  const kinds: RareKinds = {
    replicas: isStatic || isRescaled ? replicas : undefined,
    scheduled: isScheduled ? scheduled : [],
    minValues: own ?? (hasMinValues ? minValues : undefined),
    window: kind < 0.1 ? window : undefined,
    heldAgain: kind >= 0.9 ? workload : undefined,
    leastAgeMinutes: isIn(0.53, 0.57) ? window.fromMinute - 10 : undefined,
    isHorizonShort,
    dearerFromMinute: isNarrow || isHorizonShort ? window.fromMinute - 10 : undefined,
    spotFromMinute: isIn(0.6, 0.64) ? replicas * 4 : undefined,
    isRescaled,
    pauses: [],
  };
  return isPaused && !isOfOnePool(kinds) ? { ...kinds, pauses } : kinds;
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
export function isAboutMoves(kinds: RareKinds): boolean {
  const { window, heldAgain, leastAgeMinutes, dearerFromMinute } = kinds;
  return [window, heldAgain, leastAgeMinutes, dearerFromMinute].some((each) => each !== undefined);
}

/** What the world is about is said of one NodePool. */
export function isOfOnePool(kinds: RareKinds): boolean {
  return isAboutMoves(kinds) || kinds.spotFromMinute !== undefined;
}

export function fixedPool(replicas: number): Json {
  return { ...nodePool(['on-demand'], { replicas }), metadata: { name: FIXED } };
}
