import { describe, expect, it } from 'vitest';
import { valueAt } from '../../../shared/sim/json.ts';
import {
  converted,
  eksctl,
  GROUP,
  managed,
  mixed,
  POLICY,
  scalingGroup,
  template,
} from './group-answers.ts';

describe('overrides with a launch template of their own', () => {
  const arm = { LaunchTemplateName: 'arm', Version: '1' };
  const group = mixed([
    { InstanceType: 'm6i.large' },
    { InstanceType: 'm6g.large', LaunchTemplateSpecification: arm },
  ]);
  const types = (spec: unknown): string => JSON.stringify(valueAt(spec, 'template'));

  it('are a NodePool and a class of their own', async () => {
    const { exitCode, stderr, nodeClass, pool, notesOf } = await converted(
      group,
      template(),
      template({}, 'lt-0b', 'arm', 'arm64'),
    );
    expect(exitCode, stderr).toBe(0);
    expect(types(pool())).toContain('m6i.large');
    expect(types(pool())).not.toContain('m6g.large');
    expect(types(pool('a-arm-1'))).toContain('m6g.large');
    expect(types(pool('a-arm-1'))).not.toContain('m6i.large');
    expect(valueAt(nodeClass(), 'amiSelectorTerms')).toEqual([{ id: 'ami-amd64' }]);
    expect(valueAt(nodeClass('a-arm-1'), 'amiSelectorTerms')).toEqual([{ id: 'ami-arm64' }]);
    expect(notesOf(`${POLICY}.LaunchTemplate.Overrides[1].LaunchTemplateSpecification`)).toEqual([
      expect.stringContaining('a-arm-1'),
    ]);
  });

  it('ask for the template', async () => {
    const { exitCode, stderr } = await converted(group, template());
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`${POLICY}.LaunchTemplate.Overrides[1]`);
    expect(stderr).toContain('--launch-template-name arm');
  });

  it('leave no pool of the base where it has no type left', async () => {
    const { pool } = await converted(
      mixed([{ InstanceType: 'm6g.large', LaunchTemplateSpecification: arm }]),
      template(),
      template({}, 'lt-0b', 'arm', 'arm64'),
    );
    expect(pool()).toBeUndefined();
    expect(types(pool('a-arm-1'))).toContain('m6g.large');
  });

  it('of the same template are no others', async () => {
    const same = { LaunchTemplateId: 'lt-0a', Version: '$Default' };
    const { pool } = await converted(
      mixed([
        { InstanceType: 'm6i.large' },
        { InstanceType: 'm6a.large', LaunchTemplateSpecification: same },
      ]),
      template(),
    );
    expect(types(pool())).toContain('m6a.large');
  });

  it('with an image of their own have it', async () => {
    const { nodeClass } = await converted(
      mixed([{ InstanceType: 'm6i.large' }, { InstanceType: 'm6g.large', ImageId: 'ami-own' }]),
      template(),
    );
    expect(valueAt(nodeClass('a-workers-1-ami-own'), 'amiSelectorTerms')).toEqual([
      { id: 'ami-own' },
    ]);
  });
});

describe('sizes and ages', () => {
  it.each<readonly [string, object, object, string]>([
    ['no weight', mixed([{ InstanceType: 'm6i.large' }]), { nodes: '40' }, ''],
    [
      'weights',
      mixed([
        { InstanceType: 'm6i.large', WeightedCapacity: '3' },
        { InstanceType: 'm6i.2xlarge', WeightedCapacity: '12' },
      ]),
      { nodes: '14' },
      'limits.nodes is 14',
    ],
    [
      'a weight and none',
      mixed([
        { InstanceType: 'm6i.large' },
        { InstanceType: 'm6i.2xlarge', WeightedCapacity: '4' },
      ]),
      { nodes: '40' },
      'limits.nodes is 40',
    ],
    ['CPUs', scalingGroup({ DesiredCapacityType: 'vcpu' }), { cpu: '40' }, 'limits.cpu is 40'],
    [
      'MiB',
      scalingGroup({ DesiredCapacityType: 'memory-mib' }),
      { memory: '40Mi' },
      'limits.memory is 40Mi',
    ],
  ])('limits with %s', async (_, group, limits, message) => {
    const { pool, notesOf } = await converted(group, template());
    expect(valueAt(pool(), 'limits')).toEqual(limits);
    const wanted = message === '' ? [] : [expect.stringContaining(message)];
    expect(notesOf(`${GROUP}.MaxSize`)).toEqual(wanted);
  });

  it.each<readonly [string, readonly object[], string]>([
    ['a group', [scalingGroup({ MaxInstanceLifetime: 604800 }), template()], '168h'],
    ['a group in seconds', [scalingGroup({ MaxInstanceLifetime: 86461 }), template()], '86461s'],
    ['eksctl', [eksctl({ maxInstanceLifetime: 90000 })], '25h'],
  ])('the lifetime of %s is expireAfter', async (_, contents, expireAfter) => {
    const { exitCode, stderr, pool } = await converted(...contents);
    expect(exitCode, stderr).toBe(0);
    expect(valueAt(pool(), 'template', 'spec', 'expireAfter')).toBe(expireAfter);
    expect(stderr).not.toContain('Never');
    expect(stderr).not.toContain('nstanceLifetime: ');
  });

  it.each<readonly [string, object, string, string]>([
    ['AL2023', { releaseVersion: '1.35.0-20260112' }, 'al2023@v20260112', 'al2023@latest'],
    [
      'Bottlerocket',
      { amiType: 'BOTTLEROCKET_x86_64', releaseVersion: '1.49.0-713f44ce' },
      'bottlerocket@v1.49.0',
      'bottlerocket@latest',
    ],
    [
      'Windows',
      { amiType: 'WINDOWS_CORE_2022_x86_64', releaseVersion: '1.35-2026.01.12' },
      'windows2022@latest',
      'left out',
    ],
  ])('the release of %s', async (_, more, alias, message) => {
    const { nodeClass, notesOf } = await converted(managed(more));
    expect(valueAt(nodeClass(), 'amiSelectorTerms')).toEqual([{ alias }]);
    expect(notesOf('nodegroup.releaseVersion')).toEqual([expect.stringContaining(message)]);
  });
});

describe('fields of a launch template that v1 has', () => {
  it.each<readonly [string, object, string, unknown]>([
    [
      'VolumeInitializationRate',
      {
        BlockDeviceMappings: [
          {
            DeviceName: '/dev/xvda',
            Ebs: { SnapshotId: 'snap-0a', VolumeInitializationRate: 200 },
          },
        ],
      },
      'blockDeviceMappings',
      [{ deviceName: '/dev/xvda', ebs: { snapshotID: 'snap-0a', volumeInitializationRate: 200 } }],
    ],
    [
      'AssociatePublicIpAddress',
      { NetworkInterfaces: [{ Groups: ['sg-0a'], AssociatePublicIpAddress: false }] },
      'associatePublicIPAddress',
      false,
    ],
    [
      'groups of the first device, wherever it is named',
      {
        SecurityGroupIds: undefined,
        NetworkInterfaces: [
          { DeviceIndex: 1, Groups: ['sg-0b'] },
          { DeviceIndex: 0, Groups: ['sg-0c'] },
        ],
      },
      'securityGroupSelectorTerms',
      [{ id: 'sg-0c' }],
    ],
  ])('%s', async (_, data, field, wanted) => {
    const { exitCode, stderr, nodeClass } = await converted(scalingGroup({}), template(data));
    expect(exitCode, stderr).toBe(0);
    expect(valueAt(nodeClass(), field)).toEqual(wanted);
  });

  it('a capacity block is bad input', async () => {
    const { exitCode, stderr } = await converted(
      scalingGroup({}),
      template({ InstanceMarketOptions: { MarketType: 'capacity-block' } }),
    );
    expect(exitCode).toBe(2);
    expect(stderr).toContain('capacityReservationSelectorTerms');
  });
});
