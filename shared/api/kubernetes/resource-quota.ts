import {
  type QuotaScope,
  quotaResource,
  type ResourceQuota,
} from '../../core/model/resource-quota.ts';
import type { Resources } from '../../core/model/resources.ts';
import type { Rounding } from '../../core/quantity.ts';
import type { Decoded } from '../issue.ts';
import { type Fields, Reader } from '../read.ts';
import { readMetadata } from './metadata.ts';

/** Only what bounds pods; the amounts are in the units of what they count. */
function amounts(read: Reader, value: unknown, path: string, rounding: Rounding): Resources {
  const counted: Record<string, number> = {};
  for (const [name, text] of Object.entries(read.fields(value, path))) {
    const resource = quotaResource(name);
    if (resource === undefined) continue;
    counted[name] = read.resources({ [resource]: text }, path, rounding)[resource] ?? 0;
  }
  return counted;
}

function scopes(read: Reader, spec: Fields): readonly QuotaScope[] {
  const named = read
    .texts(spec['scopes'], 'spec.scopes')
    .map((scopeName) => ({ scopeName, operator: 'Exists', values: [] }));
  const at = 'spec.scopeSelector.matchExpressions';
  const selector = read.fields(spec['scopeSelector'], 'spec.scopeSelector');
  const expressions = read.list(selector['matchExpressions'], at).map((each, index) => {
    const fields = read.fields(each, `${at}[${index}]`);
    return {
      scopeName: read.requiredText(fields['scopeName'], `${at}[${index}].scopeName`),
      operator: read.requiredText(fields['operator'], `${at}[${index}].operator`),
      values: read.texts(fields['values'], `${at}[${index}].values`),
    };
  });
  return [...named, ...expressions];
}

/** What the quota's controller enforces counts; before its first look, what the spec says. */
export function decodeResourceQuota(object: unknown): Decoded<ResourceQuota> {
  const read = new Reader('cap');
  const fields = read.fields(object, '');
  const { name, namespace } = readMetadata(read, fields);
  const spec = read.fields(fields['spec'], 'spec');
  const status = read.fields(fields['status'], 'status');
  const [hard, path] =
    status['hard'] === undefined
      ? ([spec['hard'], 'spec.hard'] as const)
      : ([status['hard'], 'status.hard'] as const);
  return read.result({
    namespace,
    name,
    hard: amounts(read, hard, path, 'down'),
    used: amounts(read, status['used'], 'status.used', 'up'),
    scopes: scopes(read, spec),
  });
}
