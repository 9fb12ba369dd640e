/** Regions of the partitions aws and aws-cn (https://docs.aws.amazon.com/global-infrastructure/latest/regions/aws-regions.html). */
export const AWS_REGIONS: readonly string[] = [
  'af-south-1',
  'ap-east-1',
  'ap-east-2',
  'ap-northeast-1',
  'ap-northeast-2',
  'ap-northeast-3',
  'ap-south-1',
  'ap-south-2',
  'ap-southeast-1',
  'ap-southeast-2',
  'ap-southeast-3',
  'ap-southeast-4',
  'ap-southeast-5',
  'ap-southeast-6',
  'ap-southeast-7',
  'ca-central-1',
  'ca-west-1',
  'cn-north-1',
  'cn-northwest-1',
  'eu-central-1',
  'eu-central-2',
  'eu-north-1',
  'eu-south-1',
  'eu-south-2',
  'eu-west-1',
  'eu-west-2',
  'eu-west-3',
  'il-central-1',
  'me-central-1',
  'me-south-1',
  'mx-central-1',
  'sa-east-1',
  'us-east-1',
  'us-east-2',
  'us-west-1',
  'us-west-2',
];

/** What the names of the region's endpoints end in. */
export function dnsSuffixOf(region: string): string {
  return region.startsWith('cn-') ? 'amazonaws.com.cn' : 'amazonaws.com';
}

/** The ARN of a role by its name, in the account and partition of the region. */
export function roleArn(region: string, account: string, name: string): string {
  const partition = region.startsWith('cn-') ? 'aws-cn' : 'aws';
  return `arn:${partition}:iam::${account}:role/${name}`;
}
