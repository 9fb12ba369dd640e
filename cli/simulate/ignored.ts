import { isJson, type Json, textAt } from '../../shared/sim/json.ts';
import { type Manifest, nameOf } from '../manifests.ts';
import { isAutoscaler } from './autoscalers.ts';

/** Groups of Kubernetes itself: `apps`, `batch`, and those below `k8s.io`. */
function isOfKubernetes(object: Json): boolean {
  const [group = '', version] = (textAt(object, 'apiVersion') ?? '').split('/');
  return version === undefined || !group.includes('.') || group.endsWith('.k8s.io');
}

/** Fields by which operators' objects say how many pods there are to be. */
const COUNTS = /^(replicas|replicaCount|instances|size|count|nodeCount)$/;

/** The first of these fields in the object's spec, as `count 3`. */
function podsAsked(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.map(podsAsked).find((each) => each !== undefined);
  if (!isJson(value)) return undefined;
  for (const [key, each] of Object.entries(value)) {
    if (COUNTS.test(key) && typeof each === 'number' && each > 0) return `${key} ${each}`;
  }
  return Object.values(value)
    .map(podsAsked)
    .find((each) => each !== undefined);
}

/** Names told in one note. */
const NAMES_MAX = 8;

function listed(names: readonly string[]): string {
  const more = names.length > NAMES_MAX ? ` and ${names.length - NAMES_MAX} more` : '';
  return `${names.slice(0, NAMES_MAX).join(', ')}${more}`;
}

/** What is known of objects that decide nothing by themselves. */
export function ignoredNotes(ignored: readonly Manifest[]): readonly string[] {
  const isQuota = ({ object }: Manifest): boolean => object['kind'] === 'ResourceQuota';
  const quotas = ignored.filter(isQuota).map(({ object }) => nameOf(object));
  const rest = ignored.filter((each) => !isAutoscaler(each.object) && !isQuota(each));
  const operated = new Map(
    rest.flatMap(({ object }) => {
      const asked = isOfKubernetes(object) ? undefined : podsAsked(object['spec']);
      return asked === undefined ? [] : [[object, `${nameOf(object)} (${asked})`] as const];
    }),
  );
  const others = rest.filter(({ object }) => !operated.has(object));
  const kinds = [...new Set(others.map(({ object }) => textAt(object, 'kind') ?? '?'))].sort();
  const names = [...operated.values()].sort();
  return [
    ...(names.length === 0
      ? []
      : [`operators make pods of these, which are not counted: ${listed(names)}`]),
    ...(quotas.length === 0
      ? []
      : [`not enforced, so that pods beyond them count: ${listed(quotas.toSorted())}`]),
    ...(kinds.length === 0 ? [] : [`ignored kinds: ${kinds.join(', ')}`]),
  ];
}
