import type { Tag } from '@aws-sdk/client-ec2';
import type { WireCloud } from '../aws/cloud.ts';
import type { Fields } from '../aws/wire/request.ts';
import type { RecordedCall } from '../aws/wire/server.ts';

/** What AWS asks its policies because of a call: more than the call's own action at times. */
export interface Asked {
  readonly action: string;
  /** With ids and random names replaced, so that two runs ask the same. */
  readonly resource: string;
  readonly context: Readonly<Record<string, string | readonly string[]>>;
}

type Tags = Readonly<Record<string, string>>;
type Expand = (input: Fields, world: AskedWorld) => readonly Asked[];

/** What is known of the resources that calls name, gathered while they are there. */
export class AskedWorld {
  readonly region: string;
  readonly account: string;
  private readonly cloud: WireCloud;
  private readonly templates = new Map<string, Tags>();
  private readonly profiles = new Map<string, Tags>();

  constructor(cloud: WireCloud) {
    this.cloud = cloud;
    this.region = cloud.account.region;
    this.account = cloud.account.id;
  }

  /** To be called often: what a call deletes must have been seen before. */
  look(): void {
    const { account, profiles } = this.cloud;
    for (const { about } of account.templates.values()) {
      const tags = tagsOf(about.Tags);
      this.templates.set(about.LaunchTemplateName ?? '', tags);
      this.templates.set(about.LaunchTemplateId ?? '', tags);
    }
    for (const { name, tags } of profiles.profiles.values()) this.profiles.set(name, tagsOf(tags));
  }

  template(name: string): Tags {
    return this.templates.get(name) ?? {};
  }

  profile(name: string): Tags {
    return this.profiles.get(name) ?? {};
  }

  instance(id: string): Tags {
    return tagsOf(this.cloud.account.instances.get(id)?.tags);
  }

  ec2(type: string, own = true): string {
    return `arn:aws:ec2:${this.region}:${own ? this.account : ''}:${type}/ID`;
  }
}

/** Values that differ from object to object, and that no condition names. */
const ANY = new Set([
  'Name',
  'karpenter.sh/nodepool',
  'karpenter.sh/nodeclaim',
  'karpenter.k8s.aws/ec2nodeclass',
  'joiner.dev/fleet',
]);

function tagsOf(tags: readonly Partial<Tag>[] = []): Tags {
  const pairs = tags.map(({ Key = '', Value = '' }) => [Key, ANY.has(Key) ? 'ANY' : Value]);
  return Object.fromEntries(pairs.toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

function requestTags(tags: Tags): Asked['context'] {
  const entries = Object.entries(tags).map(([key, value]) => [`aws:RequestTag/${key}`, value]);
  const keys = Object.keys(tags);
  return keys.length === 0 ? {} : { ...Object.fromEntries(entries), 'aws:TagKeys': keys };
}

/** Of the tags that a resource has, only those that conditions read: others may come later. */
function resourceTags(tags: Tags): Asked['context'] {
  return Object.fromEntries(
    Object.entries(tags)
      .filter(([key]) => key.startsWith('kubernetes.io/cluster/') || READ.has(key))
      .map(([key, value]) => [`aws:ResourceTag/${key}`, value]),
  );
}

const READ = new Set([
  'karpenter.sh/nodepool',
  'karpenter.k8s.aws/ec2nodeclass',
  'topology.kubernetes.io/region',
]);

interface Specified {
  readonly ResourceType?: string;
  readonly Tags?: Tag[];
}

function specified(input: Fields, type: string): Tags {
  const specifications = (input['TagSpecifications'] ?? []) as readonly Specified[];
  return tagsOf(
    specifications.filter((each) => each.ResourceType === type).flatMap((each) => each.Tags ?? []),
  );
}

/** Tags that are given when a resource is made need CreateTags as well. */
function made(action: string, resource: string, tags: Tags): readonly Asked[] {
  const context = requestTags(tags);
  const tagging = { action: 'ec2:CreateTags', resource };
  const by = { ...context, 'ec2:CreateAction': action.replace('ec2:', '') };
  const own = { action, resource, context };
  return Object.keys(tags).length === 0 ? [own] : [own, { ...tagging, context: by }];
}

interface FleetInput {
  readonly TargetCapacitySpecification?: { readonly DefaultTargetCapacityType?: string };
  readonly LaunchTemplateConfigs?: readonly {
    readonly LaunchTemplateSpecification?: { readonly LaunchTemplateName?: string };
  }[];
}

/**
 * A fleet of type `instant` launches with the permissions of its caller: besides its own action it
 * takes those of RunInstances, for all that the template names.
 * https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/ec2-fleet-prerequisites.html
 * https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonec2.html
 */
const createFleet: Expand = (input, world) => {
  const { TargetCapacitySpecification, LaunchTemplateConfigs = [] } = input as FleetInput;
  const isSpot = TargetCapacitySpecification?.DefaultTargetCapacityType === 'spot';
  const names = LaunchTemplateConfigs.map(
    (each) => each.LaunchTemplateSpecification?.LaunchTemplateName ?? '',
  );
  const launches = ['ec2:CreateFleet', 'ec2:RunInstances'];
  const from = [
    ...['image', 'snapshot'].map((type) => world.ec2(type, false)),
    ...['subnet', 'security-group', 'capacity-reservation'].map((type) => world.ec2(type)),
  ];
  const instance = specified(input, 'instance');
  const tagged: readonly (readonly [string, Tags])[] = [
    ['instance', instance],
    ['volume', specified(input, 'volume')],
    // These get theirs from the launch template, which has the tags of its instances.
    ['network-interface', names[0] === undefined ? {} : world.template(names[0])],
    ...(isSpot ? [['spot-instances-request', world.template(names[0] ?? '')] as const] : []),
  ];
  return [
    ...made('ec2:CreateFleet', world.ec2('fleet'), specified(input, 'fleet')),
    ...launches.flatMap((action) => [
      ...from.map((resource) => ({ action, resource, context: {} })),
      ...names.map((name) => ({
        action,
        resource: world.ec2('launch-template'),
        context: resourceTags(world.template(name)),
      })),
      ...tagged.flatMap(([type, tags]) => made(action, world.ec2(type), tags)),
    ]),
    passRole('nodes', world),
  ];
};

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/id_roles_use_passrole.html */
function passRole(role: string, { account }: AskedWorld): Asked {
  return {
    action: 'iam:PassRole',
    resource: `arn:aws:iam::${account}:role/${role}`,
    context: { 'iam:PassedToService': 'ec2.amazonaws.com' },
  };
}

const onInstances =
  (action: string): Expand =>
  (input, world) => {
    const ids = (input['InstanceIds'] ?? input['Resources'] ?? []) as readonly string[];
    const given = tagsOf(input['Tags'] as Tag[] | undefined);
    return ids.map((id) => ({
      action,
      resource: world.ec2('instance'),
      context: { ...resourceTags(world.instance(id)), ...requestTags(given) },
    }));
  };

const onProfile =
  (action: string): Expand =>
  (input, world) => {
    const name = String(input['InstanceProfileName'] ?? '');
    const given = tagsOf(input['Tags'] as Tag[] | undefined);
    const isNew = action === 'CreateInstanceProfile';
    const known = isNew ? {} : resourceTags(world.profile(name));
    const asked = {
      action: `iam:${action}`,
      resource: `arn:aws:iam::${world.account}:instance-profile/PATH/NAME`,
      context: { ...known, ...requestTags(given) },
    };
    const role = String(input['RoleName'] ?? '');
    return action === 'AddRoleToInstanceProfile' ? [asked, passRole(role, world)] : [asked];
  };

/** Times, random names and counts in keys of the bucket. */
function keyOf(key: unknown): string {
  return String(key ?? '').replace(/(decisions|snapshots|shadow)\/.*/, '$1/NAME');
}

const onObject =
  (action: string, keyAction: string): Expand =>
  (input, { region }) => [
    {
      action: `s3:${action}`,
      resource: `arn:aws:s3:::${String(input['Bucket'])}/${keyOf(input['Key'])}`,
      context: {},
    },
    // S3 uses the bucket's key for its caller.
    // https://docs.aws.amazon.com/AmazonS3/latest/userguide/UsingKMSEncryption.html
    {
      action: `kms:${keyAction}`,
      resource: `arn:aws:kms:${region}:KEY`,
      context: { 'kms:ViaService': `s3.${region}.amazonaws.com` },
    },
  ];

interface Listed {
  readonly Delete?: { readonly Objects?: readonly { readonly Key?: string }[] };
  readonly Entries?: readonly { readonly Source?: string; readonly EventBusName?: string }[];
}

/** Of a call that names a queue or its address. */
const onQueue =
  (action: string): Expand =>
  (input, { region, account }) => {
    const name = String(input['QueueName'] ?? input['QueueUrl'])
      .split('/')
      .at(-1);
    return [{ action, resource: `arn:aws:sqs:${region}:${account}:${name}`, context: {} }];
  };

const EXPANSIONS: Readonly<Record<string, Expand>> = {
  'ec2:CreateFleet': createFleet,
  'ec2:CreateLaunchTemplate': (input, world) =>
    made(
      'ec2:CreateLaunchTemplate',
      world.ec2('launch-template'),
      specified(input, 'launch-template'),
    ),
  'ec2:DeleteLaunchTemplate': (input, world) => [
    {
      action: 'ec2:DeleteLaunchTemplate',
      resource: world.ec2('launch-template'),
      context: resourceTags(
        world.template(String(input['LaunchTemplateName'] ?? input['LaunchTemplateId'])),
      ),
    },
  ],
  'ec2:TerminateInstances': onInstances('ec2:TerminateInstances'),
  'ec2:CreateTags': onInstances('ec2:CreateTags'),
  'eks:DescribeCluster': (input, { region, account }) => [
    {
      action: 'eks:DescribeCluster',
      resource: `arn:aws:eks:${region}:${account}:cluster/${String(input['name'])}`,
      context: {},
    },
  ],
  // https://docs.aws.amazon.com/service-authorization/latest/reference/list_amazonelastickubernetesservice.html
  'eks:DisassociateAccessPolicy': (input, { region, account }) => [
    {
      action: 'eks:DisassociateAccessPolicy',
      resource:
        `arn:aws:eks:${region}:${account}:access-entry/${String(input['clusterName'])}` +
        `/role/${account}/${String(input['principalArn']).split('/').at(-1)}/ID`,
      context: {},
    },
  ],
  // Of a policy's resources ARC knows load balancers only; a cluster is in the condition key.
  'arc-zonal-shift:GetManagedResource': (input) => [
    {
      action: 'arc-zonal-shift:GetManagedResource',
      resource: '*',
      context: { 'arc-zonal-shift:ResourceIdentifier': String(input['resourceIdentifier']) },
    },
  ],
  'events:PutEvents': (input, { region, account }) =>
    ((input as Listed).Entries ?? []).map((each) => ({
      action: 'events:PutEvents',
      resource: `arn:aws:events:${region}:${account}:event-bus/${each.EventBusName}`,
      context: { 'events:source': each.Source ?? '' },
    })),
  'ssm:GetParameter': (input, { region }) => [
    {
      action: 'ssm:GetParameter',
      resource: `arn:aws:ssm:${region}::parameter${String(input['Name']).replace(/^(\/aws\/service\/).*/, '$1NAME')}`,
      context: {},
    },
  ],
  'sqs:GetQueueUrl': onQueue('sqs:GetQueueUrl'),
  'sqs:GetQueueAttributes': onQueue('sqs:GetQueueAttributes'),
  'pricing:GetProducts': () => [{ action: 'pricing:GetProducts', resource: '*', context: {} }],
  's3:GetObject': (input, world) => [
    ...onObject('GetObject', 'Decrypt')(input, world),
    // Without it S3 says of a file that is not there that it is forbidden.
    // https://docs.aws.amazon.com/AmazonS3/latest/API/API_GetObject.html
    {
      action: 's3:ListBucket',
      resource: `arn:aws:s3:::${String(input['Bucket'])}`,
      context: {},
    },
  ],
  's3:PutObject': onObject('PutObject', 'GenerateDataKey'),
  's3:ListObjectsV2': (input) => [
    {
      action: 's3:ListBucket',
      resource: `arn:aws:s3:::${String(input['Bucket'])}`,
      context: { 's3:prefix': keyOf(input['Prefix']) },
    },
  ],
  // IAM scopes the list by no tag.
  'iam:ListInstanceProfiles': (_, world) => [
    {
      action: 'iam:ListInstanceProfiles',
      resource: `arn:aws:iam::${world.account}:instance-profile/*`,
      context: {},
    },
  ],
  's3:DeleteObjects': (input) =>
    ((input as Listed).Delete?.Objects ?? []).map((each) => ({
      action: 's3:DeleteObject',
      resource: `arn:aws:s3:::${String(input['Bucket'])}/${keyOf(each.Key)}`,
      context: {},
    })),
};

/** What a call asks of the policies of its caller. */
export function askedBy({ service, operation, input }: RecordedCall, world: AskedWorld) {
  const action = `${service}:${operation}`;
  const expand = EXPANSIONS[action];
  if (expand !== undefined) return expand(input, world);
  if (service === 'iam') return onProfile(operation)(input, world);
  if (/^ec2:Describe/.test(action)) {
    return [{ action, resource: '*', context: { 'aws:RequestedRegion': world.region } }];
  }
  throw new Error(`it is not known what ${action} asks of policies`);
}
