import * as logs from 'aws-cdk-lib/aws-logs';
import * as destinations from 'aws-cdk-lib/aws-logs-destinations';
import { Construct } from 'constructs';
import { MEASUREMENTS_FILTER } from '../../shared/contract/prometheus.ts';
import {
  parameterOf,
  prometheusRegion,
  type RemoteWriteTarget,
  workspaceId,
} from '../../shared/contract/remote-write.ts';
import type { FunctionName } from '../../shared/contract.ts';
import type { RemoteWriteScope } from '../policies/statement.ts';
import type { JoinerFunction } from './function.ts';
import type { JoinerProps, RemoteWriteProps } from './joiner-props.ts';

/** Of these nothing is counted: `install` runs for CloudFormation, `metrics` would count itself. */
const UNCOUNTED: ReadonlySet<FunctionName> = new Set(['install', 'metrics']);

/** What the function `metrics` is told. */
export function remoteWriteTarget({
  endpoint,
  secret,
  perPod,
}: RemoteWriteProps): RemoteWriteTarget {
  return { endpoint, ...(secret === undefined ? {} : { secret }), perPod: perPod ?? true };
}

/** What the role of `metrics` is bound to. */
export function remoteWriteScope(
  { metrics }: JoinerProps,
  place: { readonly partition: string; readonly account: string },
): RemoteWriteScope | undefined {
  const remoteWrite = metrics?.remoteWrite;
  if (remoteWrite === undefined) return undefined;
  const { endpoint, secret } = remoteWrite;
  if (secret !== undefined) return { secretArn: secret, parameter: parameterOf(secret) };
  const address = new URL(endpoint);
  const [region, id] = [prometheusRegion(address), workspaceId(address)];
  if (region === undefined || id === undefined) return {};
  const { partition, account } = place;
  return { workspaceArn: `arn:${partition}:aps:${region}:${account}:workspace/${id}` };
}

export interface RemoteWriteConstructProps {
  readonly functions: ReadonlyMap<FunctionName, JoinerFunction>;
}

/**
 * Hands lines of the functions' logs that measure something to the function `metrics`. A log group
 * has room for two such filters.
 */
export class RemoteWrite extends Construct {
  constructor(scope: Construct, id: string, { functions }: RemoteWriteConstructProps) {
    super(scope, id);
    const writer = functions.get('metrics');
    if (writer === undefined) return;
    for (const [name, { logGroup }] of functions) {
      if (UNCOUNTED.has(name)) continue;
      new logs.SubscriptionFilter(this, `Measured-${name}`, {
        logGroup,
        destination: new destinations.LambdaDestination(writer.function),
        filterPattern: logs.FilterPattern.literal(MEASUREMENTS_FILTER),
      });
    }
  }
}
