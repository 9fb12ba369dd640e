import type { InstanceType } from '../../core/model/instance-type.ts';
import type { Pod, PodSpec } from '../../core/model/pod.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';

/** A pod with the place of its spec in {@link SnapshotJson.specs}. */
type PodJson = Omit<Pod, 'spec'> & { readonly spec: number };

/** A snapshot as plain JSON: what many objects share is written once. */
export interface SnapshotJson extends Omit<ClusterSnapshot, 'pods' | 'instanceTypes'> {
  readonly specs: readonly PodSpec[];
  readonly pods: readonly PodJson[];
  readonly typeLists: readonly (readonly InstanceType[])[];
  /** By the NodePool's name: the place of its list in `typeLists`. */
  readonly instanceTypes: Readonly<Record<string, number>>;
}

/** Gives equal objects, by reference, the same place. */
class Places<Each extends object> {
  readonly all: Each[] = [];
  private readonly places = new Map<Each, number>();

  of(each: Each): number {
    let place = this.places.get(each);
    if (place === undefined) {
      place = this.all.push(each) - 1;
      this.places.set(each, place);
    }
    return place;
  }
}

export function snapshotJson(snapshot: ClusterSnapshot): SnapshotJson {
  const specs = new Places<PodSpec>();
  const lists = new Places<readonly InstanceType[]>();
  const pods = snapshot.pods.map((pod): PodJson => ({ ...pod, spec: specs.of(pod.spec) }));
  const named = [...snapshot.instanceTypes].map(([pool, list]) => [pool, lists.of(list)] as const);
  return {
    ...snapshot,
    pods,
    specs: specs.all,
    typeLists: lists.all,
    instanceTypes: Object.fromEntries(named),
  };
}

/** What stands at a place, or has a name, of the recording. */
export function recorded<Item>(item: Item | undefined, what: string): Item {
  if (item === undefined) throw new Error(`the recording is damaged: it lacks ${what}`);
  return item;
}

export function snapshotFrom({ specs, typeLists, ...json }: SnapshotJson): ClusterSnapshot {
  return {
    ...json,
    pods: json.pods.map((pod) => ({
      ...pod,
      spec: recorded(specs[pod.spec], `spec ${pod.spec}`),
    })),
    instanceTypes: new Map(
      Object.entries(json.instanceTypes).map(([pool, place]) => [
        pool,
        recorded(typeLists[place], `the instance types of ${pool}`),
      ]),
    ),
  };
}

/** Stands for numbers that JSON has not: an amount that is more than any node has. */
const INFINITE = '∞';

/** What `JSON.stringify` is to write for a value. */
export function jsonValue(_: string, value: unknown): unknown {
  if (value === Number.POSITIVE_INFINITY) return INFINITE;
  if (value instanceof Map) return [...value];
  return value instanceof Set ? [...value] : value;
}

/** What `JSON.parse` has read. */
export function valueOfJson(_: string, value: unknown): unknown {
  return value === INFINITE ? Number.POSITIVE_INFINITY : value;
}
