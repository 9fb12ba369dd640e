import type { Condition } from '../../core/model/cluster.ts';
import type { OwnerReference } from '../../core/model/pod.ts';
import type { Fields, Reader } from '../read.ts';

/** The part of an object's metadata that decisions read. */
export interface Metadata {
  readonly name: string;
  /** `default` where absent; cluster-scoped kinds do not read it. */
  readonly namespace: string;
  /** Empty where absent. */
  readonly uid: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** 0 where absent. */
  readonly createdAtMs: number;
  readonly deletedAtMs: number | undefined;
  readonly deletionGraceSeconds: number | undefined;
  readonly finalizers: readonly string[];
  readonly controller: OwnerReference | undefined;
  readonly owners: readonly OwnerReference[];
}

export function readMetadata(read: Reader, object: Fields): Metadata {
  const fields = read.fields(object['metadata'], 'metadata');
  const owners = read
    .list(fields['ownerReferences'], 'metadata.ownerReferences')
    .map((each, index) => ({ at: `metadata.ownerReferences[${index}]`, each }))
    .map(({ each, at }) => ({ at, owner: read.fields(each, at) }))
    .map(({ owner, at }) => ({
      at,
      owner,
      version: read.text(owner['apiVersion'], `${at}.apiVersion`),
    }))
    .map(({ owner, at, version }) => ({
      ...(version === undefined ? {} : { apiVersion: version }),
      kind: read.text(owner['kind'], `${at}.kind`) ?? '',
      name: read.text(owner['name'], `${at}.name`) ?? '',
      uid: read.text(owner['uid'], `${at}.uid`) ?? '',
      isController: read.flag(owner['controller'], `${at}.controller`) ?? false,
    }));
  const controller = owners.find((each) => each.isController);
  return {
    name: read.requiredText(fields['name'], 'metadata.name'),
    namespace: read.text(fields['namespace'], 'metadata.namespace') || 'default',
    uid: read.text(fields['uid'], 'metadata.uid') ?? '',
    labels: read.labels(fields['labels'], 'metadata.labels'),
    annotations: read.labels(fields['annotations'], 'metadata.annotations'),
    createdAtMs: read.time(fields['creationTimestamp'], 'metadata.creationTimestamp') ?? 0,
    deletedAtMs: read.time(fields['deletionTimestamp'], 'metadata.deletionTimestamp'),
    deletionGraceSeconds: read.integer(
      fields['deletionGracePeriodSeconds'],
      'metadata.deletionGracePeriodSeconds',
    ),
    finalizers: read.texts(fields['finalizers'], 'metadata.finalizers'),
    controller,
    owners,
  };
}

const STATUSES = ['True', 'False', 'Unknown'] as const;

/** Of a condition that says which generation of its object it is about: an earlier one is over. */
export function outdated(
  observed: number | undefined,
  generation: number,
): Pick<Condition, 'isOutdated'> {
  return observed !== undefined && observed < generation ? { isOutdated: true } : {};
}

/** `generation`: that of the object, where its conditions say which one they are about. */
export function readConditions(
  read: Reader,
  value: unknown,
  path: string,
  generation = 0,
): readonly Condition[] {
  return read.list(value, path).map((each, index) => {
    const at = `${path}[${index}]`;
    const fields = read.fields(each, at);
    const observed = read.integer(fields['observedGeneration'], `${at}.observedGeneration`);
    return {
      ...outdated(observed, generation),
      type: read.requiredText(fields['type'], `${at}.type`),
      status: read.oneOf(fields['status'], `${at}.status`, STATUSES) ?? 'Unknown',
      reason: read.text(fields['reason'], `${at}.reason`) ?? '',
      message: read.text(fields['message'], `${at}.message`) ?? '',
      lastTransitionAtMs: read.time(fields['lastTransitionTime'], `${at}.lastTransitionTime`) ?? 0,
    };
  });
}
