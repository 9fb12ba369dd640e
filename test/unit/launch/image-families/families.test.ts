import { describe, expect, it } from 'vitest';
import {
  ALIAS_FAMILIES,
  aliasParameters,
  IMAGE_FAMILIES,
} from '../../../../shared/core/launch/image-families/families.ts';
import { FAMILY_NAMES, type ImageFamily } from '../../../../shared/core/model/node-class.ts';

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

  it.each(['1.32', '1.9'])('AL2 comes with Kubernetes %s', (kubernetes) => {
    expect(namesOf('al2@latest', kubernetes)).toHaveLength(3);
  });

  it.each(['1.35', '1.36'])('Windows 2025 comes with Kubernetes %s', (kubernetes) => {
    expect(namesOf('windows2025@latest', kubernetes)).toEqual([
      `/aws/service/ami-windows-latest/Windows_Server-2025-English-Core-EKS_Optimized-${kubernetes}/image_id`,
    ]);
  });
});

describe('the images of an alias', () => {
  const ARM = 'arch=arm64';
  const AMD = 'arch=amd64';
  const STANDARD = '!gpu-count !accelerator-count';
  const short = (key: string): string => key.replace(/^.*\/(instance-)?/, '');
  const forWhat = (alias: string): readonly string[] => {
    const found = aliasParameters(alias, '1.32');
    if (!found.ok) throw new Error(found.message);
    return found.parameters.map(({ requirements }) =>
      requirements
        .map(({ key, operator, values }) => {
          if (operator === 'In') return `${short(key)}=${values.join()}`;
          return `${operator === 'Exists' ? '' : '!'}${short(key)}`;
        })
        .join(' '),
    );
  };

  it.each([
    [
      'al2@latest',
      [`${AMD} ${STANDARD}`, `${ARM} ${STANDARD}`, `${AMD} gpu-count`, `${AMD} accelerator-count`],
    ],
    [
      'al2023@latest',
      [
        `${AMD} ${STANDARD}`,
        `${ARM} ${STANDARD}`,
        `${AMD} gpu-count`,
        `${ARM} gpu-count`,
        `${AMD} accelerator-count`,
      ],
    ],
    [
      'bottlerocket@latest',
      [
        `${AMD} ${STANDARD}`,
        `${AMD} accelerator-count`,
        `${ARM} ${STANDARD}`,
        `${AMD} gpu-count`,
        `${ARM} gpu-count`,
      ],
    ],
    ['windows2019@latest', [AMD]],
    ['windows2022@latest', [AMD]],
  ])('%s are for', (alias, expected) => {
    expect(forWhat(alias)).toEqual(expected);
  });

  it('are of a version, whatever it begins with', () => {
    expect(namesOf('bottlerocket@1.40.0', '1.33')).toEqual(namesOf('bottlerocket@v1.40.0', '1.33'));
    expect(namesOf('bottlerocket@1.v40', '1.33')[0]).toContain('/1.v40/');
    expect(namesOf('al2023@latest', '1.33')[0]).toBe(
      '/aws/service/eks/optimized-ami/1.33/amazon-linux-2023/x86_64/standard/recommended/image_id',
    );
  });

  it.each([
    ['windows2019@latest', 'Windows_Server-2019-English-Core-EKS_Optimized-1.33'],
    ['windows2022@latest', 'Windows_Server-2022-English-Core-EKS_Optimized-1.33'],
  ])('%s', (alias, name) => {
    expect(namesOf(alias, '1.33')).toEqual([`/aws/service/ami-windows-latest/${name}/image_id`]);
  });

  it('are the families that have one', () => {
    expect([...ALIAS_FAMILIES]).toEqual([
      ['al2', 'AL2'],
      ['al2023', 'AL2023'],
      ['bottlerocket', 'Bottlerocket'],
      ['windows2019', 'Windows2019'],
      ['windows2022', 'Windows2022'],
      ['windows2025', 'Windows2025'],
    ]);
    expect(IMAGE_FAMILIES.Custom.parameters('x', '1.33')).toEqual({
      ok: false,
      message: '"x" is not an alias of images',
    });
  });
});

describe('a family', () => {
  const familiesWith = (has: (family: ImageFamily) => boolean): string =>
    FAMILY_NAMES.filter(has).join(' ');

  it('is of an operating system', () => {
    expect(familiesWith((each) => IMAGE_FAMILIES[each].os === 'linux')).toBe(
      'AL2 AL2023 Bottlerocket Custom',
    );
    expect(familiesWith((each) => IMAGE_FAMILIES[each].os === 'windows')).toBe(
      'Windows2019 Windows2022 Windows2025',
    );
    const builds = FAMILY_NAMES.flatMap((each) => IMAGE_FAMILIES[each].windowsBuild ?? []);
    expect(builds).toEqual(['10.0.17763', '10.0.20348', '10.0.26100']);
  });

  it.each([
    ['reservesForInterfaces', 'AL2 AL2023 Custom'],
    ['honoursPodsPerCore', 'AL2 AL2023 Custom Windows2019 Windows2022 Windows2025'],
    ['takesAnyKubeletField', 'AL2023 Custom'],
    ['interfaceLimitedPods', 'AL2 AL2023 Bottlerocket Custom'],
  ] as const)('%s: %s', (trait, expected) => {
    expect(familiesWith((each) => IMAGE_FAMILIES[each][trait])).toBe(expected);
  });

  it('runs on every type, AL2023 not on the first Graviton', () => {
    expect(familiesWith((each) => IMAGE_FAMILIES[each].runsOn('c7g.large'))).toBe(
      FAMILY_NAMES.join(' '),
    );
    expect(familiesWith((each) => !IMAGE_FAMILIES[each].runsOn('a1.large'))).toBe('AL2023');
    expect(IMAGE_FAMILIES.AL2023.runsOn('a10.large')).toBe(true);
  });

  it('has volumes, one of which holds the pods’ storage', () => {
    const volumes = FAMILY_NAMES.map((family) => {
      const { storageDevice, storageDefault, defaultVolumes } = IMAGE_FAMILIES[family];
      const each = defaultVolumes.map((volume) => {
        expect(volume).toMatchObject({ volumeType: 'gp3', encrypted: true });
        return `${volume.deviceName} ${volume.sizeGib}`;
      });
      return [family, storageDevice, storageDefault / 2 ** 30, ...each];
    });
    expect(volumes).toEqual([
      ['AL2', '/dev/xvda', 20, '/dev/xvda 20'],
      ['AL2023', '/dev/xvda', 20, '/dev/xvda 20'],
      ['Bottlerocket', '/dev/xvdb', 20, '/dev/xvda 6', '/dev/xvdb 20'],
      ['Custom', undefined, 20],
      ['Windows2019', '/dev/sda1', 50, '/dev/sda1 50'],
      ['Windows2022', '/dev/sda1', 50, '/dev/sda1 50'],
      ['Windows2025', '/dev/sda1', 50, '/dev/sda1 50'],
    ]);
  });
});
