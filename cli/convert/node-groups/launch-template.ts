import * as z from 'zod';
import type { Json } from '../../../shared/sim/json.ts';
import { type Note, present } from '../part.ts';
import { leftOut } from './left-out.ts';
import type { NodeGroup } from './node-group.ts';

const ignored = z.unknown().optional();

const range = z.looseObject({ Min: z.number().optional(), Max: z.number().optional() });

/** What EC2 selects instance types by, as far as it is read. */
export const INSTANCE_REQUIREMENTS = z.looseObject({
  VCpuCount: range.optional(),
  MemoryMiB: range.optional(),
});

/** What is read of `LaunchTemplateData`; other fields are noted. */
export const TEMPLATE_DATA = z.looseObject({
  ImageId: z.string().optional(),
  InstanceType: z.string().optional(),
  InstanceRequirements: INSTANCE_REQUIREMENTS.optional(),
  InstanceMarketOptions: z.looseObject({ MarketType: z.string().optional() }).optional(),
  IamInstanceProfile: z
    .looseObject({ Arn: z.string().optional(), Name: z.string().optional() })
    .optional(),
  SecurityGroupIds: z.array(z.string()).optional(),
  NetworkInterfaces: z
    .array(
      z.looseObject({
        DeviceIndex: z.int().optional(),
        Groups: z.array(z.string()).optional(),
        AssociatePublicIpAddress: z.boolean().optional(),
      }),
    )
    .optional(),
  BlockDeviceMappings: z
    .array(
      z.looseObject({
        DeviceName: z.string().optional(),
        VirtualName: z.string().optional(),
        NoDevice: z.string().optional(),
        Ebs: z
          .looseObject({
            VolumeSize: z.int().optional(),
            VolumeType: z.string().optional(),
            Iops: z.int().optional(),
            Throughput: z.int().optional(),
            Encrypted: z.boolean().optional(),
            KmsKeyId: z.string().optional(),
            SnapshotId: z.string().optional(),
            DeleteOnTermination: z.boolean().optional(),
            VolumeInitializationRate: z.int().optional(),
          })
          .optional(),
      }),
    )
    .optional(),
  MetadataOptions: z
    .looseObject({
      HttpEndpoint: z.string().optional(),
      HttpTokens: z.string().optional(),
      HttpPutResponseHopLimit: z.int().optional(),
      HttpProtocolIpv6: z.string().optional(),
      State: ignored,
    })
    .optional(),
  Monitoring: z.looseObject({ Enabled: z.boolean().optional() }).optional(),
  TagSpecifications: z
    .array(
      z.looseObject({
        ResourceType: z.string(),
        Tags: z.array(z.looseObject({ Key: z.string(), Value: z.string() })).optional(),
      }),
    )
    .optional(),
  UserData: z.string().optional(),
});

const version = z.looseObject({
  LaunchTemplateId: z.string(),
  LaunchTemplateName: z.string().optional(),
  VersionNumber: z.int(),
  DefaultVersion: z.boolean().optional(),
  LaunchTemplateData: TEMPLATE_DATA,
});

/** What `aws ec2 describe-launch-template-versions` prints. */
export const LAUNCH_TEMPLATE_VERSIONS = z.looseObject({
  LaunchTemplateVersions: z.array(version),
});

/** What EC2 has where a template does not say it. */
const UNSET = {
  MetadataOptions: { InstanceMetadataTags: 'disabled' },
  NetworkInterfaces: { DeleteOnTermination: true, InterfaceType: 'interface', NetworkCardIndex: 0 },
  EbsOptimized: false,
};

export type TemplateData = z.output<typeof TEMPLATE_DATA>;
export type TemplateVersion = z.output<typeof version>;

/** Which version of a launch template a group names. */
export interface TemplateReference {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** A number, `$Default`, `$Latest`; undefined: the default. */
  readonly version: string | undefined;
}

/** The version that is meant, where the files have it. */
export function versionOf(
  { id, name, version: wanted = '$Default' }: TemplateReference,
  all: readonly TemplateVersion[],
): TemplateVersion | undefined {
  const own = all.filter((each) =>
    id === undefined ? each.LaunchTemplateName === name : each.LaunchTemplateId === id,
  );
  const found = {
    $Default: () => own.find(({ DefaultVersion }) => DefaultVersion === true),
    $Latest: () => own.toSorted((a, b) => b.VersionNumber - a.VersionNumber)[0],
  }[wanted];
  const numbered = own.find(({ VersionNumber }) => String(VersionNumber) === wanted);
  return found === undefined ? numbered : found();
}

/** The command whose output names the version. */
export function commandFor({ id, name, version: wanted = '$Default' }: TemplateReference): string {
  const which = id === undefined ? `--launch-template-name ${name}` : `--launch-template-id ${id}`;
  return `aws ec2 describe-launch-template-versions ${which} --versions '${wanted}'`;
}

type Device = NonNullable<TemplateData['BlockDeviceMappings']>[number];

/** The volume of a mapping; undefined: it has none, or takes the one of its image away. */
function volumeOf({ Ebs, NoDevice }: Device): Device['Ebs'] {
  return NoDevice === undefined ? Ebs : undefined;
}

function devicesOf({ BlockDeviceMappings = [] }: TemplateData): readonly Json[] | undefined {
  const devices = BlockDeviceMappings.flatMap((device): readonly Json[] => {
    const volume = volumeOf(device);
    if (volume === undefined) return [];
    const { SnapshotId, VolumeSize, VolumeInitializationRate } = volume;
    const ebs = present({
      volumeSize: VolumeSize === undefined ? undefined : `${VolumeSize}Gi`,
      volumeType: volume.VolumeType,
      iops: volume.Iops,
      throughput: volume.Throughput,
      encrypted: volume.Encrypted,
      kmsKeyID: volume.KmsKeyId,
      snapshotID: SnapshotId,
      volumeInitializationRate: SnapshotId === undefined ? undefined : VolumeInitializationRate,
      deleteOnTermination: volume.DeleteOnTermination,
    });
    return [present({ deviceName: device.DeviceName, ebs })];
  });
  return devices.length === 0 ? undefined : devices;
}

function deviceNotes(device: Device, field: string): readonly Note[] {
  const { DeviceName = '?', VirtualName, NoDevice } = device;
  const volume = volumeOf(device);
  if (volume === undefined) {
    const what = NoDevice === undefined ? (VirtualName ?? 'no volume') : 'no device';
    const message = `${DeviceName}, ${what}: left out: v1 has volumes of EBS alone`;
    return [{ field, message }];
  }
  const { SnapshotId, VolumeInitializationRate } = volume;
  if (VolumeInitializationRate === undefined || SnapshotId !== undefined) return [];
  const message = `${VolumeInitializationRate}: left out: v1 takes it only beside a snapshotID`;
  return [{ field: `${field}.Ebs.VolumeInitializationRate`, message }];
}

/** EC2 takes a hop limit of 1 and optional tokens where a template does not say it. */
function metadataOptionsOf({ MetadataOptions }: TemplateData): Json {
  const {
    HttpEndpoint = 'enabled',
    HttpProtocolIpv6 = 'disabled',
    HttpPutResponseHopLimit = 1,
    HttpTokens = 'optional',
  } = MetadataOptions ?? {};
  return {
    httpEndpoint: HttpEndpoint,
    httpProtocolIPv6: HttpProtocolIpv6,
    httpPutResponseHopLimit: HttpPutResponseHopLimit,
    httpTokens: HttpTokens,
  };
}

/** The network interface that an instance begins with. */
function firstInterface({ NetworkInterfaces = [] }: TemplateData) {
  return NetworkInterfaces.find(({ DeviceIndex }) => DeviceIndex === 0) ?? NetworkInterfaces[0];
}

type Tags = Readonly<Record<string, string>>;

function tagsOf({ Tags = [] }: NonNullable<TemplateData['TagSpecifications']>[number]): Tags {
  return Object.fromEntries(Tags.map(({ Key, Value }) => [Key, Value]));
}

function instanceTags({ TagSpecifications = [] }: TemplateData): Tags {
  const given = TagSpecifications.find(({ ResourceType }) => ResourceType === 'instance');
  return given === undefined ? {} : tagsOf(given);
}

/** Tags of a class go to its instances, volumes and network interfaces alike. */
function tagNotes(template: TemplateData, field: string): readonly Note[] {
  const own = instanceTags(template);
  return (template.TagSpecifications ?? []).flatMap((each, index): readonly Note[] => {
    const others = Object.entries(tagsOf(each)).filter(([key, value]) => own[key] !== value);
    if (others.length === 0) return [];
    const message = `${others.map(([key]) => key).join(', ')} of ${each.ResourceType}: left out: spec.tags of the class are those of instances, and go to their volumes too`;
    return [{ field: `${field}.TagSpecifications[${index}]`, message }];
  });
}

/** A class has one list of security groups, and nodes one network interface of a template. */
function interfaceNotes(template: TemplateData, field: string): readonly Note[] {
  const first = firstInterface(template);
  return (template.NetworkInterfaces ?? []).flatMap((each, index): readonly Note[] => {
    if (each === first) return [];
    const message = `${(each.Groups ?? []).join(', ')}: left out: nodes begin with one network interface`;
    return [{ field: `${field}.NetworkInterfaces[${index}]`, message }];
  });
}

function notesOf(template: TemplateData, field: string, schema: z.ZodType): readonly Note[] {
  const devices = (template.BlockDeviceMappings ?? []).flatMap((each, index) =>
    deviceNotes(each, `${field}.BlockDeviceMappings[${index}]`),
  );
  return [
    ...leftOut(template, schema, field, { unset: UNSET }),
    ...interfaceNotes(template, field),
    ...devices,
    ...tagNotes(template, field),
  ];
}

/**
 * Security groups, volumes, metadata options and tags of a launch template, as a class has them;
 * what the schema does not have is noted.
 */
export function classFieldsOf(
  template: TemplateData,
  field: string,
  schema: z.ZodType = TEMPLATE_DATA,
): Pick<
  NodeGroup,
  | 'devices'
  | 'metadataOptions'
  | 'detailedMonitoring'
  | 'associatePublicIPAddress'
  | 'tags'
  | 'securityGroupTerms'
  | 'notes'
> & { readonly userData: string | undefined; readonly instanceProfile: string | undefined } {
  const { SecurityGroupIds, UserData } = template;
  const first = firstInterface(template);
  const { Arn, Name } = template.IamInstanceProfile ?? {};
  const groups = SecurityGroupIds ?? first?.Groups ?? [];
  return {
    devices: devicesOf(template),
    metadataOptions: metadataOptionsOf(template),
    detailedMonitoring: template.Monitoring?.Enabled,
    associatePublicIPAddress: first?.AssociatePublicIpAddress,
    tags: instanceTags(template),
    securityGroupTerms: groups.map((id) => ({ id })),
    userData: UserData === undefined ? undefined : Buffer.from(UserData, 'base64').toString('utf8'),
    instanceProfile: Name ?? Arn?.split('/').at(-1),
    notes: notesOf(template, field, schema),
  };
}
