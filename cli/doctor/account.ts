import { ListRulesCommand } from '@aws-sdk/client-eventbridge';
import { GetInstanceProfileCommand, GetRoleCommand } from '@aws-sdk/client-iam';
import { type AwsAccess, iamClient } from '../../shared/aws/access.ts';
import { allPages } from '../../shared/aws/calls.ts';
import { eventBridgeClient } from '../../shared/aws/events.ts';
import { ENV, FUNCTION_NAMES, type FunctionName, functionName } from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';
import { type Caller, type DeployedFunction, known, type Quotas } from './facts.ts';
import { AwsRefusal, type Signing, signedCall } from './signed.ts';

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_GetCallerIdentity.html */
export async function callerOf(signing: Signing): Promise<Caller> {
  const xml = await signedCall(signing, {
    service: 'sts',
    method: 'POST',
    path: '/',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: 'Action=GetCallerIdentity&Version=2011-06-15',
  });
  const [, account = ''] = /<Account>(\d{12})</.exec(xml) ?? [];
  const [, arn = ''] = /<Arn>([^<]*)</.exec(xml) ?? [];
  if (account === '' || arn === '') throw new Error('sts: the answer names no account');
  return { account, arn };
}

/** Codes as `aws service-quotas list-service-quotas` has them. */
const QUOTAS = {
  /** Running On-Demand Standard (A, C, D, H, I, M, R, T, Z) instances, in vCPUs. */
  onDemandCpus: { ServiceCode: 'ec2', QuotaCode: 'L-1216C47A' },
  /** All Standard (A, C, D, H, I, M, R, T, Z) Spot Instance Requests, in vCPUs. */
  spotCpus: { ServiceCode: 'ec2', QuotaCode: 'L-34B43A08' },
  /** PutEvents throttle limit in transactions per second. */
  putEventsPerSecond: { ServiceCode: 'events', QuotaCode: 'L-9B653E91' },
  /** Rules of one event bus. */
  rules: { ServiceCode: 'events', QuotaCode: 'L-244521F2' },
} as const;

interface QuotaKey {
  readonly ServiceCode: string;
  readonly QuotaCode: string;
}

export async function quotasOf(access: AwsAccess, signing: Signing): Promise<Quotas> {
  const [concurrency, onDemandCpus, spotCpus, putEventsPerSecond, rules] = await Promise.all([
    known(() => concurrencyOf(signing)),
    known(() => quotaOf(signing, QUOTAS.onDemandCpus)),
    known(() => quotaOf(signing, QUOTAS.spotCpus)),
    known(() => quotaOf(signing, QUOTAS.putEventsPerSecond)),
    known(async () => ({
      limit: await quotaOf(signing, QUOTAS.rules),
      used: await rulesOf(access),
    })),
  ]);
  return { concurrency, onDemandCpus, spotCpus, putEventsPerSecond, rules };
}

/** The account's own value, else AWS's default: quotas that were never changed have none. */
async function quotaOf(signing: Signing, key: QuotaKey): Promise<number> {
  try {
    return await quotaBy(signing, 'GetServiceQuota', key);
  } catch (error) {
    const isDefault = error instanceof AwsRefusal && error.code === 'NoSuchResourceException';
    if (!isDefault) throw error;
    return await quotaBy(signing, 'GetAWSDefaultServiceQuota', key);
  }
}

async function quotaBy(signing: Signing, action: string, key: QuotaKey): Promise<number> {
  const body = await signedCall(signing, {
    service: 'servicequotas',
    method: 'POST',
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `ServiceQuotasV20190624.${action}`,
    },
    body: JSON.stringify(key),
  });
  const value = property(property(JSON.parse(body), 'Quota'), 'Value');
  if (typeof value !== 'number') throw new Error(`${action}: the answer has no value`);
  return value;
}

/** https://docs.aws.amazon.com/lambda/latest/api/API_GetAccountSettings.html */
async function concurrencyOf(
  signing: Signing,
): Promise<{ readonly limit: number; readonly unreserved: number }> {
  const path = '/2016-08-19/account-settings';
  const body = await signedCall(signing, { service: 'lambda', method: 'GET', path });
  const limits = property(JSON.parse(body), 'AccountLimit');
  const limit = property(limits, 'ConcurrentExecutions');
  const unreserved = property(limits, 'UnreservedConcurrentExecutions');
  if (typeof limit !== 'number' || typeof unreserved !== 'number') {
    throw new Error('GetAccountSettings: the answer has no limit');
  }
  return { limit, unreserved };
}

/** Rules of the default bus: Joiner's schedules and interruption rules are there. */
async function rulesOf(access: AwsAccess): Promise<number> {
  const events = eventBridgeClient(access);
  const rules = await allPages(async (NextToken) => {
    const page = await events.send(new ListRulesCommand({ NextToken }));
    return { items: page.Rules, next: page.NextToken };
  });
  return rules.length;
}

const SPOT_ROLE = 'AWSServiceRoleForEC2Spot';

export async function hasSpotRole(access: AwsAccess): Promise<boolean> {
  try {
    await iamClient(access).send(new GetRoleCommand({ RoleName: SPOT_ROLE }));
    return true;
  } catch (error) {
    if (error instanceof Error && error.name.startsWith('NoSuchEntity')) return false;
    throw error;
  }
}

/** The role in an instance profile. */
export async function roleInProfile(access: AwsAccess, profile: string): Promise<string> {
  const command = new GetInstanceProfileCommand({ InstanceProfileName: profile });
  const { InstanceProfile } = await iamClient(access).send(command);
  const name = InstanceProfile?.Roles?.[0]?.RoleName;
  if (name === undefined) throw new Error(`the instance profile ${profile} has no role`);
  return name;
}

/** The role's ARN; it is given by its name, or with its path. */
export async function roleArnOf(access: AwsAccess, role: string): Promise<string> {
  const RoleName = role.split('/').at(-1) ?? role;
  const { Role } = await iamClient(access).send(new GetRoleCommand({ RoleName }));
  if (Role?.Arn === undefined) throw new Error(`IAM does not tell the ARN of the role ${role}`);
  return Role.Arn;
}

/** Those of the functions that exist. */
export async function deployedFunctions(
  signing: Signing,
  cluster: string,
): Promise<readonly DeployedFunction[]> {
  const found = await Promise.all(
    FUNCTION_NAMES.map((name) => deployedFunction(signing, cluster, name)),
  );
  return found.filter((each) => each !== undefined);
}

/** https://docs.aws.amazon.com/lambda/latest/api/API_GetFunctionConfiguration.html */
async function deployedFunction(
  signing: Signing,
  cluster: string,
  name: FunctionName,
): Promise<DeployedFunction | undefined> {
  const path = `/2015-03-31/functions/${functionName(cluster, name)}/configuration`;
  let body: string;
  try {
    body = await signedCall(signing, { service: 'lambda', method: 'GET', path });
  } catch (error) {
    const isAbsent = error instanceof AwsRefusal && error.code === 'ResourceNotFoundException';
    if (isAbsent) return undefined;
    throw error;
  }
  const configuration: unknown = JSON.parse(body);
  const variables = property(property(configuration, 'Environment'), 'Variables');
  const subnets = property(property(configuration, 'VpcConfig'), 'SubnetIds');
  return {
    name,
    roleArn: text(property(configuration, 'Role')),
    state: text(property(configuration, 'State')),
    version: text(property(variables, ENV.version)),
    bucket: text(property(variables, ENV.bucket)),
    subnetIds: Array.isArray(subnets) ? subnets.map(text) : [],
  };
}
