import { parseQuantity } from '../../core/quantity.ts';
import type { Decoded } from '../issue.ts';
import { type Fields, Reader } from '../read.ts';
import { readMetadata } from './metadata.ts';

/** Amounts as Kubernetes writes them, by resource name. */
type Amounts = Readonly<Record<string, string>>;

/** What a LimitRange gives containers that do not say it themselves. */
export interface LimitRange {
  readonly namespace: string;
  readonly name: string;
  readonly defaultRequests: Amounts;
  readonly defaultLimits: Amounts;
}

function amounts(read: Reader, value: unknown, path: string): Amounts {
  read.resources(value, path, 'up');
  const fields = read.fields(value, path);
  const texts = Object.entries(fields).flatMap(([name, amount]) =>
    typeof amount === 'string' || typeof amount === 'number' ? [[name, `${amount}`] as const] : [],
  );
  return Object.fromEntries(texts);
}

function greater(name: string, a: string | undefined, b: string): string {
  const of = (text: string): number => parseQuantity(text, name) ?? Number.MAX_SAFE_INTEGER;
  return a === undefined || of(b) > of(a) ? b : a;
}

/** The greater amount of each resource. */
function greatest(lists: readonly Amounts[]): Amounts {
  const most: Record<string, string> = {};
  for (const [name, amount] of lists.flatMap((each) => Object.entries(each))) {
    most[name] = greater(name, most[name], amount);
  }
  return most;
}

/**
 * Reads the items of type Container. The API server fills `default` from `max`, and `defaultRequest`
 * from `default` and then from `min`; the same is done here for manifests that it has not seen.
 * https://kubernetes.io/docs/concepts/policy/limit-range/
 */
export function decodeLimitRange(object: unknown): Decoded<LimitRange> {
  const read = new Reader('cap');
  const fields = read.fields(object, '');
  const { name, namespace } = readMetadata(read, fields);
  const spec = read.fields(fields['spec'], 'spec');
  const items = read.list(spec['limits'], 'spec.limits').flatMap((each, index) => {
    const at = `spec.limits[${index}]`;
    const item = read.fields(each, at);
    if (item['type'] !== 'Container') return [];
    const [max, min, limits, requests] = ['max', 'min', 'default', 'defaultRequest'].map((field) =>
      amounts(read, item[field], `${at}.${field}`),
    );
    const defaultLimits = { ...max, ...limits };
    return [{ defaultLimits, defaultRequests: { ...min, ...defaultLimits, ...requests } }];
  });
  return read.result({
    namespace,
    name,
    defaultRequests: greatest(items.map((each) => each.defaultRequests)),
    defaultLimits: greatest(items.map((each) => each.defaultLimits)),
  });
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : {};
}

function withDefaults(container: unknown, requests: Amounts, limits: Amounts): unknown {
  const fields = fieldsOf(container);
  const resources = fieldsOf(fields['resources']);
  const ownLimits = fieldsOf(resources['limits']);
  return {
    ...fields,
    resources: {
      ...resources,
      limits: { ...limits, ...ownLimits },
      // A container's own limit stands in for its request before any LimitRange is looked at.
      requests: { ...requests, ...ownLimits, ...fieldsOf(resources['requests']) },
    },
  };
}

/**
 * A pod's spec as the LimitRanger admission plugin of its namespace would write it. Of several
 * LimitRanges the greatest amounts count: which of them the API server asks first is not known.
 */
export function withLimitRanges(podSpec: unknown, ranges: readonly LimitRange[]): unknown {
  if (ranges.length === 0) return podSpec;
  const requests = greatest(ranges.map((each) => each.defaultRequests));
  const limits = greatest(ranges.map((each) => each.defaultLimits));
  const spec = fieldsOf(podSpec);
  const containers = (field: string): Fields => {
    const list = spec[field];
    if (!Array.isArray(list)) return {};
    return { [field]: list.map((each) => withDefaults(each, requests, limits)) };
  };
  return { ...spec, ...containers('containers'), ...containers('initContainers') };
}

/** A workload whose pod template is as {@link withLimitRanges} would have its pods. */
export function withTemplateLimits(workload: unknown, ranges: readonly LimitRange[]): unknown {
  if (ranges.length === 0) return workload;
  const object = fieldsOf(workload);
  const spec = fieldsOf(object['spec']);
  const template = fieldsOf(spec['template']);
  const podSpec = withLimitRanges(template['spec'], ranges);
  return { ...object, spec: { ...spec, template: { ...template, spec: podSpec } } };
}
