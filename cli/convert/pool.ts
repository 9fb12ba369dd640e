import { normalizeLabelKey } from '../../shared/core/model/labels.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Note } from './part.ts';

export const CLASS_GROUP = 'karpenter.k8s.aws';
export const CLASS_KIND = 'EC2NodeClass';

/** Seconds in the largest unit that says them exactly: 720h, 2m, 90s. */
export function durationText(seconds: number): string {
  if (seconds === 0 || seconds % 60 !== 0) return `${seconds}s`;
  return seconds % 3600 === 0 ? `${seconds / 3600}h` : `${seconds / 60}m`;
}

interface Requirement extends Json {
  readonly key: string;
}

/** Requirements under the names that Kubernetes has for their keys now. */
export function currentKeys<Each extends Requirement>(requirements: readonly Each[]): Each[] {
  return requirements.map((each) => ({ ...each, key: normalizeLabelKey(each.key) }));
}

/** Since v1, nodes leave at that age in any case. Karpenter's v1 migration guide, "Forceful Expiration". */
export function expiryNote(field: string, value: string, after: string): readonly Note[] {
  if (after === 'Never') return [];
  const message = `${value}: v1 drains a node of that age at once, without a node in its place first and whatever the budgets; expireAfter: Never keeps nodes`;
  return [{ field, message }];
}

/** An empty list or map says nothing. */
export function filled<Value extends object>(value: Value | undefined): Value | undefined {
  return value === undefined || Object.keys(value).length === 0 ? undefined : value;
}
