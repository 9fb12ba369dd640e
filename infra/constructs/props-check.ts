import { Duration, Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { FEATURE_GATES, FUNCTION_NAMES } from '../../shared/contract.ts';
import { JOINER_PROPS } from './joiner-props.ts';

/** The allowed values in words; undefined: the value is one of them. */
type Check = (value: unknown) => string | undefined;

function oneOf(...allowed: readonly string[]): Check {
  const words = allowed.map((each) => `'${each}'`).join(' or ');
  return (value) => (typeof value === 'string' && allowed.includes(value) ? undefined : words);
}

const isFlag: Check = (value) => (typeof value === 'boolean' ? undefined : 'true or false');

function whole(min: number, max: number): Check {
  return (value) => {
    const isGood = Number.isInteger(value) && Number(value) >= min && Number(value) <= max;
    return isGood ? undefined : `a whole number from ${min} to ${max}`;
  };
}

function share(max: number): Check {
  return (value) => {
    const isGood = typeof value === 'number' && value >= 0 && value <= max;
    return isGood ? undefined : `a number from 0 to ${max}`;
  };
}

function matching(pattern: RegExp, words: string): Check {
  return (value) => {
    if (typeof value !== 'string') return words;
    return Token.isUnresolved(value) || pattern.test(value) ? undefined : words;
  };
}

/** A construct that has the property, or a text that the check takes. */
function constructOr(property: string, check: Check): Check {
  return (value) => {
    const isConstruct = typeof value === 'object' && value !== null && property in value;
    return isConstruct ? undefined : check(value);
  };
}

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) return `a list of ${check(undefined)}`;
    const [wrong] = value.map(check).filter((each) => each !== undefined);
    return wrong === undefined ? undefined : `a list of ${wrong}`;
  };
}

function recordOf(keys: readonly string[], check: Check): Check {
  const words = `an object from ${keys.join(', ')} to ${check(undefined)}`;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return words;
    const isGood = Object.entries(value).every(
      ([key, each]) => keys.includes(key) && check(each) === undefined,
    );
    return isGood ? undefined : words;
  };
}

function duration(minMs: number, maxMs: number): Check {
  const words = `a Duration from ${minMs} ms to ${maxMs} ms`;
  return (value) => {
    if (!(value instanceof Duration)) return words;
    const ms = value.toMilliseconds();
    return ms >= minMs && ms <= maxMs ? undefined : words;
  };
}

function arn(service: string, resource: string, words: string): Check {
  return matching(new RegExp(`^arn:aws[a-z-]*:${service}:[a-z0-9-]*:\\d{12}:${resource}`), words);
}

const CLUSTER_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
const RETENTION_DAYS = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE);
const securityGroup = constructOr(
  'securityGroupId',
  matching(/^sg-[0-9a-f]{8,17}$/, 'a security group: an id such as sg-0123456789abcdef0'),
);

const CHECKS: Readonly<Record<(typeof JOINER_PROPS)[number], Check>> = {
  cluster: constructOr(
    'clusterName',
    matching(
      CLUSTER_NAME,
      'the name of an EKS cluster: letters, digits, - and _, at most 100 of them',
    ),
  ),
  region: matching(/^[a-z]{2}(-[a-z]+)+-\d$/, "a region's name such as eu-west-1"),
  reaction: oneOf('watch', 'tick'),
  memorySizes: recordOf(FUNCTION_NAMES, whole(128, 10_240)),
  endpoint: oneOf('public', 'private'),
  subnets: listOf(
    constructOr(
      'subnetId',
      matching(/^subnet-[0-9a-f]{8,17}$/, 'subnets: ids such as subnet-0123456789abcdef0'),
    ),
  ),
  securityGroups: listOf(securityGroup),
  clusterSecurityGroup: securityGroup,
  isolatedVpc: isFlag,
  featureGates: recordOf(Object.keys(FEATURE_GATES), isFlag),
  batchIdleDuration: duration(0, 60_000),
  batchMaxDuration: duration(0, 60_000),
  preferencePolicy: oneOf('Respect', 'Ignore'),
  minValuesPolicy: oneOf('Strict', 'BestEffort'),
  preferenceWorthZone: share(10),
  preferenceWorthOther: share(10),
  vmMemoryOverhead: share(0.9),
  reservedEnis: whole(0, 100),
  maxLaunchesPerMinute: whole(1, 10_000),
  maxTerminationsPerMinute: whole(1, 10_000),
  logLevel: oneOf('DEBUG', 'INFO', 'WARN', 'ERROR'),
  logRetentionDays: (value) =>
    RETENTION_DAYS.some((days) => days === value)
      ? undefined
      : `a number of days that CloudWatch knows: ${RETENTION_DAYS.join(', ')}`,
  dataRetentionDays: whole(1, 3650),
  bucket: constructOr(
    'bucketName',
    matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "a bucket's name or construct"),
  ),
  encryptionKey: constructOr(
    'keyArn',
    arn('kms', 'key/', "a key's ARN such as arn:aws:kms:eu-west-1:111122223333:key/… or construct"),
  ),
  alarms: isFlag,
  alarmTopic: constructOr(
    'topicArn',
    arn('sns', '', "a topic's ARN such as arn:aws:sns:eu-west-1:111122223333:alarms or construct"),
  ),
  dashboard: isFlag,
  permissionsBoundary: constructOr(
    'managedPolicyArn',
    arn('iam', 'policy/', "a policy's ARN such as arn:aws:iam::111122223333:policy/… or construct"),
  ),
  nodeRole: constructOr(
    'roleArn',
    arn('iam', 'role/', "a role's ARN such as arn:aws:iam::111122223333:role/… or construct"),
  ),
  nodeRoleEntry: isFlag,
  windowsNodes: isFlag,
  reservedConcurrency: recordOf(FUNCTION_NAMES, whole(1, 1000)),
  installerAccess: isFlag,
  code: (value) => (typeof value === 'function' ? undefined : 'a function from a name to Code'),
};

/** What is wrong with single props, each with its name, its value and what would be allowed. */
export function propFaults(props: object): readonly string[] {
  const unknown = Object.keys(props)
    .filter((name) => !Object.hasOwn(CHECKS, name))
    .map((name) => `${name} is no prop of Joiner; the props are ${JOINER_PROPS.join(', ')}`);
  const wrong = JOINER_PROPS.flatMap((name) => {
    const value: unknown = Reflect.get(props, name);
    if (value === undefined && name !== 'cluster') return [];
    const allowed = CHECKS[name](value);
    return allowed === undefined ? [] : [`${name} is ${shown(value)}, but has to be ${allowed}`];
  });
  return [...unknown, ...wrong];
}

function shown(value: unknown): string {
  if (value instanceof Duration) return value.toString();
  if (typeof value === 'function') return 'a function';
  return typeof value === 'number' ? String(value) : (JSON.stringify(value) ?? 'undefined');
}
