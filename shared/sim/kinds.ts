import type { Decoded, Issue } from '../api/issue.ts';
import { type Kind, kindDecoders } from '../api/kinds.ts';
import { PodSpecReader } from '../api/kubernetes/pod-spec.ts';
import { INT32, Reader, show } from '../api/read.ts';
import { parseDurationMs } from '../core/duration.ts';
import { SIMULATED_DURATION } from '../core/model/labels.ts';
import { isSchedule, isTimeZone } from './controllers/cron-jobs.ts';
import { type Json, textAt, valueAt } from './json.ts';
import { asWorkload } from './pod-templates.ts';

type Check = (object: Json) => readonly Issue[];

function issuesOf(decoded: Decoded<unknown>): readonly Issue[] {
  return decoded.ok ? [] : decoded.issues;
}

/** What the decoder of the kind finds. */
const decoded =
  (kind: Kind): Check =>
  (object) =>
    issuesOf(decoders[kind](object));

const specs = new PodSpecReader();
const decoders = kindDecoders('manifest');

/** How long a pod runs in the simulated world: said wrongly, it would run for ever. */
function simulatedDurationIssues(metadata: unknown, path: string): readonly Issue[] {
  const said = valueAt(metadata, 'annotations', SIMULATED_DURATION);
  if (said === undefined || (typeof said === 'string' && parseDurationMs(said) !== undefined))
    return [];
  const message = `must be a time such as 90s, 5m or 1h30m, not ${show(said)}`;
  return [{ path: `${path}.annotations.${SIMULATED_DURATION}`, message }];
}

/**
 * What Kubernetes says a cluster may have: more are a mistake, and would run for hours.
 * https://kubernetes.io/docs/setup/best-practices/cluster-large/
 */
export const PODS_MAX = 150_000;

function countIssues(object: Json, ...path: readonly string[]): readonly Issue[] {
  const count = valueAt(object, ...path) ?? 0;
  if (Number.isInteger(count) && Number(count) >= 0 && Number(count) <= PODS_MAX) return [];
  const message = `must be a whole number between 0 and ${PODS_MAX}, not ${show(count)}`;
  return [{ path: path.join('.'), message }];
}

const workload: Check = (object) => {
  const counts = ['replicas', 'parallelism'].flatMap((each) => countIssues(object, 'spec', each));
  const path = 'spec.template.spec';
  const { issues } = specs.read(valueAt(object, 'spec', 'template', 'spec'), path);
  const template = valueAt(object, 'spec', 'template', 'metadata');
  const durations = simulatedDurationIssues(template, 'spec.template.metadata');
  return [...counts, ...durations, ...issues];
};

const cronJob: Check = (object) => {
  const [schedule, zone] = [
    valueAt(object, 'spec', 'schedule'),
    valueAt(object, 'spec', 'timeZone'),
  ];
  const issues: Issue[] = [];
  if (typeof schedule !== 'string' || !isSchedule(schedule)) {
    const message = `must be a cron schedule such as "0 3 * * *", not ${show(schedule)}`;
    issues.push({ path: 'spec.schedule', message });
  }
  if (zone !== undefined && zone !== null && !(typeof zone === 'string' && isTimeZone(zone))) {
    const message = `must be a time zone such as Europe/Berlin, not ${show(zone)}`;
    issues.push({ path: 'spec.timeZone', message });
  }
  const path = 'spec.jobTemplate.spec.template';
  const template = valueAt(object, ...path.split('.'));
  return [
    ...issues,
    ...countIssues(object, 'spec', 'jobTemplate', 'spec', 'parallelism'),
    ...simulatedDurationIssues(valueAt(template, 'metadata'), `${path}.metadata`),
    ...specs.read(valueAt(template, 'spec'), `${path}.spec`).issues,
  ];
};

const pod: Check = (object) => [
  ...issuesOf(decoders.Pod(object)),
  ...simulatedDurationIssues(object['metadata'], 'metadata'),
];

/** Those above are kept for Kubernetes' own classes, `system-…`. */
const USER_PRIORITY_MAX = 1_000_000_000;
const SYSTEM_PRIORITY_MAX = 2_000_001_000;

const priorityClass: Check = (object) => {
  const { value } = object;
  const { least } = INT32;
  const isSystem = textAt(object, 'metadata', 'name')?.startsWith('system-') === true;
  const most = isSystem ? SYSTEM_PRIORITY_MAX : USER_PRIORITY_MAX;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most)
    return [];
  const message = `must be an integer between ${least} and ${most}, not ${show(value)}`;
  return [{ path: 'value', message }];
};

const runtimeClass: Check = (object) => {
  const read = new Reader();
  read.resources(valueAt(object, 'overhead', 'podFixed'), 'overhead.podFixed', 'up');
  return [
    ...issuesOf(read.result(undefined)),
    ...specs.read(valueAt(object, 'scheduling'), 'scheduling').issues,
  ];
};

const podTemplate: Check = (object) =>
  specs.read(valueAt(object, 'template', 'spec'), 'template.spec').issues;

const NAME = /^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/;

/** What the API server asks of every object's name. */
const nameIssues: Check = (object) => {
  const name = valueAt(object, 'metadata', 'name');
  if (typeof name !== 'string') return [];
  if (NAME.test(name) && name.length <= 253) return [];
  const message = `must be lower case letters, digits, "-" and ".", at most 253, not ${show(name)}`;
  return [{ path: 'metadata.name', message }];
};

/** The kinds that the simulated cluster uses, by `group/kind`, with what the API server checks. */
const KINDS: Readonly<Record<string, Check>> = {
  'karpenter.sh/NodePool': decoded('NodePool'),
  'karpenter.sh/NodeClaim': decoded('NodeClaim'),
  'karpenter.sh/NodeOverlay': decoded('NodeOverlay'),
  'karpenter.k8s.aws/EC2NodeClass': decoded('EC2NodeClass'),
  'autoscaling.x-k8s.io/CapacityBuffer': decoded('CapacityBuffer'),
  'apps/Deployment': workload,
  'apps/ReplicaSet': workload,
  'apps/StatefulSet': workload,
  'apps/DaemonSet': decoded('DaemonSet'),
  'batch/Job': workload,
  'batch/CronJob': cronJob,
  'policy/PodDisruptionBudget': decoded('PodDisruptionBudget'),
  'node.k8s.io/RuntimeClass': runtimeClass,
  'scheduling.k8s.io/PriorityClass': priorityClass,
  'storage.k8s.io/StorageClass': decoded('StorageClass'),
  'storage.k8s.io/CSINode': decoded('CSINode'),
  '/Pod': pod,
  '/PodTemplate': podTemplate,
  '/LimitRange': decoded('LimitRange'),
  '/Namespace': decoded('Namespace'),
  '/Node': decoded('Node'),
  '/PersistentVolumeClaim': decoded('PersistentVolumeClaim'),
  '/PersistentVolume': decoded('PersistentVolume'),
};

/** The kinds of a group that the simulated cluster uses; empty is the core group. */
export function kindsOf(group: string): readonly string[] {
  return Object.keys(KINDS).flatMap((each) => {
    const [of, kind = ''] = each.split('/');
    return of === group ? [kind] : [];
  });
}

/** The groups of the kinds that the simulated cluster uses; empty is the core group. */
export function groupsUsed(): readonly string[] {
  return [...new Set(Object.keys(KINDS).map((each) => each.split('/')[0] ?? ''))];
}

const OWN_GROUPS: ReadonlySet<string> = new Set([
  'karpenter.sh',
  'karpenter.k8s.aws',
  'autoscaling.x-k8s.io',
]);

/** Versions of Karpenter's before v1. */
const OLD = /^(karpenter\.sh\/(v1alpha5|v1beta1)|karpenter\.k8s\.aws\/(v1alpha1|v1beta1))$/;

/** What is to be converted, and no other fault: the old schema has other fields. */
function oldVersion(apiVersion: string, group: string): Admission {
  const message = `must be ${group}/v1, not ${show(apiVersion)}: joiner convert prints it as v1`;
  return { kind: 'refused', issues: [{ path: 'apiVersion', message }] };
}

export type Admission =
  | { readonly kind: 'used' }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly issues: readonly Issue[] };

/** Whether the simulated cluster takes the object; unknown kinds of other groups are let by. */
export function admit(object: Json): Admission {
  const kind = textAt(object, 'kind');
  const apiVersion = textAt(object, 'apiVersion');
  if (kind === undefined || apiVersion === undefined) {
    const path = kind === undefined ? 'kind' : 'apiVersion';
    return { kind: 'refused', issues: [{ path, message: 'is required' }] };
  }
  const group = apiVersion.includes('/') ? (apiVersion.split('/')[0] ?? '') : '';
  if (OLD.test(apiVersion)) return oldVersion(apiVersion, group);
  const form = asWorkload(object);
  const key = form === object ? `${group}/${kind}` : `apps/${textAt(form, 'kind')}`;
  const check = KINDS[key];
  if (check === undefined) {
    if (!OWN_GROUPS.has(group)) return { kind: 'ignored' };
    const known = kindsOf(group);
    const message = `"${kind}" is no kind of ${group}; valid: ${known.join(', ')}`;
    return { kind: 'refused', issues: [{ path: 'kind', message, unknown: { word: kind, known } }] };
  }
  const issues = [...nameIssues(object), ...check(form)];
  return issues.length === 0 ? { kind: 'used' } : { kind: 'refused', issues };
}
