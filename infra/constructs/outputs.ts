import { Fn } from 'aws-cdk-lib';
import type { JoinerFunction } from './function.ts';

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

/** The functions' names as one value: outputs have no lists. */
export function namesOf(functions: Iterable<JoinerFunction>): string {
  return Fn.join(
    ',',
    [...functions].map((each) => each.function.functionName),
  );
}
