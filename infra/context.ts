import { Duration } from 'aws-cdk-lib';
import { JOINER_PROPS } from './constructs/joiner-props.ts';

/**
 * Props from `-c name=value`: everything is text there. Lists are separated by commas, objects are
 * `key=value` separated by commas. What cannot be read is passed on as it is, so that the check of
 * the props says what would be allowed.
 */
export function propsFromContext(
  read: (name: string) => unknown,
): Readonly<Record<string, unknown>> {
  const given = JOINER_PROPS.flatMap((name) => {
    const value = read(name);
    if (value === undefined || name === 'code') return [];
    return [[name, typeof value === 'string' ? parse(name, value) : value] as const];
  });
  return Object.fromEntries(given);
}

const LISTS: ReadonlySet<string> = new Set(['subnets', 'securityGroups']);
const RECORDS: ReadonlySet<string> = new Set([
  'memorySizes',
  'featureGates',
  'reservedConcurrency',
]);
const DURATIONS: ReadonlySet<string> = new Set(['batchIdleDuration', 'batchMaxDuration']);
/** Names of clusters and buckets may look like numbers. */
const TEXTS: ReadonlySet<string> = new Set(['cluster', 'bucket']);

function parse(name: string, text: string): unknown {
  if (TEXTS.has(name)) return text;
  if (LISTS.has(name)) return text.split(',').filter((each) => each !== '');
  if (RECORDS.has(name)) return record(text);
  if (DURATIONS.has(name)) return duration(text);
  return scalar(text);
}

function record(text: string): unknown {
  const pairs = text.split(',').map((pair) => pair.split('='));
  if (pairs.some((pair) => pair.length !== 2)) return text;
  return Object.fromEntries(pairs.map(([key = '', value = '']) => [key, scalar(value)]));
}

function scalar(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** `300ms`, `3s` */
function duration(text: string): unknown {
  const [, amount = '', unit] = /^(\d+)(ms|s)$/.exec(text) ?? [];
  if (unit === undefined) return text;
  return unit === 's' ? Duration.seconds(Number(amount)) : Duration.millis(Number(amount));
}
