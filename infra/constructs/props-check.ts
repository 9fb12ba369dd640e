import { Token } from 'aws-cdk-lib';
import { RetentionDays } from 'aws-cdk-lib/aws-logs';
import { meant } from '../../shared/contract/nearest.ts';
import { isSecretArn, prometheusRegion, workspaceId } from '../../shared/contract/remote-write.ts';
import {
  isSettingKey,
  SETTING_KEYS,
  type SettingKey,
  settingOf,
} from '../../shared/contract/settings.ts';
import { DECISION_EVENTS, FUNCTION_NAMES } from '../../shared/contract.ts';
import type { JoinerProps } from './joiner-props.ts';
import { isDuration } from './setting-props.ts';

/** The allowed values in words; undefined: the value is one of them. */
type Check = (value: unknown) => string | undefined;

/** What is wrong with a field of a prop: a sentence that names it and its value. */
class FieldFault {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Of a whole prop, of which a field may be wrong. */
type PropCheck = (value: unknown) => string | FieldFault | undefined;

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

function matching(pattern: RegExp, words: string): Check {
  return (value) => {
    if (typeof value !== 'string') return words;
    return Token.isUnresolved(value) || pattern.test(value) ? undefined : words;
  };
}

/** A construct whose property the check takes, or a text that the check takes. */
function constructOr(property: string, check: Check, ofConstruct: Check = check): Check {
  return (value) => {
    const isConstruct = typeof value === 'object' && value !== null && property in value;
    if (!isConstruct) return check(value);
    return ofConstruct(Reflect.get(value, property)) === undefined ? undefined : check(undefined);
  };
}

/** Ids of constructs that CDK has yet to look up are of a form of their own. */
const isNamed: Check = (value) =>
  typeof value === 'string' && value !== '' ? undefined : 'a text that is not empty';

function listOf(check: Check): Check {
  return (value) => {
    if (!Array.isArray(value) || value.length === 0) return `a list of ${check(undefined)}`;
    const [wrong] = value.map(check).filter((each) => each !== undefined);
    return wrong === undefined ? undefined : `a list of ${wrong}`;
  };
}

/** A list such as of `Fn.split`, which CDK stands for by an array of one text. */
function listOrToken(check: Check): Check {
  const list = listOf(check);
  return (value) => (Array.isArray(value) && Token.isUnresolved(value) ? undefined : list(value));
}

function pairsLike(example: string): string {
  return `on the command line ${example}, separated by commas`;
}

function recordOf(keys: readonly string[], check: Check, example: string): Check {
  const words = `an object from ${keys.join(', ')} to ${check(undefined)} (${pairsLike(example)})`;
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return words;
    const isGood = Object.entries(value).every(
      ([key, each]) => keys.includes(key) && check(each) === undefined,
    );
    return isGood ? undefined : words;
  };
}

/** What the table says of a setting; undefined: the value is allowed. */
function settingCheck(key: SettingKey): Check {
  const { kind, default: standard } = settingOf(key);
  if (kind.name === 'duration') {
    const words =
      kind.words.replace('duration', 'Duration') +
      ` (on the command line such as ${kind.show(standard)})`;
    return (value) =>
      isDuration(value) && kind.accepts(value.toMilliseconds()) ? undefined : words;
  }
  const words =
    kind.name === 'gates' ? `${kind.words} (${pairsLike('NodeRepair=true')})` : kind.words;
  return (value) => (kind.accepts(value) ? undefined : words);
}

/** One resource: an asterisk would be a pattern where the ARN gets into a policy. */
function arn(head: string, resource: string, words: string): Check {
  const check = matching(new RegExp(`^arn:aws(-[a-z]+)*:${head}:${resource}$`), words);
  return (value) => (String(value).includes('*') ? words : check(value));
}

const PATH_AND_NAME = '[\\w+=,.@/-]+';

const ROLE_ARN = arn(
  'iam::\\d{12}',
  `role/${PATH_AND_NAME}`,
  "a role's ARN such as arn:aws:iam::111122223333:role/… or construct",
);

const CLUSTER_NAME = /^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/;
/** Other partitions have no catalog and no prices (docs/compatibility.md). */
export const REGION =
  /^(af|ap|ca|cn|eu|il|me|mx|sa|us)-(central|east|west|(north|south)(east|west)?)-\d{1,2}$/;
const RETENTION_DAYS = Object.values(RetentionDays)
  .filter((days) => typeof days === 'number')
  .filter((days) => days !== RetentionDays.INFINITE);
const securityGroup = constructOr(
  'securityGroupId',
  matching(/^sg-[0-9a-f]{8,17}$/, 'a security group: an id such as sg-0123456789abcdef0'),
  isNamed,
);

const KEY_OR_ARN: Check = constructOr(
  'keyArn',
  arn(
    'kms:[a-z0-9-]+:\\d{12}',
    'key/[\\w-]+',
    "a key's ARN such as arn:aws:kms:eu-west-1:111122223333:key/… or construct",
  ),
);

/** CDK takes an alias for a key. A policy with the ARN of an alias allows nothing. */
const KEY: Check = (value) =>
  typeof value === 'object' && value !== null && 'aliasName' in value
    ? `${KEY_OR_ARN(undefined)}, not its alias`
    : KEY_OR_ARN(value);

const REMOTE_WRITE_FIELDS = ['endpoint', 'secret', 'perPod'] as const;
const REMOTE_WRITE_WORDS = `an object { ${REMOTE_WRITE_FIELDS.join(', ')} }, of which only endpoint is required`;
const METRICS_WORDS =
  `an object with remoteWrite: { ${REMOTE_WRITE_FIELDS.join(', ')} } ` +
  '(on the command line -c metrics.remoteWrite=endpoint=https://…,perPod=false)';
const ADDRESS_WORDS = 'an address such as https://prometheus.example.com/api/v1/write';

function fieldFault(path: string, value: unknown, words: string): FieldFault {
  if (Token.isUnresolved(value)) {
    const known =
      'is only known when it is deployed, but is part of policies: it has to be written';
    return new FieldFault(`metrics.${path} ${known} as ${words}`);
  }
  return new FieldFault(
    value === undefined
      ? `metrics.${path} is missing: it has to be ${words}`
      : `metrics.${path} is ${shown(path, value)}, but has to be ${words}`,
  );
}

function unknownField(value: object, path: string, fields: readonly string[]) {
  const unknown = Object.keys(value).find((name) => !fields.includes(name));
  if (unknown === undefined) return undefined;
  const near = meant(unknown, fields);
  return new FieldFault(
    `metrics${path}.${unknown} is no field${near}; valid: ${fields.join(', ')}`,
  );
}

/** What is wrong first, of what `metrics` holds. */
function metricsCheck(value: unknown): string | FieldFault | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return METRICS_WORDS;
  const unknown = unknownField(value, '', ['remoteWrite']);
  if (unknown !== undefined) return unknown;
  const { remoteWrite }: { readonly remoteWrite?: unknown } = value;
  if (typeof remoteWrite !== 'object' || remoteWrite === null || Array.isArray(remoteWrite)) {
    return fieldFault('remoteWrite', remoteWrite, REMOTE_WRITE_WORDS);
  }
  const own = unknownField(remoteWrite, '.remoteWrite', REMOTE_WRITE_FIELDS);
  return own ?? remoteWriteFault({ ...remoteWrite });
}

function remoteWriteFault({
  endpoint,
  secret,
  perPod,
}: Readonly<Partial<Record<(typeof REMOTE_WRITE_FIELDS)[number], unknown>>>):
  | FieldFault
  | undefined {
  const wrong = (field: string, given: unknown, words: string): FieldFault =>
    fieldFault(`remoteWrite.${field}`, given, words);
  if (perPod !== undefined && typeof perPod !== 'boolean') {
    return wrong('perPod', perPod, 'true or false');
  }
  if (secret !== undefined && !(typeof secret === 'string' && isSecretArn(secret))) {
    return wrong('secret', secret, 'the whole ARN of a secret or of an SSM parameter');
  }
  const address =
    typeof endpoint === 'string' && URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isSafe = address?.protocol === 'https:';
  if (address === undefined || !(isSafe || address.protocol === 'http:')) {
    return wrong('endpoint', endpoint, ADDRESS_WORDS);
  }
  if (address.username !== '' || address.password !== '') {
    // They are not repeated in an error, which ends up in logs.
    const bare = `${address.protocol}//…@${address.host}${address.pathname}`;
    return wrong('endpoint', bare, 'without credentials, which belong into secret');
  }
  const isWorkspace = prometheusRegion(address) !== undefined;
  if (!isSafe && (secret !== undefined || isWorkspace)) {
    const where = 'where a secret is given, and for a workspace of AWS';
    return wrong('endpoint', endpoint, `one with https:// ${where}`);
  }
  if (!isWorkspace) return undefined;
  if (secret !== undefined) return wrong('secret', secret, 'left out for a workspace of AWS');
  return workspaceId(address) === undefined
    ? wrong(
        'endpoint',
        endpoint,
        'that of a workspace: its path is /workspaces/ws-…/api/v1/remote_write',
      )
    : undefined;
}

/** Of every prop that is no setting of the table. */
const CHECKS: Readonly<Record<Exclude<keyof JoinerProps, SettingKey>, PropCheck>> = {
  cluster: constructOr(
    'clusterName',
    matching(
      CLUSTER_NAME,
      'the name of an EKS cluster: letters, digits, - and _, at most 100 of them',
    ),
  ),
  region: matching(
    REGION,
    "a region's name such as eu-west-1, of the partitions aws and aws-cn: others are not supported",
  ),
  shadow: isFlag,
  reaction: oneOf('watch', 'tick'),
  memorySizes: recordOf(FUNCTION_NAMES, whole(128, 10_240), 'provision=3008'),
  endpoint: oneOf('public', 'private'),
  subnets: listOrToken(
    constructOr(
      'subnetId',
      matching(/^subnet-[0-9a-f]{8,17}$/, 'subnets: ids such as subnet-0123456789abcdef0'),
      isNamed,
    ),
  ),
  securityGroups: listOf(securityGroup),
  clusterSecurityGroup: securityGroup,
  logLevel: oneOf('DEBUG', 'INFO', 'WARN', 'ERROR'),
  logRetentionDays: (value) =>
    RETENTION_DAYS.some((days) => days === value)
      ? undefined
      : `a number of days that CloudWatch knows: ${RETENTION_DAYS.join(', ')}`,
  dataRetentionDays: whole(1, 3650),
  decisionEvents: oneOf(...DECISION_EVENTS),
  metrics: metricsCheck,
  bucket: constructOr(
    'bucketName',
    matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "a bucket's name or construct"),
  ),
  encryptionKey: KEY,
  queueEncryptionKey: KEY,
  logEncryptionKey: KEY,
  busEncryptionKey: KEY,
  alarms: isFlag,
  alarmTopic: constructOr(
    'topicArn',
    arn(
      'sns:[a-z0-9-]+:\\d{12}',
      '[\\w-]{1,256}',
      "a topic's ARN such as arn:aws:sns:eu-west-1:111122223333:alarms or construct",
    ),
  ),
  dashboard: isFlag,
  permissionsBoundary: constructOr(
    'managedPolicyArn',
    arn(
      'iam::(\\d{12}|aws)',
      `policy/${PATH_AND_NAME}`,
      "a policy's ARN such as arn:aws:iam::111122223333:policy/… or construct",
    ),
  ),
  nodeRole: constructOr('roleArn', ROLE_ARN),
  nodeRoleEntry: isFlag,
  nodeRoles: listOf(constructOr('roleArn', ROLE_ARN)),
  imageParameters: listOf(
    matching(
      /^(arn:aws(-cn)?:ssm:[a-z0-9-]+:\d{12}:parameter)?\/[\w./-]+\*?$/,
      'names of SSM parameters such as /images/golden, or ARNs',
    ),
  ),
  leaveNodes: isFlag,
  windowsNodes: isFlag,
  reservedConcurrency: recordOf(FUNCTION_NAMES, whole(1, 1000), 'provision=2'),
  installerAccess: isFlag,
  installCrds: isFlag,
  code: (value) => (typeof value === 'function' ? undefined : 'a function from a name to Code'),
};

const ALL_CHECKS: ReadonlyMap<string, PropCheck> = new Map([
  ...Object.entries(CHECKS),
  ...SETTING_KEYS.map((key) => [key, settingCheck(key)] as const),
]);

/** The names of all props, so that a test can ask whether each is checked. */
export const JOINER_PROPS: readonly (keyof JoinerProps)[] = [...ALL_CHECKS.keys()].filter(
  (name): name is keyof JoinerProps => isSettingKey(name) || Object.hasOwn(CHECKS, name),
);

/** What is wrong with single props, each with its name, its value and what would be allowed. */
export function propFaults(props: object): readonly string[] {
  const unknown = Object.keys(props)
    .filter((name) => !ALL_CHECKS.has(name))
    .map(
      (name) =>
        `${name} is not a prop of Joiner${meant(name, JOINER_PROPS)}. ` +
        `The props are ${JOINER_PROPS.join(', ')}`,
    );
  const wrong = [...ALL_CHECKS].flatMap(([name, check]) => {
    const value: unknown = Reflect.get(props, name);
    if (value === undefined && name !== 'cluster') return [];
    const allowed = check(value);
    if (allowed instanceof FieldFault) return [allowed.text];
    return allowed === undefined
      ? []
      : [`${name} is ${shown(name, value)}, but has to be ${allowed}`];
  });
  return [...unknown, ...wrong];
}

/** Whether the props have no faults. */
export function isJoinerProps(props: object): props is JoinerProps {
  return propFaults(props).length === 0;
}

function shown(name: string, value: unknown): string {
  if (isDuration(value)) {
    return isSettingKey(name) ? settingOf(name).kind.show(value.toMilliseconds()) : 'a Duration';
  }
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'number') return String(value);
  try {
    return JSON.stringify(value) ?? 'undefined';
  } catch {
    // Constructs know their parents, and these them.
    return 'a construct of another kind';
  }
}
