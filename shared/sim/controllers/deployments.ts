import { decodeRollout } from '../../api/kubernetes/deployment.ts';
import { NAME_LETTERS } from '../../app/writes/claim-names.ts';
import { canonicalText } from '../../core/launch/canonical-text.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import { missingMax, type Rollout, surgeMax } from '../../core/lifecycle/rollout.ts';
import { numberAt, objectAt, textsAt, valueAt } from '../json.ts';
import { controlledBy, isDeleting, isOver, withStatus } from '../objects.ts';
import type { KubeObject, ObjectStore } from '../store.ts';
import { type ControllerContext, ownedBy, replicasOf } from './workloads.ts';

const TEMPLATE_HASH = 'pod-template-hash';

/**
 * One ReplicaSet for each template. Of the newest so many pods are started, and of older ones so
 * many ended, as `maxSurge` and `maxUnavailable` let. With the strategy Recreate all older pods go
 * first; of a paused Deployment none is replaced.
 * https://kubernetes.io/docs/concepts/workloads/controllers/deployment/#rolling-update-deployment
 */
export function reconcileDeployment({ store }: ControllerContext, deployment: KubeObject): void {
  if (isDeleting(deployment)) return;
  const template = valueAt(deployment, 'spec', 'template');
  const hash = safeHash(sha256(canonicalText(template)));
  const name = `${deployment.metadata.name}-${hash}`;
  const rollout = decodeRollout(deployment);
  const { isPaused, strategy } = rollout;
  const sets = controlledBy(store, 'ReplicaSet', deployment);
  // Without a ReplicaSet it is the manifest of one that ran before it was paused.
  const current =
    isPaused && sets.length > 0
      ? largest(sets)
      : (sets.find((each) => each.metadata.name === name) ?? ofTemplate(sets, template));
  const others = sets.filter((each) => each !== current);
  const isHeld =
    strategy === 'Recreate' && !isPaused && others.some((each) => hasPods(store, each));
  if (isHeld) {
    for (const set of others) setReplicas(store, set, 0);
  } else if (current === undefined) {
    const replicas = startedOf(rollout, 0, totalOf(others));
    createReplicaSet(store, deployment, { name, hash, replicas });
  } else if (isPaused) {
    const kept = others.reduce((sum, each) => sum + readyOf(each), 0);
    setReplicas(store, current, Math.max(0, rollout.replicas - kept));
  } else {
    rollOn(store, rollout, current, others);
  }
  const readyReplicas = current === undefined ? 0 : readyOf(current);
  const { replicas } = rollout;
  store.update(deployment, (latest) => withStatus(latest, { replicas, readyReplicas }));
}

/** Pods of the newest template there are to be, where it has `own` of the `total` pods of all. */
function startedOf(rollout: Rollout, own: number, total: number): number {
  const { replicas } = rollout;
  if (total === own) return replicas;
  const room = replicas + surgeMax(rollout) - total;
  return Math.min(replicas, own + Math.max(0, room));
}

/** One step of a rolling update: the newest grows, and older ones shrink, as far as they may. */
function rollOn(
  store: ObjectStore,
  rollout: Rollout,
  current: KubeObject,
  others: readonly KubeObject[],
): void {
  const started = startedOf(rollout, replicasOf(current), totalOf([current, ...others]));
  setReplicas(store, current, started);
  const least = rollout.replicas - missingMax(rollout);
  const unready = (set: KubeObject): number => replicasOf(set) - readyOf(set);
  const ready = [current, ...others].reduce((sum, each) => sum + readyOf(each), 0);
  // Pods that are not ready are nobody's loss, and go first; new ones that start count for none.
  const idle = endedOf(others, totalOf(others) + readyOf(current) - least, unready);
  const used = endedOf(others, ready - least, readyOf);
  for (const set of others) {
    setReplicas(store, set, replicasOf(set) - (idle.get(set) ?? 0) - (used.get(set) ?? 0));
  }
}

/** How many pods each of the ReplicaSets loses, `most` in all, of those that are counted. */
function endedOf(
  sets: readonly KubeObject[],
  most: number,
  countOf: (set: KubeObject) => number,
): ReadonlyMap<KubeObject, number> {
  let left = Math.max(0, most);
  return new Map(
    sets.map((set) => {
      const ended = Math.max(0, Math.min(left, countOf(set)));
      left -= ended;
      return [set, ended];
    }),
  );
}

function totalOf(sets: readonly KubeObject[]): number {
  return sets.reduce((sum, each) => sum + replicasOf(each), 0);
}

/** No more than there are to be: the status follows later. */
function readyOf(set: KubeObject): number {
  return Math.min(replicasOf(set), numberAt(set, 'status', 'readyReplicas') ?? 0);
}

function largest(sets: readonly KubeObject[]): KubeObject | undefined {
  return sets.toSorted((a, b) => replicasOf(b) - replicasOf(a))[0];
}

/** One that a real cluster has named by its own hash. */
function ofTemplate(sets: readonly KubeObject[], template: unknown): KubeObject | undefined {
  const wanted = canonicalText(template);
  return sets.find((set) => {
    const own = objectAt(set, 'spec', 'template');
    const metadata = objectAt(own, 'metadata');
    const { [TEMPLATE_HASH]: _, ...labels } = objectAt(metadata, 'labels');
    return canonicalText({ ...own, metadata: { ...metadata, labels } }) === wanted;
  });
}

/** Pods that still end count, too. */
function hasPods(store: ObjectStore, set: KubeObject): boolean {
  return controlledBy(store, 'Pod', set).some((pod) => !isOver(pod));
}

function createReplicaSet(
  store: ObjectStore,
  deployment: KubeObject,
  {
    name,
    hash,
    replicas,
  }: { readonly name: string; readonly hash: string; readonly replicas: number },
): void {
  const template = valueAt(deployment, 'spec', 'template');
  const labels = { ...textsAt(template, 'metadata', 'labels'), [TEMPLATE_HASH]: hash };
  store.create({
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: {
      name,
      namespace: deployment.metadata.namespace,
      labels,
      ownerReferences: [ownedBy(deployment)],
    },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        ...objectAt(template),
        metadata: { ...objectAt(template, 'metadata'), labels },
      },
    },
  });
}

function setReplicas(store: ObjectStore, set: KubeObject, replicas: number): void {
  store.update(set, (latest) => ({
    ...latest,
    spec: { ...objectAt(latest, 'spec'), replicas },
  }));
}

/** Ten characters that Kubernetes would use in names. */
function safeHash(hex: string): string {
  return [...hex.slice(0, 10)]
    .map((digit) => NAME_LETTERS[Number.parseInt(digit, 16)] ?? 'x')
    .join('');
}
