import { type Json, listAt, objectAt, textAt, textsAt } from './json.ts';

/** Groups whose kinds are known one by one. */
const KNOWN_GROUPS: ReadonlySet<string> = new Set([
  ...['', 'apps', 'batch'],
  ...['karpenter.sh', 'karpenter.k8s.aws', 'autoscaling.x-k8s.io'],
]);

/** What a kind of another group runs as; all others run as ReplicaSets do. */
const FORMS: ReadonlyMap<string, string> = new Map([
  ['Rollout', 'Deployment'],
  ['Deployment', 'Deployment'],
  ['StatefulSet', 'StatefulSet'],
  ['DaemonSet', 'DaemonSet'],
]);

/** The kind that stands in the simulated cluster for one that a scenario names. */
export function formOf(kind: string): string {
  return kind === 'ReplicationController' ? 'ReplicaSet' : (FORMS.get(kind) ?? kind);
}

/**
 * The object as a workload of apps/v1: a ReplicationController, and what operators run by a pod
 * template in `spec.template`, such as an Argo Rollout. Everything else is what it is.
 */
export function asWorkload(object: Json): Json {
  const kind = textAt(object, 'kind') ?? '';
  const version = textAt(object, 'apiVersion') ?? '';
  const group = version.includes('/') ? (version.split('/')[0] ?? '') : '';
  const isController = group === '' && kind === 'ReplicationController';
  const isCustom =
    !KNOWN_GROUPS.has(group) && listAt(object, 'spec', 'template', 'spec', 'containers').length > 0;
  if (!isController && !isCustom) return object;
  const form = FORMS.get(kind) ?? 'ReplicaSet';
  const spec = objectAt(object, 'spec');
  const labels = textsAt(spec, 'template', 'metadata', 'labels');
  // A ReplicationController selects by a plain map, and some operators by nothing at all.
  return {
    ...object,
    apiVersion: 'apps/v1',
    kind: form,
    spec: { ...spec, selector: { matchLabels: labels } },
  };
}
