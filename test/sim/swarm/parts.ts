import type { World } from '../../../shared/sim/world.ts';
import { addDevices } from './devices.ts';
import { failPods } from './failed-pods.ts';
import { boundPods } from './quotas.ts';
import { unreadyAtFirst } from './readiness.ts';
import { removeByForce } from './removed-nodes.ts';
import type { Setting } from './setting.ts';
import type { SettingOptions } from './setting-of.ts';
import { slowAtFirst } from './slow-nodes.ts';
import { detachSlowly, limitVolumes } from './volumes.ts';

export interface PartsSettings {
  readonly world: World;
  readonly setting: Setting;
  readonly seed: number;
  readonly options: SettingOptions;
  /** NodeClaims that somebody else is ending. */
  readonly touched: Set<string>;
  readonly mark: (what: string) => void;
}

/** What may befall a cluster beside faults: each part draws from the seed by itself. */
export function startParts(settings: PartsSettings): void {
  const { world, setting, seed, options, touched, mark } = settings;
  const { isPlain = false } = options;
  const { mayBeLate = !isPlain, mayBeSlow = !isPlain, mayFail = !isPlain } = options;
  const { mayBound = !isPlain, mayLimitVolumes = !isPlain, mayHaveDevices = !isPlain } = options;
  const { mayRemove = !isPlain } = options;
  if (setting.hasVolumes) detachSlowly(world, seed, mark);
  if (setting.hasVolumes && mayLimitVolumes) limitVolumes(world, seed, mark);
  if (mayBeLate) unreadyAtFirst({ world, setting, seed }, mark);
  if (mayBeSlow) slowAtFirst(world, seed, mark);
  if (mayFail) failPods(world, seed, mark);
  if (mayBound) boundPods(world, seed, mark);
  if (mayHaveDevices) addDevices(world, seed, mark);
  if (mayRemove) removeByForce({ world, touched }, seed, mark);
}
