import { type KubeObject, keyOf, type ObjectStore, type StoreChange } from './store.ts';

/** Objects that somebody has to look at because something has changed. */
export class Worklist {
  private readonly store: ObjectStore;
  private readonly byKind = new Map<string, Map<string, KubeObject>>();

  /** `meant` says which objects a change is of interest to. */
  constructor(
    store: ObjectStore,
    kinds: readonly string[],
    meant: (change: StoreChange) => readonly KubeObject[],
  ) {
    this.store = store;
    for (const kind of kinds) {
      const objects = store.list(kind).map((each) => [keyOf(each), each] as const);
      this.byKind.set(kind, new Map(objects));
    }
    store.onChange((change) => {
      for (const object of meant(change)) this.byKind.get(object.kind)?.set(keyOf(object), object);
    });
  }

  /** Those of the kind that still exist, as they are now, in the order of names. */
  take(kind: string): readonly KubeObject[] {
    const objects = this.byKind.get(kind);
    if (objects === undefined || objects.size === 0) return [];
    const keyed = [...objects].sort(([a], [b]) => (a < b ? -1 : 1));
    objects.clear();
    return keyed.flatMap(([, { metadata }]) => {
      return this.store.get(kind, metadata.namespace, metadata.name) ?? [];
    });
  }
}

/** The object, and its owners of the kinds. */
export function withOwners(
  store: ObjectStore,
  object: KubeObject,
  kinds: readonly string[],
): readonly KubeObject[] {
  const { namespace, ownerReferences } = object.metadata;
  const owners = ownerReferences.flatMap(({ kind, name }) =>
    kinds.includes(kind) ? (store.get(kind, namespace, name) ?? []) : [],
  );
  return [object, ...owners];
}
