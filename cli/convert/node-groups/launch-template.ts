import * as z from 'zod';
import type { Json } from '../../../shared/sim/json.ts';
import { type Note, present } from '../part.ts';
import { leftOut, type NodeGroup } from './node-group.ts';

/** What is read of `LaunchTemplateData`; other fields are noted. */
const data = z.looseObject({
  ImageId: z.string().optional(),
  InstanceType: z.string().optional(),
  IamInstanceProfile: z
    .looseObject({ Arn: z.string().optional(), Name: z.string().optional() })
    .optional(),
  SecurityGroupIds: z.array(z.string()).optional(),
  NetworkInterfaces: z.array(z.looseObject({ Groups: z.array(z.string()).optional() })).optional(),
  BlockDeviceMappings: z
    .array(
      z.looseObject({
        DeviceName: z.string().optional(),
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
  LaunchTemplateData: data,
});

/** What `aws ec2 describe-launch-template-versions` prints. */
export const LAUNCH_TEMPLATE_VERSIONS = z.looseObject({
  LaunchTemplateVersions: z.array(version),
});

export type TemplateData = z.output<typeof data>;
export type TemplateVersion = z.output<typeof version>;

/** Which version of a launch template a group names. */
export interface TemplateReference {
  readonly id: string | undefined;
  readonly name: string | undefined;
  /** A number, `$Default`, `$Latest`; undefined: the default. */
  readonly version: string | undefined;
}

/** The version that is meant, where the files have it. */
export function templateOf(
  { id, name, version: wanted = '$Default' }: TemplateReference,
  all: readonly TemplateVersion[],
): TemplateData | undefined {
  const own = all.filter((each) =>
    id === undefined ? each.LaunchTemplateName === name : each.LaunchTemplateId === id,
  );
  const found = {
    $Default: () => own.find(({ DefaultVersion }) => DefaultVersion === true),
    $Latest: () => own.toSorted((a, b) => b.VersionNumber - a.VersionNumber)[0],
  }[wanted];
  const numbered = own.find(({ VersionNumber }) => String(VersionNumber) === wanted);
  return (found === undefined ? numbered : found())?.LaunchTemplateData;
}

/** The command whose output names the version. */
export function commandFor({ id, name, version: wanted = '$Default' }: TemplateReference): string {
  const which = id === undefined ? `--launch-template-name ${name}` : `--launch-template-id ${id}`;
  return `aws ec2 describe-launch-template-versions ${which} --versions '${wanted}'`;
}

function devicesOf({ BlockDeviceMappings }: TemplateData): readonly Json[] | undefined {
  if (BlockDeviceMappings === undefined || BlockDeviceMappings.length === 0) return undefined;
  return BlockDeviceMappings.map(({ DeviceName, Ebs }) =>
    present({
      deviceName: DeviceName,
      ebs:
        Ebs &&
        present({
          volumeSize: Ebs.VolumeSize === undefined ? undefined : `${Ebs.VolumeSize}Gi`,
          volumeType: Ebs.VolumeType,
          iops: Ebs.Iops,
          throughput: Ebs.Throughput,
          encrypted: Ebs.Encrypted,
          kmsKeyID: Ebs.KmsKeyId,
          snapshotID: Ebs.SnapshotId,
          deleteOnTermination: Ebs.DeleteOnTermination,
        }),
    }),
  );
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

const CARRIED = Object.keys(data.shape);

function notesOf(template: TemplateData, field: string): readonly Note[] {
  const interfaces = (template.NetworkInterfaces ?? []).flatMap((each, index) =>
    leftOut(each, ['Groups', 'DeviceIndex'], `${field}.NetworkInterfaces[${index}]`),
  );
  return [...leftOut(template, CARRIED, field), ...interfaces];
}

/** Security groups, volumes, metadata options and tags of a launch template, as a class has them. */
export function classFieldsOf(
  template: TemplateData,
  field: string,
): Pick<
  NodeGroup,
  'devices' | 'metadataOptions' | 'detailedMonitoring' | 'tags' | 'securityGroupTerms' | 'notes'
> & { readonly userData: string | undefined; readonly instanceProfile: string | undefined } {
  const { SecurityGroupIds, NetworkInterfaces, TagSpecifications, UserData } = template;
  const { Arn, Name } = template.IamInstanceProfile ?? {};
  const groups = SecurityGroupIds ?? NetworkInterfaces?.[0]?.Groups ?? [];
  const tags = TagSpecifications?.find(({ ResourceType }) => ResourceType === 'instance')?.Tags;
  return {
    devices: devicesOf(template),
    metadataOptions: metadataOptionsOf(template),
    detailedMonitoring: template.Monitoring?.Enabled,
    tags: Object.fromEntries((tags ?? []).map(({ Key, Value }) => [Key, Value])),
    securityGroupTerms: groups.map((id) => ({ id })),
    userData: UserData === undefined ? undefined : Buffer.from(UserData, 'base64').toString('utf8'),
    instanceProfile: Name ?? Arn?.split('/').at(-1),
    notes: notesOf(template, field),
  };
}
