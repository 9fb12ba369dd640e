import { describe, expect, it } from 'vitest';
import {
  converted,
  eksctl,
  GROUP,
  managed,
  mixed,
  POLICY,
  scalingGroup,
  TEMPLATE,
  template,
} from './group-answers.ts';

describe('what is not converted is a note', () => {
  it.each<readonly [string, object]>([
    [`${GROUP}.CapacityRebalance`, { CapacityRebalance: true }],
    [`${GROUP}.SuspendedProcesses`, { SuspendedProcesses: [{ ProcessName: 'AZRebalance' }] }],
    [`${GROUP}.HealthCheckType`, { HealthCheckType: 'ELB' }],
    [`${GROUP}.TargetGroupARNs`, { TargetGroupARNs: ['arn:a'] }],
    [`${GROUP}.NewFieldOfNextYear`, { NewFieldOfNextYear: 1 }],
    [
      `${GROUP}.Tags[0]`,
      {
        Tags: [
          {
            Key: 'k8s.io/cluster-autoscaler/node-template/autoscaling-options/scaledownunneededtime',
            Value: '1m',
          },
        ],
      },
    ],
    [`${GROUP}.Tags[0]`, { Tags: [{ Key: 'owner', Value: 'me', PropagateAtLaunch: false }] }],
  ])('%s of an Auto Scaling group', async (field, more) => {
    const { exitCode, stderr, notesOf } = await converted(scalingGroup(more), template());
    expect(exitCode, stderr).toBe(0);
    expect(notesOf(field)).toEqual([expect.stringContaining('left out')]);
  });

  it.each<readonly [string, readonly object[], object]>([
    [`${POLICY}.InstancesDistribution.SpotMaxPrice`, [], { SpotMaxPrice: '0.05' }],
    [
      `${POLICY}.InstancesDistribution.SpotAllocationStrategy`,
      [],
      { SpotAllocationStrategy: 'capacity-optimized' },
    ],
    [
      `${POLICY}.LaunchTemplate.Overrides[1].InstanceRequirements.VCpuCount.Odd`,
      [{}, { InstanceRequirements: { VCpuCount: { Min: 2, Odd: true } } }],
      {},
    ],
    [
      `${POLICY}.LaunchTemplate.Overrides[0].NewField`,
      [{ InstanceType: 'm6i.large', NewField: 'x' }],
      {},
    ],
  ])('%s', async (field, overrides, distribution) => {
    const { exitCode, stderr, notesOf } = await converted(
      mixed(overrides, {}, distribution),
      template(),
    );
    expect(exitCode, stderr).toBe(0);
    expect(notesOf(field)).toEqual([expect.stringContaining('left out')]);
  });

  it.each<readonly [string, object]>([
    [`${TEMPLATE}.KeyName`, { KeyName: 'ops' }],
    [
      `${TEMPLATE}.MetadataOptions.InstanceMetadataTags`,
      { MetadataOptions: { HttpTokens: 'required', InstanceMetadataTags: 'enabled' } },
    ],
    [
      `${TEMPLATE}.TagSpecifications[0]`,
      { TagSpecifications: [{ ResourceType: 'volume', Tags: [{ Key: 'a', Value: 'b' }] }] },
    ],
    [
      `${TEMPLATE}.NetworkInterfaces[1]`,
      {
        SecurityGroupIds: undefined,
        NetworkInterfaces: [{ Groups: ['sg-0a'] }, { DeviceIndex: 1, Groups: ['sg-0b'] }],
      },
    ],
    [
      `${TEMPLATE}.NetworkInterfaces[0].InterfaceType`,
      {
        SecurityGroupIds: undefined,
        NetworkInterfaces: [{ Groups: ['sg-0a'], InterfaceType: 'efa' }],
      },
    ],
    [
      `${TEMPLATE}.BlockDeviceMappings[0].Ebs.Odd`,
      { BlockDeviceMappings: [{ DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20, Odd: 1 } }] },
    ],
    [
      `${TEMPLATE}.BlockDeviceMappings[0].Ebs.VolumeInitializationRate`,
      {
        BlockDeviceMappings: [
          { DeviceName: '/dev/xvda', Ebs: { VolumeSize: 20, VolumeInitializationRate: 200 } },
        ],
      },
    ],
    [
      `${TEMPLATE}.BlockDeviceMappings[0]`,
      { BlockDeviceMappings: [{ DeviceName: '/dev/sdb', VirtualName: 'ephemeral0' }] },
    ],
    [
      `${TEMPLATE}.BlockDeviceMappings[0]`,
      { BlockDeviceMappings: [{ DeviceName: '/dev/sdb', NoDevice: '' }] },
    ],
    [
      `${TEMPLATE}.InstanceMarketOptions.SpotOptions`,
      { InstanceMarketOptions: { MarketType: 'spot', SpotOptions: { MaxPrice: '1' } } },
    ],
  ])('%s of a launch template', async (field, data) => {
    const { exitCode, stderr, nodeClass, notesOf } = await converted(
      scalingGroup({}),
      template(data),
    );
    expect(exitCode, stderr).toBe(0);
    expect(notesOf(field)).toEqual([expect.stringContaining('left out')]);
    expect(JSON.stringify(nodeClass())).not.toContain('/dev/sdb');
  });

  it.each<readonly [string, object]>([
    ['nodegroup.nodeRepairConfig', { nodeRepairConfig: { enabled: true } }],
    ['nodegroup.updateConfig', { updateConfig: { maxUnavailable: 2 } }],
    ['nodegroup.tags', { tags: { owner: 'shop' } }],
    ['nodegroup.scalingConfig.odd', { scalingConfig: { minSize: 0, odd: 1 } }],
    ['nodegroup.newField', { newField: { a: 1 } }],
  ])('%s of a managed node group', async (field, more) => {
    const { exitCode, stderr, notesOf } = await converted(managed(more));
    expect(exitCode, stderr).toBe(0);
    expect(notesOf(field)).toEqual([expect.stringContaining('left out')]);
  });

  it.each<readonly [string, object]>([
    ['InstanceRequirements', { InstanceRequirements: { VCpuCount: { Min: 2 } } }],
    ['InstanceMarketOptions', { InstanceMarketOptions: { MarketType: 'spot' } }],
    ['IamInstanceProfile', { IamInstanceProfile: { Name: 'nodes' } }],
    ['ImageId', { ImageId: 'ami-0a' }],
  ])('%s of the launch template of a managed node group', async (name, data) => {
    const launchTemplate = { id: 'lt-0a', version: '1' };
    const bare = { ImageId: undefined, IamInstanceProfile: undefined };
    const { exitCode, stderr, notesOf } = await converted(
      managed({ launchTemplate }),
      template({ ...bare, ...data }),
    );
    expect(exitCode, stderr).toBe(0);
    expect(notesOf(`nodegroup.launchTemplate.${name}`)).toEqual([
      expect.stringContaining('left out'),
    ]);
    expect(stderr.match(/left out/g)).toHaveLength(1);
  });

  it.each<readonly [string, object]>([
    ['nodeGroups[0].ssh', { ssh: { allow: true } }],
    ['nodeGroups[0].iam.withAddonPolicies', { iam: { withAddonPolicies: { ebs: true } } }],
    ['nodeGroups[0].taints[0].odd', { taints: [{ key: 'a', effect: 'NoSchedule', odd: 1 }] }],
  ])('%s of eksctl', async (field, more) => {
    const { notesOf } = await converted(eksctl(more));
    expect(notesOf(field)).toEqual([expect.stringContaining('left out')]);
  });

  it('what AWS prints of a group where nobody gave it is none', async () => {
    const { notesOf, stderr } = await converted(
      scalingGroup({
        AutoScalingGroupARN: 'arn:a',
        DesiredCapacity: 1,
        DefaultCooldown: 300,
        AvailabilityZones: ['eu-west-1a'],
        LoadBalancerNames: [],
        HealthCheckType: 'EC2',
        HealthCheckGracePeriod: 0,
        Instances: [{ InstanceId: 'i-0a' }],
        CreatedTime: '2026-01-01T00:00:00Z',
        SuspendedProcesses: [],
        TerminationPolicies: ['Default'],
        NewInstancesProtectedFromScaleIn: false,
        CapacityRebalance: false,
        AvailabilityZoneDistribution: { CapacityDistributionStrategy: 'balanced-best-effort' },
        ServiceLinkedRoleARN: 'arn:b',
      }),
      template(),
    );
    expect(stderr).not.toContain('left out');
    expect(notesOf(GROUP)).toHaveLength(2);
  });
});
