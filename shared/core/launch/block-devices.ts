import type { ImageFamily } from '../model/node-class.ts';

/** A volume that an instance starts with, as EC2 takes it. */
export interface LaunchVolume {
  readonly deviceName: string | undefined;
  /** GiB; undefined: that of the snapshot. */
  readonly sizeGib: number | undefined;
  readonly volumeType: string | undefined;
  readonly encrypted: boolean | undefined;
}

function gp3(deviceName: string, sizeGib: number): LaunchVolume {
  return { deviceName, sizeGib, volumeType: 'gp3', encrypted: true };
}

const AMAZON_LINUX = [gp3('/dev/xvda', 20)];
const WINDOWS = [gp3('/dev/sda1', 50)];

/** What an instance gets where its class maps no devices. */
export const DEFAULT_VOLUMES: Readonly<Record<ImageFamily, readonly LaunchVolume[]>> = {
  AL2: AMAZON_LINUX,
  AL2023: AMAZON_LINUX,
  Bottlerocket: [gp3('/dev/xvda', 4), gp3('/dev/xvdb', 20)],
  Custom: [],
  Windows2019: WINDOWS,
  Windows2022: WINDOWS,
  Windows2025: WINDOWS,
};

const BYTES: Readonly<Record<string, number>> = {
  Gi: 2 ** 30,
  G: 1e9,
  Ti: 2 ** 40,
  T: 1e12,
};

/** `100Gi`, `100G`, `2Ti` or `2T` in whole GiB, rounded up; undefined: not such a size. */
export function gibibytes(size: string): number | undefined {
  const [, count = '', unit = ''] = /^(\d+)(Gi|G|Ti|T)$/.exec(size) ?? [];
  const bytes = BYTES[unit];
  return bytes === undefined ? undefined : Math.ceil((Number(count) * bytes) / 2 ** 30);
}
