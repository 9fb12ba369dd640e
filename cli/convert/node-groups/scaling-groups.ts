import * as z from 'zod';
import type { Issue } from '../../../shared/api/issue.ts';
import { INSTANCE_LABELS } from '../../../shared/core/model/labels.ts';
import type { Note } from '../part.ts';
import {
  classFieldsOf,
  INSTANCE_REQUIREMENTS,
  type TemplateData,
  type TemplateVersion,
} from './launch-template.ts';
import { leftOut } from './left-out.ts';
import {
  capacityTypesOf,
  type GroupTaint,
  type NodeGroup,
  ownTags,
  type TypeRequirement,
} from './node-group.ts';
import { type Part, partsOfGroup, SPECIFICATION } from './scaling-group-parts.ts';

/** What says how the group is, and nothing about its nodes. */
const state = z.unknown().optional();

const override = z.looseObject({
  InstanceType: z.string().optional(),
  InstanceRequirements: INSTANCE_REQUIREMENTS.optional(),
  LaunchTemplateSpecification: SPECIFICATION.optional(),
  ImageId: z.string().optional(),
  WeightedCapacity: z
    .string()
    .regex(/^[1-9]\d*$/)
    .optional(),
});

const group = z.looseObject({
  AutoScalingGroupName: z.string().min(1),
  LaunchTemplate: SPECIFICATION.optional(),
  MixedInstancesPolicy: z
    .looseObject({
      LaunchTemplate: z.looseObject({
        LaunchTemplateSpecification: SPECIFICATION,
        Overrides: z.array(override).optional(),
      }),
      InstancesDistribution: z
        .looseObject({
          OnDemandBaseCapacity: z.int().optional(),
          OnDemandPercentageAboveBaseCapacity: z.int().optional(),
        })
        .optional(),
    })
    .optional(),
  MinSize: z.int(),
  MaxSize: z.int(),
  DesiredCapacityType: z.enum(['units', 'vcpu', 'memory-mib']).optional(),
  /** Seconds. */
  MaxInstanceLifetime: z.int().min(0).optional(),
  VPCZoneIdentifier: z.string().min(1),
  Tags: z
    .array(
      z.looseObject({
        Key: z.string(),
        Value: z.string(),
        PropagateAtLaunch: z.boolean().optional(),
        ResourceId: state,
        ResourceType: state,
      }),
    )
    .optional(),
  AutoScalingGroupARN: state,
  AvailabilityZoneIds: state,
  AvailabilityZones: state,
  CreatedTime: state,
  DesiredCapacity: state,
  Instances: state,
  PredictedCapacity: state,
  ServiceLinkedRoleARN: state,
  Status: state,
  WarmPoolSize: state,
});

/** What AWS writes where nobody gave it. */
const UNSET = {
  AvailabilityZoneDistribution: { CapacityDistributionStrategy: 'balanced-best-effort' },
  AvailabilityZoneImpairmentPolicy: {
    ImpairedZoneHealthCheckBehavior: 'IgnoreUnhealthy',
    ZonalShiftEnabled: false,
  },
  CapacityRebalance: false,
  CapacityReservationSpecification: { CapacityReservationPreference: 'default' },
  DefaultCooldown: 300,
  HealthCheckGracePeriod: 0,
  HealthCheckType: 'EC2',
  NewInstancesProtectedFromScaleIn: false,
  TerminationPolicies: ['Default'],
};

/** What `aws autoscaling describe-auto-scaling-groups` prints, as far as it is read. */
export const DESCRIBED_SCALING_GROUPS = z.looseObject({ AutoScalingGroups: z.array(group) });

type Described = z.output<typeof group>;
type Override = z.output<typeof override>;

/** https://github.com/kubernetes/autoscaler, cloudprovider/aws: what a group's nodes have. */
const NODE_TEMPLATE = 'k8s.io/cluster-autoscaler/node-template/';
const LABEL = `${NODE_TEMPLATE}label/`;
const TAINT = `${NODE_TEMPLATE}taint/`;
/** EKS marks the groups that it makes for managed node groups. */
const MANAGED = 'eks:nodegroup-name';

function tagsOf({ Tags = [] }: Described): Readonly<Record<string, string>> {
  return Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
}

function belowPrefix(
  tags: Readonly<Record<string, string>>,
  prefix: string,
): readonly (readonly [key: string, value: string])[] {
  return Object.entries(tags)
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, value]) => [key.slice(prefix.length), value]);
}

function taintsOf(tags: Readonly<Record<string, string>>): readonly GroupTaint[] {
  return belowPrefix(tags, TAINT).map(([key, text]) => {
    const at = text.lastIndexOf(':');
    const value = text.slice(0, Math.max(0, at));
    return { key, ...(value === '' ? {} : { value }), effect: text.slice(at + 1) };
  });
}

function between(
  key: string,
  { Min, Max }: { Min?: number | undefined; Max?: number | undefined },
): readonly TypeRequirement[] {
  const least: readonly TypeRequirement[] =
    Min === undefined || Min <= 0 ? [] : [{ key, operator: 'Gt', values: [String(Min - 1)] }];
  const most: readonly TypeRequirement[] =
    Max === undefined ? [] : [{ key, operator: 'Lt', values: [String(Max + 1)] }];
  return [...least, ...most];
}

/** Types by name, or the CPUs and memory that EC2 selects them by. */
function typesOf(
  { overrides }: Part<Override>,
  template: TemplateData,
): Pick<NodeGroup, 'instanceTypes' | 'requirements' | 'notes'> {
  const named = overrides.flatMap(({ given: { InstanceType } }) => InstanceType ?? []);
  const selecting = overrides.filter(({ given }) => given.InstanceRequirements !== undefined);
  const selected = selecting[0]?.given.InstanceRequirements ?? template.InstanceRequirements;
  const own = template.InstanceType === undefined ? [] : [template.InstanceType];
  const instanceTypes = named.length > 0 ? named : own;
  if (selected === undefined) return { instanceTypes, requirements: [], notes: [] };
  const { VCpuCount = {}, MemoryMiB = {} } = selected;
  const others = selecting.slice(1);
  return {
    instanceTypes: [],
    requirements: [
      ...between(INSTANCE_LABELS.cpu, VCpuCount),
      ...between(INSTANCE_LABELS.memory, MemoryMiB),
    ],
    notes: others.map(({ field }) => ({
      field: `${field}.InstanceRequirements`,
      message: 'left out: a NodePool has one set of requirements; write another NodePool',
    })),
  };
}

/** In nodes, unless the group counts CPUs or memory. */
function limitsOf(
  { MaxSize, DesiredCapacityType = 'units' }: Described,
  { overrides }: Part<Override>,
  field: string,
): Pick<NodeGroup, 'limits' | 'notes'> {
  const at = `${field}.MaxSize`;
  if (DesiredCapacityType !== 'units') {
    const [name, value, unit] =
      DesiredCapacityType === 'vcpu'
        ? ['cpu', String(MaxSize), 'vCPUs']
        : ['memory', `${MaxSize}Mi`, 'MiB'];
    const message = `${MaxSize}: limits.${name} is ${value}: the group counts ${unit}, not nodes`;
    return { limits: { [name]: value }, notes: [{ field: at, message }] };
  }
  const weights = overrides.map(({ given: { WeightedCapacity = '1' } }) =>
    Number(WeightedCapacity),
  );
  const least = Math.min(...weights, Number.MAX_SAFE_INTEGER);
  const greatest = Math.max(...weights, 1);
  if (greatest === 1) return { limits: { nodes: String(MaxSize) }, notes: [] };
  const nodes = String(Math.ceil(MaxSize / least));
  const message = `${MaxSize}: limits.nodes is ${nodes}, as of nodes of the smallest WeightedCapacity, ${least}: a NodePool counts nodes without weights`;
  return { limits: { nodes }, notes: [{ field: at, message }] };
}

function marketOf({ MixedInstancesPolicy }: Described, template: TemplateData, field: string) {
  if (MixedInstancesPolicy === undefined) {
    const isSpot = template.InstanceMarketOptions?.MarketType === 'spot';
    return capacityTypesOf(0, isSpot ? 0 : 100, field);
  }
  const { OnDemandBaseCapacity = 0, OnDemandPercentageAboveBaseCapacity = 100 } =
    MixedInstancesPolicy.InstancesDistribution ?? {};
  const at = `${field}.MixedInstancesPolicy.InstancesDistribution`;
  return capacityTypesOf(OnDemandBaseCapacity, OnDemandPercentageAboveBaseCapacity, at);
}

/** A node of such a group joins by the user data of its template, and no other way. */
function userDataNote(field: string): Note {
  const message =
    'amiFamily Custom passes spec.userData to the instance as it is: it must register the node with the taint karpenter.sh/unregistered:NoExecute, and its labels and taints must be those of the NodePool. With amiFamily AL2023, AL2 or Bottlerocket, Joiner writes the bootstrap itself: remove it from spec.userData';
  return { field, message };
}

const FIELDS = {
  name: 'AutoScalingGroupName',
  types: 'MixedInstancesPolicy',
  minSize: 'MinSize',
  maxSize: 'MaxSize',
  image: 'LaunchTemplate',
  identity: 'LaunchTemplate',
  labels: 'Tags',
  taints: 'Tags',
  kubelet: 'LaunchTemplate',
};

/** Tags that are neither the labels and taints of nodes, nor of instances, nor a program's. */
function tagNotes({ Tags = [] }: Described, field: string): readonly Note[] {
  return Tags.flatMap(({ Key, PropagateAtLaunch }, index): readonly Note[] => {
    if (Key.startsWith(LABEL) || Key.startsWith(TAINT)) return [];
    const isOfNodes = Key.startsWith(NODE_TEMPLATE);
    const isOfInstances = PropagateAtLaunch === true || ownTags({ [Key]: '' })[Key] === undefined;
    if (!isOfNodes && isOfInstances) return [];
    const message = isOfNodes
      ? `${Key}: left out: a NodePool has spec.disruption, and the resources of its instance types`
      : `${Key}: left out: it is a tag of the group, not of its instances`;
    return [{ field: `${field}.Tags[${index}]`, message }];
  });
}

function groupOf(described: Described, part: Part<Override>, field: string): NodeGroup {
  const { MinSize, MaxInstanceLifetime = 0, Tags = [] } = described;
  const { template } = part;
  const fields = classFieldsOf(template, part.field);
  const types = typesOf(part, template);
  const market = marketOf(described, template, field);
  const size = limitsOf(described, part, field);
  const tags = tagsOf(described);
  const given = Tags.filter(({ PropagateAtLaunch }) => PropagateAtLaunch === true);
  const passed = Object.fromEntries(given.map(({ Key, Value }) => [Key, Value]));
  return {
    name: part.name,
    field,
    fields: FIELDS,
    instanceTypes: types.instanceTypes,
    requirements: types.requirements,
    capacityTypes: market.capacityTypes,
    zones: [],
    family: 'Custom',
    imageTerms: [{ id: template.ImageId }],
    instanceProfile: fields.instanceProfile,
    subnetTerms: described.VPCZoneIdentifier.split(',').map((id) => ({ id: id.trim() })),
    securityGroupTerms: fields.securityGroupTerms,
    devices: fields.devices,
    metadataOptions: fields.metadataOptions,
    userData: fields.userData,
    detailedMonitoring: fields.detailedMonitoring,
    associatePublicIPAddress: fields.associatePublicIPAddress,
    labels: Object.fromEntries(belowPrefix(tags, LABEL)),
    taints: taintsOf(tags),
    tags: ownTags({ ...fields.tags, ...passed }),
    minSize: MinSize,
    limits: size.limits,
    lifetime: MaxInstanceLifetime === 0 ? undefined : MaxInstanceLifetime,
    notes: [
      userDataNote(field),
      ...part.notes,
      ...types.notes,
      ...size.notes,
      ...market.notes,
      ...fields.notes,
    ],
  };
}

interface Found {
  readonly groups: readonly NodeGroup[];
  readonly issues: readonly Issue[];
  readonly notes: readonly Note[];
}

function found(described: Described, templates: readonly TemplateVersion[], field: string): Found {
  const { [MANAGED]: managed } = tagsOf(described);
  if (managed !== undefined) {
    const message = `left out: it belongs to the managed node group ${managed}: give what aws eks describe-nodegroup prints`;
    return { groups: [], issues: [], notes: [{ field, message }] };
  }
  const { parts, issues } = partsOfGroup(described, templates, field);
  if (issues.length > 0) return { groups: [], issues, notes: [] };
  return {
    groups: parts.map((part) => groupOf(described, part, field)),
    issues: [],
    notes: [...leftOut(described, group, field, { unset: UNSET }), ...tagNotes(described, field)],
  };
}

/** Auto Scaling groups as AWS describes them, each with what is wrong with it. */
export function scalingGroups(
  { AutoScalingGroups }: z.output<typeof DESCRIBED_SCALING_GROUPS>,
  templates: readonly TemplateVersion[],
): Found {
  const all = AutoScalingGroups.map((each, index) =>
    found(each, templates, `AutoScalingGroups[${index}]`),
  );
  return {
    groups: all.flatMap(({ groups }) => groups),
    issues: all.flatMap(({ issues }) => issues),
    notes: all.flatMap(({ notes }) => notes),
  };
}
