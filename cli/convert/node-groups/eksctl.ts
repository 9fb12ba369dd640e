import type { Issue } from '../../../shared/api/issue.ts';
import { issuesOf } from '../../../shared/api/schema/issues.ts';
import { KUBELET_SPEC_FIELDS } from '../../../shared/core/launch/kubelet.ts';
import { INSTANCE_LABELS } from '../../../shared/core/model/labels.ts';
import type { Json } from '../../../shared/sim/json.ts';
import { type Note, present } from '../part.ts';
import {
  CLUSTER_CONFIG,
  type ClusterConfig,
  EKSCTL_GROUP,
  type EksctlGroup,
} from './eksctl-schema.ts';
import { leftOut } from './left-out.ts';
import {
  archRequirement,
  capacityTypesOf,
  type GroupTaint,
  type NodeGroup,
  nodeLimit,
  ownTags,
  type TypeRequirement,
} from './node-group.ts';
import { releaseNotes, releaseOf } from './release.ts';

/** https://eksctl.io/usage/custom-ami-support/; eksctl's default is AmazonLinux2023. */
const FAMILIES: Readonly<Record<string, string>> = {
  AmazonLinux2023: 'AL2023',
  AmazonLinux2: 'AL2',
  Bottlerocket: 'Bottlerocket',
  WindowsServer2019CoreContainer: 'Windows2019',
  WindowsServer2019FullContainer: 'Windows2019',
  WindowsServer2022CoreContainer: 'Windows2022',
  WindowsServer2022FullContainer: 'Windows2022',
  WindowsServer2025CoreContainer: 'Windows2025',
  WindowsServer2025FullContainer: 'Windows2025',
};

/** eksctl's defaults: https://eksctl.io/usage/schema/ */
const INSTANCE_TYPE = 'm5.large';
const VOLUME_GIB = 80;

/** Types that eksctl selects have this architecture by default. */
const SELECTED_ARCHITECTURE = 'x86_64';

/** What types are selected by; a selector of which nothing is set is as none. */
function selectorOf({ instanceSelector = {} }: EksctlGroup): EksctlGroup['instanceSelector'] {
  const { gpus, ...others } = instanceSelector;
  const isSet =
    gpus !== undefined || Object.values(others).some((each) => each !== 0 && each !== '');
  return isSet ? instanceSelector : undefined;
}

function typesOf(group: EksctlGroup): readonly string[] {
  const { instanceType, instanceTypes, instancesDistribution } = group;
  const named = instancesDistribution?.instanceTypes ?? instanceTypes ?? [];
  if (named.length > 0) return named;
  // eksctl writes `mixed` where the distribution has the types.
  if (instanceType !== undefined && instanceType !== 'mixed') return [instanceType];
  return selectorOf(group) === undefined ? [INSTANCE_TYPE] : [];
}

/** `4`, `4GiB` or `512MiB` in MiB: without a unit eksctl takes GiB. */
function memoryMiB(memory: string | number): number {
  const [, amount = '0', unit = 'GiB'] = /^([0-9.]+)\s*([A-Za-z]*)$/.exec(String(memory)) ?? [];
  return Number(amount) * (/^m/i.test(unit) ? 1 : 1024);
}

/** https://eksctl.io/usage/instance-selector/ */
function selected(group: EksctlGroup): readonly TypeRequirement[] {
  const selector = selectorOf(group);
  if (selector === undefined) return [];
  const { vCPUs, memory = '', gpus, cpuArchitecture } = selector;
  const is = (key: string, value: number | undefined): readonly TypeRequirement[] =>
    value === undefined ? [] : [{ key, operator: 'In', values: [String(value)] }];
  const { cpu, memory: memoryLabel, gpuCount } = INSTANCE_LABELS;
  return [
    ...is(cpu, vCPUs === 0 ? undefined : vCPUs),
    ...is(memoryLabel, memory === '' ? undefined : memoryMiB(memory)),
    // Types without GPUs do not have the label.
    ...(gpus === 0 ? [{ key: gpuCount, operator: 'DoesNotExist' } as const] : is(gpuCount, gpus)),
    ...archRequirement([cpuArchitecture ?? SELECTED_ARCHITECTURE]),
  ];
}

function marketOf(group: EksctlGroup, field: string): Pick<NodeGroup, 'capacityTypes' | 'notes'> {
  const { spot, instancesDistribution } = group;
  if (instancesDistribution === undefined) {
    return { capacityTypes: [spot === true ? 'spot' : 'on-demand'], notes: [] };
  }
  // EC2's own defaults of a distribution.
  const { onDemandBaseCapacity = 0, onDemandPercentageAboveBaseCapacity = 100 } =
    instancesDistribution;
  const at = `${field}.instancesDistribution`;
  return capacityTypesOf(onDemandBaseCapacity, onDemandPercentageAboveBaseCapacity, at);
}

type Subnets = NonNullable<NonNullable<NonNullable<ClusterConfig['vpc']>['subnets']>['private']>;

/** eksctl finds a subnet by its CIDR too; a class needs its id or tags. */
function subnetId(known: Subnets, name: string): string | undefined {
  return known[name]?.id ?? (name.startsWith('subnet-') ? name : undefined);
}

function subnetNotes({ vpc }: ClusterConfig, group: EksctlGroup, field: string): readonly Note[] {
  const both = { ...vpc?.subnets?.public, ...vpc?.subnets?.private };
  const { subnets = [] } = group;
  const hasIds = subnets.some((name) => subnetId(both, name) !== undefined);
  const rest = hasIds ? 'the others are selected' : 'the class selects by other ids or tags';
  return subnets.flatMap((name, index) => {
    if (subnetId(both, name) !== undefined) return [];
    const message = `"${name}": left out: its id is not in vpc.subnets, and ${rest}`;
    return [{ field: `${field}.subnets[${index}]`, message }];
  });
}

/** The subnets that the group names, those of its kind that the cluster names, or eksctl's own. */
function subnetTermsOf(config: ClusterConfig, group: EksctlGroup): readonly Json[] {
  const { privateNetworking = false, subnets = [], availabilityZones = [] } = group;
  const known = config.vpc?.subnets?.[privateNetworking ? 'private' : 'public'] ?? {};
  const both = { ...config.vpc?.subnets?.public, ...config.vpc?.subnets?.private };
  const named = subnets.flatMap((name) => {
    const id = subnetId(both, name);
    return id === undefined ? [] : [{ id }];
  });
  if (named.length > 0) return named;
  const inZones = Object.entries(known).filter(
    ([name, { az }]) => availabilityZones.length === 0 || availabilityZones.includes(az ?? name),
  );
  const ids = inZones.flatMap(([, { id }]) => (id === undefined ? [] : [{ id }]));
  if (ids.length > 0) return ids;
  const role = privateNetworking ? 'kubernetes.io/role/internal-elb' : 'kubernetes.io/role/elb';
  return [{ tags: { 'alpha.eksctl.io/cluster-name': config.metadata.name, [role]: '1' } }];
}

function devicesOf(group: EksctlGroup, family: string): readonly Json[] {
  const { volumeSize = VOLUME_GIB, volumeType = 'gp3', volumeName } = group;
  // Bottlerocket keeps images and containers on a volume of their own.
  const isSda = family.startsWith('Windows') || group.amiFamily?.startsWith('Ubuntu') === true;
  const root = isSda ? '/dev/sda1' : '/dev/xvda';
  const deviceName = volumeName ?? (family === 'Bottlerocket' ? '/dev/xvdb' : root);
  const ebs = present({
    volumeSize: `${volumeSize}Gi`,
    volumeType,
    iops: group.volumeIOPS,
    throughput: group.volumeThroughput,
    encrypted: group.volumeEncrypted,
    kmsKeyID: group.volumeKmsKeyID,
  });
  return [{ deviceName, ebs }];
}

/** Pods reach the metadata service unless they may not: eksctl sets a hop limit of 2. */
function metadataOptionsOf({ disablePodIMDS, disableIMDSv1 }: EksctlGroup): Json {
  return {
    httpEndpoint: 'enabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: disablePodIMDS === true ? 1 : 2,
    httpTokens: disableIMDSv1 === false ? 'optional' : 'required',
  };
}

function taintsOf({ taints = [] }: EksctlGroup): readonly GroupTaint[] {
  if (Array.isArray(taints))
    return taints.map(({ key, value, effect }) => ({ key, value, effect }));
  return Object.entries(taints).map(([key, text]) => {
    const at = text.lastIndexOf(':');
    const value = text.slice(0, at);
    return { key, ...(value === '' ? {} : { value }), effect: text.slice(at + 1) };
  });
}

function kubeletOf(group: EksctlGroup): Json {
  const extra = Object.entries(group.kubeletExtraConfig ?? {});
  return present({
    ...Object.fromEntries(extra.filter(([key]) => KUBELET_SPEC_FIELDS.includes(key))),
    ...(group.maxPodsPerNode === undefined ? {} : { maxPods: group.maxPodsPerNode }),
  });
}

function afterSlash(arn: string | undefined): string | undefined {
  return arn?.split('/').at(-1);
}

const FIELDS = {
  name: 'name',
  types: 'instanceTypes',
  minSize: 'minSize',
  maxSize: 'maxSize',
  image: 'amiFamily',
  identity: 'iam',
  labels: 'labels',
  taints: 'taints',
  kubelet: 'kubeletExtraConfig',
};

function groupOf(config: ClusterConfig, group: EksctlGroup, field: string): NodeGroup {
  const { name, iam = {}, ami, availabilityZones = [], labels = {} } = group;
  const { [group.amiFamily ?? 'AmazonLinux2023']: family = 'AL2' } = FAMILIES;
  const market = marketOf(group, field);
  const attached = (group.securityGroups?.attachIDs ?? []).map((id) => ({ id }));
  const isOwnImage = ami?.startsWith('ami-') === true;
  return {
    name,
    field,
    fields: FIELDS,
    instanceTypes: typesOf(group),
    requirements: selected(group),
    capacityTypes: market.capacityTypes,
    zones: availabilityZones,
    family,
    imageRelease: isOwnImage ? undefined : releaseOf(group, family),
    imageTerms: isOwnImage ? [{ id: ami }] : [],
    role: iam.instanceRoleName ?? afterSlash(iam.instanceRoleARN),
    instanceProfile: afterSlash(iam.instanceProfileARN),
    subnetTerms: subnetTermsOf(config, group),
    securityGroupTerms: [{ tags: { 'aws:eks:cluster-name': config.metadata.name } }, ...attached],
    devices: devicesOf(group, family),
    metadataOptions: metadataOptionsOf(group),
    detailedMonitoring: group.enableDetailedMonitoring,
    labels,
    taints: taintsOf(group),
    tags: ownTags({ ...config.metadata.tags, ...group.tags }),
    kubelet: kubeletOf(group),
    minSize: group.minSize ?? 0,
    limits: nodeLimit(group.maxSize),
    lifetime: group.maxInstanceLifetime || undefined,
    notes: [
      ...market.notes,
      ...subnetNotes(config, group, field),
      ...(isOwnImage ? [] : releaseNotes(group, family, field)),
      ...leftOut(group, EKSCTL_GROUP, field),
    ],
  };
}

/** Ubuntu starts as AL2 does, from an image that v1 cannot look up by itself. */
function familyIssues({ amiFamily, ami }: EksctlGroup, field: string): readonly Issue[] {
  if (amiFamily === undefined || FAMILIES[amiFamily] !== undefined) return [];
  const hasImage = ami?.startsWith('ami-') === true;
  if (amiFamily.startsWith('Ubuntu') && hasImage) return [];
  const message = amiFamily.startsWith('Ubuntu')
    ? `"${amiFamily}": v1 has no alias for it: name an image with ami: ami-…`
    : `must be one of ${Object.keys(FAMILIES).join(', ')} or Ubuntu…, not "${amiFamily}"`;
  return [{ path: `${field}.amiFamily`, message }];
}

/** The groups of a ClusterConfig of eksctl, or everything that is wrong with it. */
export function eksctlGroups(object: Json): {
  readonly groups: readonly NodeGroup[];
  readonly issues: readonly Issue[];
} {
  const decoded = CLUSTER_CONFIG.safeParse(object, { reportInput: true });
  if (!decoded.success) return { groups: [], issues: issuesOf(decoded.error, CLUSTER_CONFIG) };
  const config = decoded.data;
  const lists = { managedNodeGroups: config.managedNodeGroups, nodeGroups: config.nodeGroups };
  const all = Object.entries(lists).flatMap(([list, groups = []]) =>
    groups.map((group, index) => ({ group, field: `${list}[${index}]` })),
  );
  if (all.length === 0) {
    const message = 'has neither managedNodeGroups nor nodeGroups: there is nothing to convert';
    return { groups: [], issues: [{ path: 'managedNodeGroups', message }] };
  }
  return {
    groups: all.map(({ group, field }) => groupOf(config, group, field)),
    issues: all.flatMap(({ group, field }) => familyIssues(group, field)),
  };
}
