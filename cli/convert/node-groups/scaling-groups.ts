import * as z from 'zod';
import type { Issue } from '../../../shared/api/issue.ts';
import { INSTANCE_LABELS } from '../../../shared/core/model/labels.ts';
import type { Note } from '../part.ts';
import {
  classFieldsOf,
  commandFor,
  type TemplateData,
  type TemplateReference,
  type TemplateVersion,
  templateOf,
} from './launch-template.ts';
import {
  capacityTypesOf,
  type GroupTaint,
  leftOut,
  type NodeGroup,
  ownTags,
  type TypeRequirement,
} from './node-group.ts';

const specification = z.looseObject({
  LaunchTemplateId: z.string().optional(),
  LaunchTemplateName: z.string().optional(),
  Version: z.string().optional(),
});

const range = z.looseObject({ Min: z.number().optional(), Max: z.number().optional() });

const requirements = z.looseObject({ VCpuCount: range.optional(), MemoryMiB: range.optional() });

const group = z.looseObject({
  AutoScalingGroupName: z.string().min(1),
  LaunchTemplate: specification.optional(),
  MixedInstancesPolicy: z
    .looseObject({
      LaunchTemplate: z.looseObject({
        LaunchTemplateSpecification: specification,
        Overrides: z
          .array(
            z.looseObject({
              InstanceType: z.string().optional(),
              InstanceRequirements: requirements.optional(),
            }),
          )
          .optional(),
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
  VPCZoneIdentifier: z.string().min(1),
  Tags: z
    .array(
      z.looseObject({
        Key: z.string(),
        Value: z.string(),
        PropagateAtLaunch: z.boolean().optional(),
      }),
    )
    .optional(),
});

/** What `aws autoscaling describe-auto-scaling-groups` prints, as far as it is read. */
export const DESCRIBED_SCALING_GROUPS = z.looseObject({ AutoScalingGroups: z.array(group) });

type Described = z.output<typeof group>;

/** https://github.com/kubernetes/autoscaler, cloudprovider/aws: what a group's nodes have. */
const LABEL = 'k8s.io/cluster-autoscaler/node-template/label/';
const TAINT = 'k8s.io/cluster-autoscaler/node-template/taint/';
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

function referenceOf({
  LaunchTemplate,
  MixedInstancesPolicy,
}: Described): TemplateReference | undefined {
  const named = MixedInstancesPolicy?.LaunchTemplate.LaunchTemplateSpecification ?? LaunchTemplate;
  if (named === undefined) return undefined;
  const { LaunchTemplateId: id, LaunchTemplateName: name, Version: version } = named;
  return { id, name, version };
}

function between(key: string, { Min, Max }: z.output<typeof range>): readonly TypeRequirement[] {
  const least: readonly TypeRequirement[] =
    Min === undefined || Min <= 0 ? [] : [{ key, operator: 'Gt', values: [String(Min - 1)] }];
  const most: readonly TypeRequirement[] =
    Max === undefined ? [] : [{ key, operator: 'Lt', values: [String(Max + 1)] }];
  return [...least, ...most];
}

/** Types by name, or the CPUs and memory that EC2 selects them by. */
function typesOf(
  { MixedInstancesPolicy }: Described,
  template: TemplateData,
  field: string,
): Pick<NodeGroup, 'instanceTypes' | 'requirements' | 'notes'> {
  const { Overrides = [] } = MixedInstancesPolicy?.LaunchTemplate ?? {};
  const named = Overrides.flatMap(({ InstanceType }) => InstanceType ?? []);
  const selected = Overrides.find(
    ({ InstanceRequirements }) => InstanceRequirements !== undefined,
  )?.InstanceRequirements;
  if (selected === undefined) {
    const own = template.InstanceType === undefined ? [] : [template.InstanceType];
    return { instanceTypes: named.length > 0 ? named : own, requirements: [], notes: [] };
  }
  const { VCpuCount = {}, MemoryMiB = {} } = selected;
  const at = `${field}.MixedInstancesPolicy.LaunchTemplate.Overrides[0].InstanceRequirements`;
  return {
    instanceTypes: [],
    requirements: [
      ...between(INSTANCE_LABELS.cpu, VCpuCount),
      ...between(INSTANCE_LABELS.memory, MemoryMiB),
    ],
    notes: leftOut(selected, ['VCpuCount', 'MemoryMiB'], at),
  };
}

function marketOf({ MixedInstancesPolicy }: Described, template: TemplateData, field: string) {
  if (MixedInstancesPolicy === undefined) {
    const isSpot = template['InstanceMarketOptions'] !== undefined;
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

function groupOf(described: Described, template: TemplateData, field: string): NodeGroup {
  const { AutoScalingGroupName, MinSize, MaxSize, VPCZoneIdentifier, Tags = [] } = described;
  const fields = classFieldsOf(template, `${field}.LaunchTemplate`);
  const types = typesOf(described, template, field);
  const market = marketOf(described, template, field);
  const tags = tagsOf(described);
  const given = Tags.filter(({ PropagateAtLaunch }) => PropagateAtLaunch === true);
  const passed = Object.fromEntries(given.map(({ Key, Value }) => [Key, Value]));
  return {
    name: AutoScalingGroupName,
    field,
    fields: FIELDS,
    instanceTypes: types.instanceTypes,
    requirements: types.requirements,
    capacityTypes: market.capacityTypes,
    zones: [],
    family: 'Custom',
    imageTerms: [{ id: template.ImageId }],
    instanceProfile: fields.instanceProfile,
    subnetTerms: VPCZoneIdentifier.split(',').map((id) => ({ id: id.trim() })),
    securityGroupTerms: fields.securityGroupTerms,
    devices: fields.devices,
    metadataOptions: fields.metadataOptions,
    userData: fields.userData,
    detailedMonitoring: fields.detailedMonitoring,
    labels: Object.fromEntries(belowPrefix(tags, LABEL)),
    taints: taintsOf(tags),
    tags: ownTags({ ...fields.tags, ...passed }),
    minSize: MinSize,
    maxSize: MaxSize,
    notes: [userDataNote(field), ...types.notes, ...market.notes, ...fields.notes],
  };
}

interface Found {
  readonly groups: readonly NodeGroup[];
  readonly issues: readonly Issue[];
  readonly notes: readonly Note[];
}

function found(described: Described, templates: readonly TemplateVersion[], field: string): Found {
  const none: Found = { groups: [], issues: [], notes: [] };
  const { [MANAGED]: managed } = tagsOf(described);
  if (managed !== undefined) {
    const message = `left out: it belongs to the managed node group ${managed}: give what aws eks describe-nodegroup prints`;
    return { ...none, notes: [{ field, message }] };
  }
  const reference = referenceOf(described);
  if (reference === undefined) {
    const message =
      'has no launch template: EKS nodes of launch configurations cannot be converted';
    return { ...none, issues: [{ path: field, message }] };
  }
  const template = templateOf(reference, templates);
  if (template === undefined) {
    const message = `its launch template is not among the files; give also what this prints: ${commandFor(reference)}`;
    return { ...none, issues: [{ path: field, message }] };
  }
  if (template.ImageId === undefined) {
    const message = 'its launch template names no image';
    return { ...none, issues: [{ path: field, message }] };
  }
  return { ...none, groups: [groupOf(described, template, field)] };
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
