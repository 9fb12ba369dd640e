/** A volume that an instance starts with, as EC2 takes it. */
export interface LaunchVolume {
  readonly deviceName: string | undefined;
  /** GiB; undefined: that of the snapshot. */
  readonly sizeGib: number | undefined;
  readonly volumeType: string | undefined;
  readonly encrypted: boolean | undefined;
}

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
