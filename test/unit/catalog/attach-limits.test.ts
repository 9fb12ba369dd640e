import { describe, expect, test } from 'vitest';
import { attachLimitsOf } from '../../../shared/catalog/attach-limits.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { DEFAULT_LAUNCH_SETTINGS, type LaunchSettings } from '../../../shared/catalog/settings.ts';

const virginia = await loadCatalog('us-east-1');

function attachable(name: string, settings: Partial<LaunchSettings> = {}): number | undefined {
  const facts = virginia.types.find((each) => each.name === name);
  if (facts === undefined) throw new Error(`${name} is not in the catalog`);
  return attachLimitsOf(facts, { ...DEFAULT_LAUNCH_SETTINGS, ...settings })['ebs.csi.aws.com'];
}

const volume = { deviceName: '/dev/xvda', rootVolume: false, volumeSize: 2 ** 30 };

describe('volume limits', () => {
  test.each([
    ['m5.large', 27 - 1],
    ['m5d.large', 26 - 1],
    ['m5.metal', 31 - 1],
    ['g5.48xlarge', 9 - 1],
    ['i3en.24xlarge', 19 - 1],
    ['m7i.large', 32 - 1],
    ['m8gd.24xlarge', 64 - 1],
    ['r7i.48xlarge', 128 - 1],
    ['c7i.metal-48xl', 79 - 1],
    ['p5.48xlarge', 64 - 1],
    ['m4.large', 39 - 1],
    ['inf2.48xlarge', 28 - 1],
  ])('%s: %i', (name, limit) => {
    expect(attachable(name)).toBe(limit);
  });

  test('volumes that the class maps count', () => {
    expect(attachable('m7i.large', { blockDevices: [volume, volume, volume] })).toBe(29);
    expect(attachable('m7i.large', { imageFamily: 'Bottlerocket' })).toBe(30);
  });

  test('further network interfaces count where they share the limit', () => {
    const each = { networkCardIndex: 0, efaOnly: false };
    const networkInterfaces = [0, 1, 2].map((deviceIndex) => ({ ...each, deviceIndex }));
    expect(attachable('m5.4xlarge', { networkInterfaces })).toBe(27 - 1 - 2);
    expect(attachable('m7i.4xlarge', { networkInterfaces })).toBe(32 - 1);
  });

  test('one volume at least', () => {
    const blockDevices = Array.from({ length: 12 }, () => volume);
    expect(attachable('g5.48xlarge', { blockDevices })).toBe(1);
  });
});
