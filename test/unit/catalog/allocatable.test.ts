import { describe, expect, test } from 'vitest';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { instanceTypesFor } from '../../../shared/catalog/instance-types.ts';
import { DEFAULT_LAUNCH_SETTINGS } from '../../../shared/catalog/settings.ts';
import type { InstanceType } from '../../../shared/core/model/instance-type.ts';
import type { ImageFamily } from '../../../shared/core/model/node-class.ts';
import { type Resources, subtractResources } from '../../../shared/core/model/resources.ts';

const MIB = 2 ** 20;
const GIB = 2 ** 30;

/**
 * Allocatable per type and image family, worked out from EC2's numbers by the documented formulas:
 * CPU (milli) less 6 % of the first core, 1 % of the second, 0.5 % of the third and fourth and
 * 0.25 % of the rest; memory (MiB; arm64 less 64) less 7.5 % rounded up, 11 a pod + 255, and 100;
 * pods = interfaces × (addresses − 1) + 2, on Windows 110; storage (GiB) less 1 and 10 %.
 * For instance m5.large: 8192 − 615 − (11 × 29 + 255) − 100 = 6903.
 */
const EXPECTED: readonly (readonly [string, ImageFamily, number, number, number, number])[] = [
  ['m5.large', 'AL2023', 1930, 6903, 29, 17],
  ['m5.large', 'Bottlerocket', 1930, 6903, 29, 17],
  ['m5.large', 'Windows2022', 1930, 6012, 110, 44],
  ['m5.large', 'AL2', 1930, 6903, 29, 17],
  ['m5.large', 'Custom', 1930, 6903, 29, 17],
  ['c5.large', 'AL2023', 1930, 3114, 29, 17],
  ['c5.xlarge', 'AL2023', 3920, 6584, 58, 17],
  ['c5.18xlarge', 'AL2', 71750, 127934, 737, 17],
  ['t3.nano', 'AL2023', 1930, 74, 4, 17],
  ['t3.medium', 'AL2023', 1930, 3246, 17, 17],
  ['t3.medium', 'Bottlerocket', 1930, 3246, 17, 17],
  ['t4g.small', 'AL2023', 1930, 1359, 11, 17],
  ['m6i.2xlarge', 'AL2023', 7910, 29317, 58, 17],
  ['m6a.4xlarge', 'Bottlerocket', 15890, 57691, 234, 17],
  ['m7i.large', 'AL2023', 1930, 6903, 29, 17],
  ['m7i-flex.large', 'AL2023', 1930, 6903, 29, 17],
  ['m7g.large', 'AL2023', 1930, 6844, 29, 17],
  ['m7g.medium', 'Bottlerocket', 940, 3286, 8, 17],
  ['m8g.xlarge', 'AL2023', 3920, 14103, 58, 17],
  ['c7g.xlarge', 'AL2023', 3920, 6525, 58, 17],
  ['c8g.xlarge', 'AL2023', 3920, 6525, 58, 17],
  ['r5.24xlarge', 'AL2023', 95690, 718987, 737, 17],
  ['r7iz.32xlarge', 'AL2023', 127610, 961470, 737, 17],
  ['r8g.48xlarge', 'Bottlerocket', 191450, 1446378, 737, 17],
  ['x1e.32xlarge', 'AL2', 127610, 3694939, 234, 17],
  ['x2gd.16xlarge', 'AL2023', 63770, 961411, 737, 17],
  ['i3.large', 'AL2023', 1930, 13770, 29, 17],
  ['i4i.metal', 'AL2023', 127610, 961470, 737, 17],
  ['d3en.12xlarge', 'AL2', 47810, 180528, 89, 17],
  ['u-6tb1.112xlarge', 'AL2023', 446810, 5811134, 737, 17],
  ['g4dn.xlarge', 'AL2023', 3920, 14481, 29, 17],
  ['g5.xlarge', 'AL2023', 3920, 14162, 58, 17],
  ['g5.48xlarge', 'Bottlerocket', 191450, 723299, 345, 17],
  ['p4d.24xlarge', 'AL2023', 95690, 1082712, 737, 17],
  ['p5.48xlarge', 'AL2023', 191450, 1938410, 100, 17],
  ['inf2.xlarge', 'AL2023', 3920, 14162, 58, 17],
  ['trn1.32xlarge', 'AL2023', 127610, 481894, 247, 17],
  ['a1.large', 'AL2', 1930, 3055, 29, 17],
  ['m5zn.metal', 'AL2023', 47810, 173400, 737, 17],
  ['m4.16xlarge', 'AL2', 63770, 239554, 234, 17],
  ['c5.9xlarge', 'Windows2019', 35840, 66633, 110, 44],
  ['m6i.8xlarge', 'Windows2025', 31850, 119676, 110, 44],
  ['hpc7g.16xlarge', 'AL2023', 63770, 118649, 198, 17],
  ['z1d.large', 'AL2023', 1930, 14481, 29, 17],
];

function allocatable({ capacity, overhead }: InstanceType): Resources {
  const { kubeReserved, systemReserved, evictionThreshold } = overhead;
  return [kubeReserved, systemReserved, evictionThreshold].reduce(subtractResources, capacity);
}

describe('allocatable of well-known types', async () => {
  const catalog = await loadCatalog('us-east-1');

  test.each(EXPECTED)('%s with %s', (name, imageFamily, cpu, memoryMiB, pods, storageGiB) => {
    const settings = { ...DEFAULT_LAUNCH_SETTINGS, imageFamily, zones: catalog.zones };
    const type = instanceTypesFor(catalog, settings).find((each) => each.name === name);
    expect(type).toBeDefined();
    const left = type === undefined ? {} : allocatable(type);
    expect({
      cpu: left['cpu'],
      memory: left['memory'],
      pods: left['pods'],
      storage: left['ephemeral-storage'],
    }).toEqual({ cpu, memory: memoryMiB * MIB, pods, storage: storageGiB * GIB });
  });
});
