import * as z from 'zod';
import type { Issue } from '../../../shared/api/issue.ts';
import { ON_DEMAND, SPOT } from '../../../shared/core/model/labels.ts';
import type { Note } from '../part.ts';
import {
  classFieldsOf,
  commandFor,
  TEMPLATE_DATA,
  type TemplateData,
  type TemplateReference,
  type TemplateVersion,
  versionOf,
} from './launch-template.ts';
import { leftOut } from './left-out.ts';
import { type NodeGroup, nodeLimit, ownTags } from './node-group.ts';
import { releaseNotes, releaseOf } from './release.ts';

const EFFECTS = {
  NO_SCHEDULE: 'NoSchedule',
  NO_EXECUTE: 'NoExecute',
  PREFER_NO_SCHEDULE: 'PreferNoSchedule',
} as const;

const texts = z.record(z.string(), z.string());
/** What says how the group is, and nothing about its nodes. */
const state = z.unknown().optional();

/** What `aws eks describe-nodegroup` prints, as far as it is read. */
export const DESCRIBED_NODE_GROUP = z.looseObject({
  nodegroup: z.looseObject({
    nodegroupName: z.string().min(1),
    clusterName: z.string().min(1),
    capacityType: z.enum(['ON_DEMAND', 'SPOT', 'CAPACITY_BLOCK']).optional(),
    scalingConfig: z
      .looseObject({
        minSize: z.int().optional(),
        maxSize: z.int().optional(),
        desiredSize: state,
      })
      .optional(),
    instanceTypes: z.array(z.string()).optional(),
    subnets: z.array(z.string()).min(1),
    amiType: z.string().optional(),
    nodeRole: z.string(),
    labels: texts.optional(),
    taints: z
      .array(
        z.looseObject({
          key: z.string(),
          value: z.string().optional(),
          effect: z.enum(['NO_SCHEDULE', 'NO_EXECUTE', 'PREFER_NO_SCHEDULE']),
        }),
      )
      .optional(),
    diskSize: z.int().optional(),
    launchTemplate: z
      .looseObject({
        id: z.string().optional(),
        name: z.string().optional(),
        version: z.string().optional(),
      })
      .optional(),
    releaseVersion: z.string().optional(),
    nodegroupArn: state,
    version: state,
    createdAt: state,
    modifiedAt: state,
    status: state,
    health: state,
    resources: state,
  }),
});

type Described = z.output<typeof DESCRIBED_NODE_GROUP>['nodegroup'];

const FIELD = 'nodegroup';

/** Of `amiType`: https://docs.aws.amazon.com/eks/latest/APIReference/API_Nodegroup.html */
function familyOf(amiType: string): string | undefined {
  const [, year] = /^WINDOWS_(?:CORE|FULL)_(\d{4})_/.exec(amiType) ?? [];
  if (year !== undefined) return `Windows${year}`;
  if (amiType.startsWith('AL2023_')) return 'AL2023';
  if (amiType.startsWith('AL2_')) return 'AL2';
  if (amiType.startsWith('BOTTLEROCKET_')) return 'Bottlerocket';
  return amiType === 'CUSTOM' ? 'Custom' : undefined;
}

const UNREAD = {
  unset: { nodeRepairConfig: { enabled: false } },
  messages: {
    remoteAccess: 'left out: nodes get no SSH key',
    nodeRepairConfig:
      'left out: the feature gate NodeRepair of Joiner repairs the nodes of all NodePools',
    updateConfig:
      'left out: spec.disruption.budgets of the NodePool say how many nodes are replaced at once',
    tags: 'left out: they are tags of the group, not of its instances',
  },
};

function referenceOf({ launchTemplate }: Described): TemplateReference | undefined {
  if (launchTemplate === undefined) return undefined;
  const { id, name, version } = launchTemplate;
  return { id, name, version };
}

function notesOf(group: Described, family: string): readonly Note[] {
  const { amiType = '' } = group;
  const variant = /_FIPS$/.test(amiType);
  const own = family === 'Custom';
  return [
    ...(variant
      ? [
          {
            field: `${FIELD}.amiType`,
            message: `"${amiType}": the alias selects images without FIPS: name images with amiSelectorTerms`,
          },
        ]
      : []),
    ...(own
      ? [
          {
            field: `${FIELD}.amiType`,
            message:
              '"CUSTOM": amiFamily Custom passes spec.userData to the instance as it is: it must register the node with the taint karpenter.sh/unregistered:NoExecute',
          },
        ]
      : []),
    ...releaseNotes(group, family, FIELD),
    ...leftOut(group, DESCRIBED_NODE_GROUP.shape.nodegroup, FIELD, UNREAD),
  ];
}

/** EKS attaches the cluster security group where the template names none. */
function securityGroupTerms(group: Described, named: NodeGroup['securityGroupTerms']) {
  return named.length > 0 ? named : [{ tags: { 'aws:eks:cluster-name': group.clusterName } }];
}

function diskOf({ diskSize }: Described, family: string): NodeGroup['devices'] {
  if (diskSize === undefined) return undefined;
  const windows = family.startsWith('Windows') ? '/dev/sda1' : '/dev/xvda';
  const deviceName = family === 'Bottlerocket' ? '/dev/xvdb' : windows;
  return [{ deviceName, ebs: { volumeSize: `${diskSize}Gi`, volumeType: 'gp3' } }];
}

/** EKS's own template: pods reach the metadata service, tokens are required from AL2023 on. */
function ownOptions(family: string): NodeGroup['metadataOptions'] {
  return {
    httpEndpoint: 'enabled',
    httpProtocolIPv6: 'disabled',
    httpPutResponseHopLimit: 2,
    httpTokens: family === 'AL2' || family.startsWith('Windows') ? 'optional' : 'required',
  };
}

/** A managed node group says the others itself. */
const READ_OF_TEMPLATE = TEMPLATE_DATA.omit({
  IamInstanceProfile: true,
  InstanceMarketOptions: true,
  InstanceRequirements: true,
});

const FIELDS = {
  name: 'nodegroupName',
  types: 'instanceTypes',
  minSize: 'scalingConfig.minSize',
  maxSize: 'scalingConfig.maxSize',
  image: 'amiType',
  identity: 'nodeRole',
  labels: 'labels',
  taints: 'taints',
  kubelet: 'launchTemplate',
};

function groupOf(group: Described, family: string, template: TemplateData | undefined): NodeGroup {
  const { instanceTypes = [], capacityType, scalingConfig, labels = {}, taints = [] } = group;
  const fields = classFieldsOf(
    template ?? {},
    `${FIELD}.launchTemplate`,
    family === 'Custom' ? READ_OF_TEMPLATE : READ_OF_TEMPLATE.omit({ ImageId: true }),
  );
  const type = template?.InstanceType ?? 't3.medium';
  const isOwnImage = family === 'Custom' && template?.ImageId !== undefined;
  return {
    name: group.nodegroupName,
    field: FIELD,
    fields: FIELDS,
    instanceTypes: instanceTypes.length > 0 ? instanceTypes : [type],
    requirements: [],
    capacityTypes: [capacityType === 'SPOT' ? SPOT : ON_DEMAND],
    zones: [],
    family,
    imageRelease: releaseOf(group, family),
    imageTerms: isOwnImage ? [{ id: template.ImageId }] : [],
    role: group.nodeRole.split('/').at(-1),
    subnetTerms: group.subnets.map((id) => ({ id })),
    securityGroupTerms: securityGroupTerms(group, fields.securityGroupTerms),
    devices: fields.devices ?? diskOf(group, family),
    metadataOptions: template === undefined ? ownOptions(family) : fields.metadataOptions,
    userData: fields.userData,
    detailedMonitoring: fields.detailedMonitoring,
    associatePublicIPAddress: fields.associatePublicIPAddress,
    labels,
    taints: taints.map(({ key, value, effect }) => ({ key, value, effect: EFFECTS[effect] })),
    tags: ownTags(fields.tags),
    minSize: scalingConfig?.minSize ?? 0,
    limits: nodeLimit(scalingConfig?.maxSize),
    notes: [...fields.notes, ...notesOf(group, family)],
  };
}

/** A managed node group as EKS describes it, or what is wrong with it. */
export function managedGroup(
  { nodegroup }: z.output<typeof DESCRIBED_NODE_GROUP>,
  templates: readonly TemplateVersion[],
): { readonly groups: readonly NodeGroup[]; readonly issues: readonly Issue[] } {
  const { amiType = 'AL2023_x86_64_STANDARD', capacityType } = nodegroup;
  const family = familyOf(amiType);
  const reference = referenceOf(nodegroup);
  const template =
    reference === undefined ? undefined : versionOf(reference, templates)?.LaunchTemplateData;
  const issues: Issue[] = [];
  if (family === undefined) {
    const message = `"${amiType}": v1 has no family for it`;
    issues.push({ path: `${FIELD}.amiType`, message });
  }
  if (capacityType === 'CAPACITY_BLOCK') {
    const message = 'CAPACITY_BLOCK: write capacityReservationSelectorTerms of an EC2NodeClass';
    issues.push({ path: `${FIELD}.capacityType`, message });
  }
  if (reference !== undefined && template === undefined) {
    const message = `is not among the files; give also what this prints: ${commandFor(reference)}`;
    issues.push({ path: `${FIELD}.launchTemplate`, message });
  }
  if (family === undefined || issues.length > 0) return { groups: [], issues };
  return { groups: [groupOf(nodegroup, family, template)], issues };
}
