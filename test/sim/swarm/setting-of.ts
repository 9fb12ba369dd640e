import { Prng } from '../../../shared/sim/prng.ts';
import { withMorePools } from './more-pools.ts';
import { drawKinds, isOfOnePool, NO_RARE_KINDS } from './rare-kinds.ts';
import { drawReserved, withReserved } from './reserved.ts';
import { drawSetting, type Setting } from './setting.ts';
import { withStartupTaints } from './slow-nodes.ts';
import { withVolumes } from './volumes.ts';
import { withKinds } from './with-kinds.ts';

export interface SettingOptions {
  /** Without static NodePools, budgets with schedules, minValues and worlds about moves. */
  readonly isPlain?: boolean;
  /** Whether there are several NodePools. @default drawn from the seed, and not in plain worlds */
  readonly hasPools?: boolean;
  /** Whether the whole cluster may be paused. @default true, and false in plain worlds */
  readonly mayPause?: boolean;
  /** Whether the account may have reserved capacity. @default true, and false in plain worlds */
  readonly mayReserve?: boolean;
  /** Whether StatefulSets may have volumes. @default true, and false in plain worlds */
  readonly mayStore?: boolean;
  /** Whether pods may take long to be ready, or crash. @default true, and false in plain worlds */
  readonly mayBeLate?: boolean;
  /** Whether nodes may be slow to join, and flap. @default true, and false in plain worlds */
  readonly mayBeSlow?: boolean;
  /** Whether pods may fail, of Jobs and of nodes that run out. @default true, and false in plain worlds */
  readonly mayFail?: boolean;
  /** Whether quotas may keep pods from being created. @default true, and false in plain worlds */
  readonly mayBound?: boolean;
  /** Whether nodes may attach few volumes. @default true, and false in plain worlds */
  readonly mayLimitVolumes?: boolean;
  /** Whether pods may use devices of late plugins. @default true, and false in plain worlds */
  readonly mayHaveDevices?: boolean;
  /** Whether Nodes and NodeClaims may be removed by force. @default true, and false in plain worlds */
  readonly mayRemove?: boolean;
}

/** What the run of a seed begins with; each part has a generator of its own. */
export function settingOf(seed: number, options: SettingOptions): Setting {
  const { isPlain = false, mayPause = !isPlain, mayReserve = !isPlain } = options;
  const { mayStore = !isPlain, mayBeSlow = !isPlain } = options;
  const drawn = drawSetting(new Prng(seed, 'setting'));
  const names = drawn.workloads.map(({ name }) => name);
  const drawnKinds = isPlain ? NO_RARE_KINDS : drawKinds(new Prng(seed, 'kinds'), names);
  const kinds = mayPause ? drawnKinds : { ...drawnKinds, pauses: [] };
  const simple = withKinds(drawn, kinds);
  const pools = new Prng(seed, 'pools');
  const hasPools = (pools.next() < 0.5 && !isPlain) || options.hasPools === true;
  const isOne = options.hasPools === false || isOfOnePool(kinds);
  const setting = hasPools && !isOne ? withMorePools(simple, pools) : simple;
  const reservations = new Prng(seed, 'reservations');
  const isReserved = reservations.next() < 0.4 && mayReserve && !isOfOnePool(kinds);
  const all = isReserved ? withReserved(setting, drawReserved(reservations)) : setting;
  const stored = new Prng(seed, 'volumes').next() < 0.5 && mayStore ? withVolumes(all) : all;
  const agents = new Prng(seed, 'agents');
  return agents.next() < 0.4 && mayBeSlow ? withStartupTaints(stored, agents) : stored;
}
