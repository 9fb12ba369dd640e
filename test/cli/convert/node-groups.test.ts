import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { valueAt } from '../../../shared/sim/json.ts';
import { inFolder, joiner } from '../run.ts';

/** A command line over one file: the class and the pool that are first, and what is said. */
async function converted(content: unknown, ...args: readonly string[]) {
  const files = { 'a.json': JSON.stringify(content) };
  return await inFolder(files, async (folder) => {
    const { exitCode, stdout, stderr } = await joiner('convert', `${folder}/a.json`, ...args);
    const objects = parseAllDocuments(stdout).map((each): unknown => each.toJS());
    return { exitCode, stderr, nodeClass: objects[0], pool: objects[1] };
  });
}

function eksctl(group: object, more: object = {}, list = 'managedNodeGroups'): object {
  return {
    apiVersion: 'eksctl.io/v1alpha5',
    kind: 'ClusterConfig',
    metadata: { name: 'shop', region: 'eu-west-1' },
    [list]: [{ name: 'a', maxSize: 3, ...group }],
    ...more,
  };
}

function requirement(pool: unknown, key: string): unknown {
  const all = valueAt(pool, 'spec', 'template', 'spec', 'requirements');
  const found = Array.isArray(all) ? all.filter((each) => valueAt(each, 'key') === key) : [];
  return found.map((each) => [valueAt(each, 'operator'), valueAt(each, 'values')]);
}

const TYPES = 'node.kubernetes.io/instance-type';
const CAPACITY = 'karpenter.sh/capacity-type';
const ARCH = 'kubernetes.io/arch';
const GPUS = 'karpenter.k8s.aws/instance-gpu-count';

describe('a node group of eksctl', () => {
  it.each<readonly [string, object, string, unknown]>([
    ['no type', {}, TYPES, [['In', ['m5.large']]]],
    ['a type', { instanceType: 'c5.large' }, TYPES, [['In', ['c5.large']]]],
    [
      'types',
      { instanceTypes: ['c5.large', 'c6i.large'] },
      TYPES,
      [['In', ['c5.large', 'c6i.large']]],
    ],
    ['a selector', { instanceSelector: { vCPUs: 2 } }, TYPES, []],
    ['a selector of nothing', { instanceSelector: { vCPUs: 0 } }, TYPES, [['In', ['m5.large']]]],
    ['a selector', { instanceSelector: { vCPUs: 2 } }, ARCH, [['In', ['amd64']]]],
    [
      'a selector of an architecture',
      { instanceSelector: { vCPUs: 2, cpuArchitecture: 'arm64' } },
      ARCH,
      [['In', ['arm64']]],
    ],
    ['GPUs', { instanceSelector: { gpus: 2 } }, GPUS, [['In', ['2']]]],
    ['no GPUs', { instanceSelector: { gpus: 0 } }, GPUS, [['DoesNotExist', undefined]]],
    ['no GPUs', { instanceSelector: { gpus: 0 } }, TYPES, []],
    [
      'memory in GiB',
      { instanceSelector: { memory: '4' } },
      'karpenter.k8s.aws/instance-memory',
      [['In', ['4096']]],
    ],
    [
      'memory in MiB',
      { instanceSelector: { memory: '512MiB' } },
      'karpenter.k8s.aws/instance-memory',
      [['In', ['512']]],
    ],
    ['on-demand', {}, CAPACITY, [['In', ['on-demand']]]],
    ['spot', { spot: true }, CAPACITY, [['In', ['spot']]]],
    [
      'spot alone',
      { instancesDistribution: { onDemandPercentageAboveBaseCapacity: 0 } },
      CAPACITY,
      [['In', ['spot']]],
    ],
    [
      'a share',
      { instancesDistribution: { onDemandPercentageAboveBaseCapacity: 50 } },
      CAPACITY,
      [['In', ['on-demand', 'spot']]],
    ],
    [
      'Windows',
      { amiFamily: 'WindowsServer2022CoreContainer' },
      'kubernetes.io/os',
      [['In', ['windows']]],
    ],
  ])('%s', async (_, group, key, wanted) => {
    const { exitCode, stderr, pool } = await converted(eksctl(group), '--role', 'r');
    expect(exitCode, stderr).toBe(0);
    expect(requirement(pool, key)).toEqual(wanted);
  });

  const subnets = {
    private: { 'eu-west-1a': { id: 'subnet-0a' }, second: { id: 'subnet-0b', az: 'eu-west-1b' } },
    public: { 'eu-west-1a': { id: 'subnet-0c' } },
  };
  const tagged = (role: string) => [
    { tags: { 'alpha.eksctl.io/cluster-name': 'shop', [role]: '1' } },
  ];

  it.each<readonly [string, object, object, unknown]>([
    ['its own subnets', {}, {}, tagged('kubernetes.io/role/elb')],
    ['private ones', { privateNetworking: true }, {}, tagged('kubernetes.io/role/internal-elb')],
    ['ids', { subnets: ['subnet-0d'] }, {}, [{ id: 'subnet-0d' }]],
    ['names', { subnets: ['second'] }, { vpc: { subnets } }, [{ id: 'subnet-0b' }]],
    ['those of the cluster', {}, { vpc: { subnets } }, [{ id: 'subnet-0c' }]],
    [
      'those of a zone',
      { privateNetworking: true, availabilityZones: ['eu-west-1b'] },
      { vpc: { subnets } },
      [{ id: 'subnet-0b' }],
    ],
    [
      'those whose ids are known',
      { subnets: ['by-cidr', 'second'] },
      { vpc: { subnets: { private: { ...subnets.private, 'by-cidr': { cidr: '10.0.1.0/24' } } } } },
      [{ id: 'subnet-0b' }],
    ],
  ])('subnets: %s', async (_, group, more, wanted) => {
    const { nodeClass } = await converted(eksctl(group, more), '--role', 'r');
    expect(valueAt(nodeClass, 'spec', 'subnetSelectorTerms')).toEqual(wanted);
  });

  it.each<readonly [string, object, string, string]>([
    ['an unknown family', { amiFamily: 'Gentoo' }, 'amiFamily', 'must be one of AmazonLinux2023'],
    ['Ubuntu without an image', { amiFamily: 'Ubuntu2404' }, 'amiFamily', 'name an image with ami'],
    ['a type that is no text', { instanceType: 5 }, 'instanceType', 'must be a string, not 5'],
    [
      'a label that no node may have',
      { labels: { 'kubernetes.io/hostname': 'x' } },
      'labels',
      'kubernetes.io/hostname',
    ],
  ])('%s is bad input', async (_, group, field, message) => {
    const { exitCode, stderr } = await converted(eksctl(group), '--role', 'r');
    expect(exitCode).toBe(2);
    expect(stderr).toContain(`managedNodeGroups[0].${field}`);
    expect(stderr).toContain(message);
  });

  it('a config without groups is bad input', async () => {
    const { exitCode, stderr } = await converted(eksctl({}, { managedNodeGroups: [] }));
    expect(exitCode).toBe(2);
    expect(stderr).toContain('has neither managedNodeGroups nor nodeGroups');
  });

  it('two groups of one name are bad input', async () => {
    const two = eksctl({}, { nodeGroups: [{ name: 'A' }] });
    const { exitCode, stderr } = await converted(two, '--role', 'r');
    expect(exitCode).toBe(2);
    expect(stderr).toContain('NodePool/a is also made of');
  });
});

function managed(more: object = {}): object {
  return {
    nodegroup: {
      nodegroupName: 'a',
      clusterName: 'shop',
      subnets: ['subnet-0a'],
      nodeRole: 'arn:aws:iam::111122223333:role/nodes',
      scalingConfig: { minSize: 0, maxSize: 2 },
      ...more,
    },
  };
}

describe('what a group of eksctl names and a class cannot', () => {
  it('is said of subnets without an id by their own names; all else is converted', async () => {
    const vpc = { subnets: { private: { 'by-cidr': { cidr: '10.0.1.0/24' } } } };
    const group = { subnets: ['by-cidr'], privateNetworking: true };
    const { exitCode, stderr, nodeClass, pool } = await converted(
      eksctl(group, { vpc }),
      '--role',
      'r',
    );
    expect(exitCode, stderr).toBe(0);
    expect(stderr).toContain('managedNodeGroups[0].subnets[0]: "by-cidr": left out: its id is not');
    const tags = { 'alpha.eksctl.io/cluster-name': 'shop', 'kubernetes.io/role/internal-elb': '1' };
    expect(valueAt(nodeClass, 'spec', 'subnetSelectorTerms')).toEqual([{ tags }]);
    expect(requirement(pool, TYPES)).toEqual([['In', ['m5.large']]]);
  });

  it.each([
    [{ releaseVersion: '1.30.0-20240703' }, 'al2023@v20240703', 'stays at this release'],
    [
      { amiFamily: 'Bottlerocket', releaseVersion: '1.20.3-5d9ac849' },
      'bottlerocket@v1.20.3',
      'stays at this release',
    ],
    [{ releaseVersion: '1.30' }, 'al2023@latest', 'left out: the alias al2023@latest'],
    [{}, 'al2023@latest', ''],
  ])('the release %j: %s', async (group, alias, told) => {
    const { stderr, nodeClass } = await converted(eksctl(group), '--role', 'r');
    expect(valueAt(nodeClass, 'spec', 'amiSelectorTerms')).toEqual([{ alias }]);
    expect(stderr).toContain(told);
    if (told !== '') expect(stderr).toContain('managedNodeGroups[0].releaseVersion');
  });
});

describe('a managed node group', () => {
  it.each<readonly [string, string]>([
    ['AL2023_ARM_64_STANDARD', 'al2023@latest'],
    ['AL2_x86_64_GPU', 'al2@latest'],
    ['BOTTLEROCKET_ARM_64', 'bottlerocket@latest'],
    ['WINDOWS_FULL_2022_x86_64', 'windows2022@latest'],
  ])('%s', async (amiType, alias) => {
    const { exitCode, stderr, nodeClass } = await converted(managed({ amiType }));
    expect(exitCode, stderr).toBe(0);
    expect(valueAt(nodeClass, 'spec', 'amiSelectorTerms')).toEqual([{ alias }]);
  });

  it.each<readonly [string, object, string]>([
    ['an image type that nobody knows', { amiType: 'NEW' }, '"NEW": v1 has no family for it'],
    ['capacity blocks', { capacityType: 'CAPACITY_BLOCK' }, 'capacityReservationSelectorTerms'],
    [
      'a launch template that is not there',
      { launchTemplate: { id: 'lt-0a', version: '3' } },
      "aws ec2 describe-launch-template-versions --launch-template-id lt-0a --versions '3'",
    ],
    ['no subnet', { subnets: [] }, 'nodegroup.subnets'],
  ])('%s is bad input', async (_, more, message) => {
    const { exitCode, stderr } = await converted(managed(more));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });

  it('images with FIPS are noted', async () => {
    const { stderr } = await converted(managed({ amiType: 'BOTTLEROCKET_x86_64_FIPS' }));
    expect(stderr).toContain('the alias selects images without FIPS');
  });
});

describe('an Auto Scaling group', () => {
  const group = (more: object): object => ({
    AutoScalingGroups: [
      {
        AutoScalingGroupName: 'a',
        MinSize: 0,
        MaxSize: 2,
        VPCZoneIdentifier: 'subnet-0a',
        ...more,
      },
    ],
  });

  it.each<readonly [string, object, string]>([
    ['without a launch template', {}, 'has no launch template'],
    [
      'whose launch template is not there',
      { LaunchTemplate: { LaunchTemplateName: 'workers' } },
      "aws ec2 describe-launch-template-versions --launch-template-name workers --versions '$Default'",
    ],
  ])('%s is bad input', async (_, more, message) => {
    const { exitCode, stderr } = await converted(group(more));
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
