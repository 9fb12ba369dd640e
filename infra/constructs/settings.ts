import { Annotations, CfnResource, Duration, Names, Stack, Token } from 'aws-cdk-lib';
import * as ec2 from 'aws-cdk-lib/aws-ec2';
import type { Construct, IConstruct, IDependable } from 'constructs';
import { sharedGroupsIn } from '../../shared/contract/setting-kinds.ts';
import {
  SETTING_KEYS,
  SETTINGS,
  type SettingUse,
  settingOf,
} from '../../shared/contract/settings.ts';
import {
  ENV,
  FUNCTION_NAMES,
  type FunctionName,
  METRICS_NAMESPACE,
  SHADOW_FUNCTIONS,
} from '../../shared/contract.ts';
import type { FunctionNetwork } from './function.ts';
import type { JoinerProps } from './joiner-props.ts';
import { propFaults, REGION } from './props-check.ts';
import { referenceId } from './reference.ts';
import { remoteWriteTarget } from './remote-write.ts';
import { settingText } from './setting-props.ts';

/** MB. 1,769 MB is one whole processor. */
export const MEMORY_SIZES: Readonly<Record<FunctionName, number>> = {
  watch: 256,
  provision: 1769,
  lifecycle: 1024,
  disrupt: 1769,
  interrupt: 512,
  nodeclass: 512,
  catalog: 512,
  events: 256,
  metrics: 512,
  shadow: 1769,
  install: 256,
};

/** `watch` and `lifecycle` stay for up to 13.5 minutes and then hand over. */
export const TIMEOUTS: Readonly<Record<FunctionName, Duration>> = {
  watch: Duration.minutes(14),
  provision: Duration.minutes(5),
  lifecycle: Duration.minutes(14),
  disrupt: Duration.minutes(5),
  interrupt: Duration.seconds(60),
  nodeclass: Duration.minutes(4),
  catalog: Duration.minutes(10),
  events: Duration.minutes(1),
  metrics: Duration.minutes(1),
  shadow: Duration.minutes(5),
  install: Duration.minutes(8),
};

/** Of whose events none may be lost: each is the only one of its kind. */
export const KEPT_EVENTS: ReadonlySet<FunctionName> = new Set(['install', 'events', 'metrics']);

/** Those that do not need the cluster's API, so that they are in no VPC. */
const OUTSIDE: ReadonlySet<FunctionName> = new Set(['catalog', 'events']);

/** The functions that the stack has. */
export function functionNames(props: JoinerProps): readonly FunctionName[] {
  return FUNCTION_NAMES.filter((name) => absence(props, name) === undefined);
}

/** Why the stack does not have the function, e.g. `there is no watch where reaction is 'tick'`. */
function absence(props: JoinerProps, name: FunctionName): string | undefined {
  if (props.shadow === true) {
    return SHADOW_FUNCTIONS.has(name) ? undefined : `there is no ${name} where shadow is true`;
  }
  if (name === 'shadow') return 'there is no shadow where shadow is not true';
  if (name === 'watch' && props.reaction === 'tick') {
    return "there is no watch where reaction is 'tick'";
  }
  if (name === 'events' && props.decisionEvents === undefined) {
    return 'there is no events where decisionEvents is not given';
  }
  if (name === 'metrics' && props.metrics?.remoteWrite === undefined) {
    return 'there is no metrics where metrics.remoteWrite is not given';
  }
  return undefined;
}

/** Refuses props that cannot work, all faults at once. */
export function checkProps(scope: Construct, props: JoinerProps): void {
  const faults = [...propFaults(props)];
  if (faults.length === 0) faults.push(...pairFaults(scope, props));
  if (faults.length === 0) return;
  throw new Error(`Joiner cannot be made from these props:\n  ${faults.join('\n  ')}`);
}

/** Names of the limit groups that the cluster shares with others. */
export function sharedGroupsOf(props: JoinerProps): readonly string[] {
  return sharedGroupsIn(props.limitGroups ?? SETTINGS.limitGroups.default);
}

function pairFaults(scope: Construct, props: JoinerProps): readonly string[] {
  const faults: string[] = [];
  if (clusterName(props) === undefined) {
    faults.push(
      'cluster has a name that is only known when it is deployed: give it an explicit clusterName',
    );
  }
  faults.push(...placeFaults(scope, props), ...idleFaults(props), ...shadowFaults(props));
  if (props.endpoint === 'private') {
    for (const name of ['subnets', 'securityGroups'] as const) {
      if (props[name] === undefined) {
        faults.push(`${name} is undefined, but has to be given where endpoint is 'private'`);
      }
    }
  } else {
    for (const name of ['subnets', 'securityGroups', 'clusterSecurityGroup'] as const) {
      if (props[name] !== undefined) {
        faults.push(`${name} is given, but has a meaning only where endpoint is 'private'`);
      }
    }
  }
  if (props.bucket === undefined && sharedGroupsOf(props).length > 0) {
    const names = sharedGroupsOf(props).join(', ');
    faults.push(
      `bucket is undefined, but has to be given where limitGroups shares a group (${names}): ` +
        'the clusters that share it need a bucket in common',
    );
  }
  const { batchIdleDuration: idle, batchMaxDuration: max } = SETTINGS;
  const idleMs = props.batchIdleDuration?.toMilliseconds() ?? idle.default;
  const maxMs = props.batchMaxDuration?.toMilliseconds() ?? max.default;
  if (idleMs > maxMs) {
    faults.push(
      `batchIdleDuration is ${idle.kind.show(idleMs)}, but has to be at most ` +
        `batchMaxDuration, ${max.kind.show(maxMs)}`,
    );
  }
  if (props.alarms === false && props.alarmTopic !== undefined) {
    faults.push('alarmTopic is given, but alarms is false: one of them has to go');
  }
  return faults;
}

/** Region, partition and account of everything that is named have to be those of the stack. */
function placeFaults(scope: Construct, props: JoinerProps): readonly string[] {
  const stack = Stack.of(scope);
  const isKnown = !Token.isUnresolved(stack.region);
  const faults: string[] = [];
  if (isKnown && !REGION.test(stack.region)) {
    faults.push(
      `the stack is in ${stack.region}, but Joiner works only in regions of the partitions aws ` +
        'and aws-cn',
    );
  }
  if (props.region !== undefined && isKnown && props.region !== stack.region) {
    faults.push(
      `region is "${props.region}", but the stack is in ${stack.region}: they have to agree`,
    );
  }
  const region = isKnown ? stack.region : props.region;
  const partition = region?.startsWith('cn-') === true ? 'aws-cn' : 'aws';
  for (const [name, arn] of Object.entries(arnsOf(props))) {
    if (arn === undefined || Token.isUnresolved(arn) || region === undefined) continue;
    const [, itsPartition, , itsRegion, account] = arn.split(':');
    const isElsewhere = itsPartition !== partition || (itsRegion !== '' && itsRegion !== region);
    if (isElsewhere) faults.push(`${name} is "${arn}", but has to be of ${partition} ${region}`);
    const isForeign = !Token.isUnresolved(stack.account) && account !== stack.account;
    if (name === 'nodeRole' && isForeign) {
      faults.push(`nodeRole is "${arn}", but has to be of the stack's account ${stack.account}`);
    }
  }
  return faults;
}

function arnsOf(props: JoinerProps): Readonly<Record<string, string | undefined>> {
  const { alarmTopic, permissionsBoundary, nodeRole } = props;
  const keys = [
    'encryptionKey',
    'queueEncryptionKey',
    'logEncryptionKey',
    'busEncryptionKey',
  ] as const;
  const keyArns = keys.map((name) => {
    const key = props[name];
    return [name, typeof key === 'object' ? key.keyArn : key] as const;
  });
  return {
    ...Object.fromEntries(keyArns),
    alarmTopic: typeof alarmTopic === 'object' ? alarmTopic.topicArn : alarmTopic,
    permissionsBoundary:
      typeof permissionsBoundary === 'object'
        ? permissionsBoundary.managedPolicyArn
        : permissionsBoundary,
    nodeRole: typeof nodeRole === 'object' ? nodeRole.roleArn : nodeRole,
  };
}

/** Props that would have no effect, or take the stack's own work away. */
function idleFaults(props: JoinerProps): readonly string[] {
  const { nodeRole, nodeRoleEntry, bucket, dataRetentionDays, reaction } = props;
  const faults: string[] = [];
  if (nodeRoleEntry === false && nodeRole === undefined && props.nodeRoles === undefined) {
    faults.push("nodeRoleEntry is false, but nodes of the stack's own role need it to join");
  }
  if (bucket !== undefined && dataRetentionDays !== undefined) {
    faults.push(
      `dataRetentionDays is ${dataRetentionDays}, but bucket is given, whose rules are yours: ` +
        'one of them has to go',
    );
  }
  for (const name of ['memorySizes', 'reservedConcurrency'] as const) {
    for (const each of FUNCTION_NAMES.filter((one) => props[name]?.[one] !== undefined)) {
      const why = absence(props, each);
      if (why !== undefined) faults.push(`${name}.${each} is given, but ${why}`);
    }
  }
  if (reaction !== 'tick' && props.reservedConcurrency?.watch === 1) {
    faults.push(
      'reservedConcurrency.watch is 1, but has to be 2 at least: the next one starts before the ' +
        'one that holds the watches ends',
    );
  }
  return faults;
}

/** Props of what a stack that never acts does not have. */
const ACTING = [
  'reaction',
  'decisionEvents',
  'metrics',
  'queueEncryptionKey',
  'nodeRole',
  'nodeRoleEntry',
  'nodeRoles',
  'windowsNodes',
  'imageParameters',
  'isolatedVpc',
  'installCrds',
] as const satisfies readonly (keyof JoinerProps)[];

function shadowFaults(props: JoinerProps): readonly string[] {
  if (props.shadow !== true) return [];
  return ACTING.filter((name) => props[name] !== undefined).map(
    (name) =>
      `${name} is given, but has no meaning where shadow is true: give it with shadow false`,
  );
}

/** The name where it is known at synthesis; of a cluster in the app that which was given to it. */
export function clusterName({ cluster }: JoinerProps): string | undefined {
  const name = typeof cluster === 'string' ? cluster : cluster.clusterName;
  if (!Token.isUnresolved(name)) return name;
  if (typeof cluster === 'string') return undefined;
  const made = madeHere(cluster);
  if (made === undefined) return undefined;
  // The resource of `aws-eks` is a custom one without a name: the construct has it.
  const stated = Reflect.get(made, 'name') ?? Reflect.get(cluster, 'physicalName');
  const given: unknown = Stack.of(cluster).resolve(stated);
  return typeof given === 'string' ? given : undefined;
}

/** What makes a cluster: the resource of `aws-eks-v2`, that of `aws-eks`. */
const CLUSTER_TYPES: ReadonlySet<string> = new Set([
  'AWS::EKS::Cluster',
  'Custom::AWSCDK-EKS-Cluster',
]);

/** The cluster's resource where the app makes it. */
function madeHere(cluster: IConstruct): CfnResource | undefined {
  return cluster.node
    .findAll()
    .filter((each) => CfnResource.isCfnResource(each))
    .find((each) => CLUSTER_TYPES.has(each.cfnResourceType));
}

/** Undefined: the function stays outside of the VPC. */
export function networkOf(props: JoinerProps, name: FunctionName): FunctionNetwork | undefined {
  if (props.endpoint !== 'private' || OUTSIDE.has(name)) return undefined;
  const subnetIds = (props.subnets ?? []).map((each) =>
    typeof each === 'string' ? each : each.subnetId,
  );
  return {
    subnetIds: [...new Set(subnetIds)],
    securityGroupIds: [...groupsOf(props).keys()],
  };
}

/** What makes the routes of subnets of the same app: functions have no way to AWS without them. */
export function routesOf({ subnets }: JoinerProps): readonly IDependable[] {
  return (subnets ?? []).flatMap((each) =>
    typeof each === 'string' ? [] : each.internetConnectivityEstablished,
  );
}

/** Lets the functions in where the cluster's security group is known; the rules for it. */
export function admitToCluster(scope: Construct, props: JoinerProps): readonly IConstruct[] {
  const { cluster, clusterSecurityGroup, endpoint } = props;
  if (endpoint !== 'private') return [];
  const made =
    typeof cluster !== 'string' && madeHere(cluster) !== undefined
      ? cluster.clusterSecurityGroupId
      : undefined;
  const given = clusterSecurityGroup ?? made;
  if (given === undefined) {
    Annotations.of(scope).addInfo(
      'No clusterSecurityGroup is given: the security groups have to let the functions reach the ' +
        "cluster on port 443 already, as the cluster's own does.",
    );
    return [];
  }
  const groupId = securityGroupId(given);
  return [...groupsOf(props)].flatMap(([sourceSecurityGroupId, group]) => {
    if (sourceSecurityGroupId === groupId) return [];
    // By the group, not by its place in the list: a rule that moved there would be made twice.
    const id = `ClusterIngress-${referenceId(scope, group)}`;
    return new ec2.CfnSecurityGroupIngress(scope, id, {
      groupId,
      sourceSecurityGroupId,
      ipProtocol: 'tcp',
      fromPort: 443,
      toPort: 443,
      description: `Joiner ${Names.uniqueId(scope).slice(-64)}`,
    });
  });
}

/** By id: CloudFormation refuses a group that is listed twice. */
function groupsOf({ securityGroups = [] }: JoinerProps) {
  return new Map(securityGroups.map((group) => [securityGroupId(group), group]));
}

function securityGroupId(group: string | ec2.ISecurityGroup): string {
  return typeof group === 'string' ? group : group.securityGroupId;
}

/** What the variables of the functions refer to. */
export interface Shared {
  readonly cluster: string;
  readonly version: string;
  readonly bucketName: string;
  readonly eventBusName: string;
}

type Variables = Readonly<Record<string, string>>;

/**
 * The environment of one function. All have the same variables, so that they read one form, but for
 * what is of one optional function; what a function may do is said by its role.
 */
export function environment(
  scope: Construct,
  name: FunctionName,
  props: JoinerProps,
  shared: Shared,
): Variables {
  const { account, region, urlSuffix } = Stack.of(scope);
  return {
    [ENV.cluster]: shared.cluster,
    [ENV.function]: name,
    [ENV.version]: shared.version,
    [ENV.account]: account,
    [ENV.dnsSuffix]: urlSuffix,
    [ENV.bucket]: shared.bucketName,
    [ENV.eventBus]: shared.eventBusName,
    ...variables(['functions'], props, region),
    [ENV.logLevel]: props.logLevel ?? 'INFO',
    [ENV.service]: `joiner-${name}`,
    [ENV.metricsNamespace]: METRICS_NAMESPACE,
    ...statedSettings(props, region),
    ...(name === 'events' ? { [ENV.decisionEvents]: props.decisionEvents ?? 'changes' } : {}),
    ...remoteWriteVariables(name, props),
  };
}

/** Where to for `metrics`; the others write what they measure into their logs. */
function remoteWriteVariables(name: FunctionName, { metrics }: JoinerProps): Variables {
  const remoteWrite = metrics?.remoteWrite;
  if (remoteWrite === undefined) return {};
  if (name !== 'metrics') return { [ENV.measurements]: 'on' };
  return { [ENV.remoteWrite]: JSON.stringify(remoteWriteTarget(remoteWrite)) };
}

/** AWS bills China in yuan. The defaults of prices are rules of thumb, and so is the rate. */
const YUAN_PER_DOLLAR = 7;

function variables(uses: readonly SettingUse[], props: JoinerProps, region: string): Variables {
  // Of a stack without an environment only the prop says where it goes.
  const rate = (props.region ?? region).startsWith('cn-') ? YUAN_PER_DOLLAR : 1;
  return Object.fromEntries(
    SETTING_KEYS.filter((key) => uses.includes(settingOf(key).use)).map((key) => [
      settingOf(key).variable,
      settingText(key, props, rate),
    ]),
  );
}

/** What decisions go by, which the stack also states in the cluster. */
export function statedSettings(props: JoinerProps, region: string): Variables {
  return variables(['decisions', 'batches'], props, region);
}
