import { encodeCondition } from '../api/encode.ts';
import type { Condition } from '../core/model/cluster.ts';
import { type Json, listAt, objectAt, textAt } from './json.ts';
import type { KubeObject, ObjectStore } from './store.ts';

/** Small writes that several parts of the simulated world make. */

/** Fields that are null are removed, as by a merge patch (RFC 7386). */
export function withStatus(object: KubeObject, status: object): KubeObject {
  const merged = Object.entries({ ...objectAt(object, 'status'), ...status });
  return { ...object, status: Object.fromEntries(merged.filter(([, value]) => value !== null)) };
}

export function withConditions(
  object: KubeObject,
  conditions: readonly Condition[],
  fields: object = {},
): KubeObject {
  const { generation } = object.metadata;
  const encoded = conditions.map((each) => encodeCondition(each, generation));
  return withStatus(object, { ...fields, conditions: encoded });
}

export function withSpec(object: KubeObject, spec: Json): KubeObject {
  return { ...object, spec: { ...objectAt(object, 'spec'), ...spec } };
}

/** Sets one condition of an object's status; the time moves only with its status. */
export function setCondition(
  object: KubeObject,
  condition: {
    readonly type: string;
    readonly status: string;
    readonly reason?: string;
    readonly message?: string;
  },
  now: string,
): KubeObject {
  const conditions = listAt(object, 'status', 'conditions');
  const before = conditions.find((each) => textAt(each, 'type') === condition.type);
  const isSame = textAt(before, 'status') === condition.status;
  const since = isSame ? textAt(before, 'lastTransitionTime') : undefined;
  const others = conditions.filter((each) => textAt(each, 'type') !== condition.type);
  const written = { ...condition, lastTransitionTime: since ?? now };
  return withStatus(object, { conditions: [...others, written] });
}

export function conditionStatus(object: KubeObject, type: string): string | undefined {
  const found = listAt(object, 'status', 'conditions').find(
    (each) => textAt(each, 'type') === type,
  );
  return textAt(found, 'status');
}

export function isDeleting(object: KubeObject): boolean {
  return object.metadata.deletionTimestamp !== undefined;
}

export function isOfDaemonSet({ metadata }: KubeObject): boolean {
  return metadata.ownerReferences.some(({ kind }) => kind === 'DaemonSet');
}

export function phaseOf(pod: KubeObject): string {
  return textAt(pod, 'status', 'phase') ?? 'Pending';
}

export function isOver(pod: KubeObject): boolean {
  const phase = phaseOf(pod);
  return phase === 'Succeeded' || phase === 'Failed';
}

/** Objects of a kind that the owner controls. */
export function controlledBy(
  store: ObjectStore,
  kind: string,
  owner: KubeObject,
): readonly KubeObject[] {
  const { uid } = owner.metadata;
  return store
    .dependents(uid)
    .filter(
      (each) =>
        each.kind === kind &&
        each.metadata.ownerReferences.some((ref) => ref.controller && ref.uid === uid),
    );
}
