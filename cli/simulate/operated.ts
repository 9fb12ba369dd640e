import { isJson, type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';

/** Groups of Kubernetes itself that have a domain; others end in `k8s.io`, too. */
const OWN_GROUPS: ReadonlySet<string> = new Set(
  [
    ...['admissionregistration', 'apiextensions', 'apiregistration', 'authentication'],
    ...['authorization', 'certificates', 'coordination', 'discovery', 'events'],
    ...['flowcontrol.apiserver', 'gateway.networking', 'internal.apiserver', 'metrics'],
    ...['networking', 'node', 'rbac.authorization', 'resource', 'scheduling'],
    ...['snapshot.storage', 'storage', 'storagemigration'],
  ].map((group) => `${group}.k8s.io`),
);

/** Groups of Kubernetes itself: `apps`, `batch`, and those of its API below `k8s.io`. */
function isOfKubernetes(object: Json): boolean {
  const [group = '', version] = (textAt(object, 'apiVersion') ?? '').split('/');
  return version === undefined || !group.includes('.') || OWN_GROUPS.has(group);
}

/** Fields by which operators' objects say how many pods there are to be. */
const COUNTS =
  /^(replicas|replicaCount|instances|size|count|nodeCount|parallelism|minReplicas|(initial|min|max)Executors)$/;

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

/** An image by its name: policies have patterns such as `!*:latest` there. */
const IMAGE = /^[\w${}][\w.:/@${}-]*$/;

function isContainer(value: unknown): boolean {
  return IMAGE.test(textAt(value, 'image') ?? '');
}

/** Whether an object says by itself what pods run, or what one of them requests. */
function describesPods(object: Json): boolean {
  const { container, script, resources } = object;
  const amounts = [objectAt(resources, 'requests'), objectAt(resources, 'limits')];
  return (
    [container, script, ...listAt(object, 'containers')].some(isContainer) ||
    amounts.some(({ cpu, memory }) => cpu !== undefined || memory !== undefined) ||
    ('cores' in object && 'memory' in object)
  );
}

function holdsPods(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(holdsPods);
  return isJson(value) && (describesPods(value) || Object.values(value).some(holdsPods));
}

/**
 * Whether an operator makes pods of an object of a kind that is not known, judged by its spec: how
 * many it asks for where a field says so. Undefined: there is no sign of pods.
 */
export function operatedPods(object: Json): { readonly asked: string | undefined } | undefined {
  if (isOfKubernetes(object)) return undefined;
  const asked = podsAsked(object['spec']);
  const isPolicy = textAt(object, 'kind')?.endsWith('Policy') === true;
  return asked !== undefined || (!isPolicy && holdsPods(object['spec'])) ? { asked } : undefined;
}
