import type { World } from '../../../shared/sim/world.ts';
import { addDevices } from './devices.ts';
import { failPods } from './failed-pods.ts';
import { boundPods } from './quotas.ts';
import { unreadyAtFirst } from './readiness.ts';
import type { Setting } from './setting.ts';
import type { SettingOptions } from './setting-of.ts';
import { slowAtFirst } from './slow-nodes.ts';
import { detachSlowly, limitVolumes } from './volumes.ts';

export interface PartsSettings {
  readonly world: World;
  readonly setting: Setting;
  readonly seed: number;
  readonly options: SettingOptions;
  readonly mark: (what: string) => void;
}

/** What may befall a cluster beside faults: each part draws from the seed by itself. */
export function startParts({ world, setting, seed, options, mark }: PartsSettings): void {
  const { isPlain = false } = options;
  const { mayBeLate = !isPlain, mayBeSlow = !isPlain, mayFail = !isPlain } = options;
  const { mayBound = !isPlain, mayLimitVolumes = !isPlain, mayHaveDevices = !isPlain } = options;
  if (setting.hasVolumes) detachSlowly(world, seed, mark);
  if (setting.hasVolumes && mayLimitVolumes) limitVolumes(world, seed, mark);
  if (mayBeLate) unreadyAtFirst({ world, setting, seed }, mark);
  if (mayBeSlow) slowAtFirst(world, seed, mark);
  if (mayFail) failPods(world, seed, mark);
  if (mayBound) boundPods(world, seed, mark);
  if (mayHaveDevices) addDevices(world, seed, mark);
}
