import { Duration } from 'aws-cdk-lib';
import { isSettingKey, type SettingKey, settingOf } from '../shared/contract/settings.ts';

/**
 * Props from `-c name=value`: everything is text there. Lists are separated by commas, objects are
 * `key=value` separated by commas. What cannot be read is passed on as it is, and so are names that
 * no prop has, so that the check of the props says what would be allowed.
 */
export function propsFromContext(
  context: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  const given = Object.entries(context).flatMap(([name, value]) => {
    if (value === undefined || isOfCdk(name)) return [];
    const read = typeof value === 'string' ? parse(name, value) : value;
    if (name === REMOTE_WRITE) return [['metrics', { remoteWrite: read }] as const];
    return [[name, read] as const];
  });
  return Object.fromEntries(given);
}

/**
 * Whether the CDK gives the name itself: `aws:cdk:…`, flags such as `@aws-cdk/core:…`, what it has
 * looked up (`vpc-provider:…`), and what its command line keeps beside them.
 */
export function isOfCdk(name: string): boolean {
  return /[:@/]/.test(name) || CDK_OWN.has(name);
}

const CDK_OWN: ReadonlySet<string> = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/** The one prop in a prop. */
const REMOTE_WRITE = 'metrics.remoteWrite';

const LISTS: ReadonlySet<string> = new Set([
  'subnets',
  'securityGroups',
  'nodeRoles',
  'imageParameters',
]);
const RECORDS: ReadonlySet<string> = new Set(['memorySizes', 'reservedConcurrency', REMOTE_WRITE]);
/** Names of clusters and buckets may look like numbers. */
const TEXTS: ReadonlySet<string> = new Set(['cluster', 'bucket']);

function parse(name: string, text: string): unknown {
  if (isSettingKey(name)) return setting(name, text);
  if (TEXTS.has(name)) return text;
  if (LISTS.has(name)) return parts(text).filter((each) => each !== '');
  if (RECORDS.has(name)) return record(text);
  return scalar(text);
}

/** Without the blanks around them. */
export function parts(text: string, separator = ','): readonly string[] {
  return text.split(separator).map((each) => each.trim());
}

function record(text: string): unknown {
  const pairs = parts(text).map((pair) => parts(pair, '='));
  if (pairs.some((pair) => pair.length !== 2)) return text;
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key, scalar(value)]));
}

function scalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(text) ? Number(text) : text;
}

/** Durations as in settings files: `300ms`, `3s`, `4h`, `30d`. */
function setting(key: SettingKey, text: string): unknown {
  const { kind } = settingOf(key);
  if (kind.name === 'gates') return record(text);
  if (kind.name !== 'duration') return scalar(text);
  const read = kind.read(text);
  return 'value' in read ? Duration.millis(Number(read.value)) : text;
}
