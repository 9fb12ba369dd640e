/** What the stack puts out for people and other programs, and what each is for. */
export const OUTPUTS = {
  NodeRoleArn: 'Its name goes into spec.role of EC2NodeClasses',
  BucketName: 'Decision records, snapshots and what the functions remember',
  InterruptionQueueUrl: 'The queue of interruption messages',
  DashboardName: 'The dashboard in CloudWatch',
  FunctionNames: 'The names of the functions, separated by commas',
} as const;

export type OutputName = keyof typeof OUTPUTS;

export const OUTPUT_NAMES: readonly OutputName[] = [
  'NodeRoleArn',
  'BucketName',
  'InterruptionQueueUrl',
  'DashboardName',
  'FunctionNames',
];
