import { describe, expect, it } from 'vitest';
import { gibibytes } from '../../../shared/core/launch/block-devices.ts';
import { clusterDnsAddress } from '../../../shared/core/launch/cluster-facts.ts';
import {
  aliasParameters,
  IMAGE_FAMILIES,
} from '../../../shared/core/launch/image-families/families.ts';
import { type FoundImage, selectImages } from '../../../shared/core/launch/image-selection.ts';

function namesOf(alias: string, kubernetes = '1.32'): readonly string[] {
  const found = aliasParameters(alias, kubernetes);
  return found.ok ? [...new Set(found.parameters.map(({ name }) => name))] : [];
}

describe('the parameters of an alias', () => {
  const rows: readonly (readonly [string, string, readonly string[]])[] = [
    [
      'al2@latest',
      '1.32',
      [
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2/recommended/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-arm64/recommended/image_id',
        '/aws/service/eks/optimized-ami/1.32/amazon-linux-2-gpu/recommended/image_id',
      ],
    ],
    [
      'al2@v20250610',
      '1.31',
      [
        '/aws/service/eks/optimized-ami/1.31/amazon-linux-2/amazon-eks-node-1.31-v20250610/image_id',
        '/aws/service/eks/optimized-ami/1.31/amazon-linux-2-arm64/amazon-eks-arm64-node-1.31-v20250610/image_id',
        '/aws/service/eks/optimized-ami/1.31/amazon-linux-2-gpu/amazon-eks-gpu-node-1.31-v20250610/image_id',
      ],
    ],
    [
      'al2023@v20250610',
      '1.33',
      ['x86_64/standard', 'arm64/standard', 'x86_64/nvidia', 'arm64/nvidia', 'x86_64/neuron'].map(
        (place) =>
          `/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/${place}/amazon-eks-node-al2023-${place.replace('/', '-')}-1.33-v20250610/image_id`,
      ),
    ],
    [
      'bottlerocket@v1.40.0',
      '1.33',
      [
        '/aws/service/bottlerocket/aws-k8s-1.33/x86_64/1.40.0/image_id',
        '/aws/service/bottlerocket/aws-k8s-1.33/arm64/1.40.0/image_id',
        '/aws/service/bottlerocket/aws-k8s-1.33-nvidia/x86_64/1.40.0/image_id',
        '/aws/service/bottlerocket/aws-k8s-1.33-nvidia/arm64/1.40.0/image_id',
      ],
    ],
    [
      'windows2022@latest',
      '1.33',
      [
        '/aws/service/ami-windows-latest/Windows_Server-2022-English-Core-EKS_Optimized-1.33/image_id',
      ],
    ],
  ];
  it.each(rows)('%s with Kubernetes %s', (alias, kubernetes, expected) => {
    expect(namesOf(alias, kubernetes)).toEqual(expected);
  });

  const refused = [
    ['al2@latest', '1.33', /AL2 images end with Kubernetes 1\.32/],
    ['windows2025@latest', '1.34', /needs Kubernetes 1\.35/],
    ['ubuntu@latest', '1.33', /not an alias/],
  ] as const;
  it.each(refused)('%s is refused with Kubernetes %s', (alias, kubernetes, message) => {
    expect(aliasParameters(alias, kubernetes)).toMatchObject({
      ok: false,
      message: expect.stringMatching(message),
    });
  });

  it('Windows 2025 comes with Kubernetes 1.35', () => {
    expect(namesOf('windows2025@latest', '1.35')).toHaveLength(1);
  });
});

describe('choosing images', () => {
  const image = (id: string, changes: Partial<FoundImage['image']> = {}): FoundImage => ({
    image: {
      id,
      name: id,
      architecture: 'x86_64',
      createdAtMs: 0,
      deprecated: false,
      ...changes,
    },
    requirements: undefined,
  });

  it('takes the newest of each architecture, in whatever order they come', () => {
    const found = [
      image('old', { createdAtMs: 1 }),
      image('new', { createdAtMs: 2 }),
      image('arm', { createdAtMs: 1, architecture: 'arm64' }),
      image('odd', { architecture: 'i386' }),
    ];
    expect(selectImages(found).map(({ id }) => id)).toEqual(['new', 'arm']);
    expect(selectImages([...found].reverse())).toEqual(selectImages(found));
  });

  it('takes a deprecated one only where there is no other', () => {
    const old = image('old', { createdAtMs: 1 });
    const deprecated = image('new', { createdAtMs: 2, deprecated: true });
    expect(selectImages([old, deprecated]).map(({ id }) => id)).toEqual(['old']);
    expect(selectImages([deprecated])).toMatchObject([{ id: 'new', deprecated: true }]);
  });

  it('equal ones are told apart by name and id', () => {
    const found = [image('b', { name: 'x' }), image('a', { name: 'x' }), image('c', { name: 'w' })];
    expect(selectImages(found).map(({ id }) => id)).toEqual(['c']);
    expect(selectImages(found.slice(0, 2)).map(({ id }) => id)).toEqual(['a']);
  });
});

describe('facts for launching', () => {
  const sizes = [
    ['100Gi', 100],
    ['100G', 94],
    ['2Ti', 2048],
    ['1T', 932],
    ['100', undefined],
    ['1.5Gi', undefined],
  ] as const;
  it.each(sizes)('a volume of %s has %s GiB', (size, expected) => {
    expect(gibibytes(size)).toBe(expected);
  });

  it('default volumes are those of the families', () => {
    const sizesOf = Object.entries(IMAGE_FAMILIES).map(([family, { defaultVolumes }]) => [
      family,
      ...defaultVolumes.map((each) => `${each.deviceName} ${each.sizeGib}`),
    ]);
    expect(sizesOf).toEqual([
      ['AL2', '/dev/xvda 20'],
      ['AL2023', '/dev/xvda 20'],
      ['Bottlerocket', '/dev/xvda 4', '/dev/xvdb 20'],
      ['Custom'],
      ['Windows2019', '/dev/sda1 50'],
      ['Windows2022', '/dev/sda1 50'],
      ['Windows2025', '/dev/sda1 50'],
    ]);
  });

  const ranges = [
    ['10.100.0.0/16', '10.100.0.10'],
    ['172.20.0.0/16', '172.20.0.10'],
    ['fd12:3456::/108', 'fd12:3456::a'],
  ] as const;
  it.each(ranges)('DNS of %s is %s', (serviceCidr, expected) => {
    expect(clusterDnsAddress({ serviceCidr })).toBe(expected);
  });
});
