import type { Json } from '../../shared/sim/json.ts';

/**
 * v1 has the kubelet's settings in the class, the old APIs have them in the pool. Karpenter's v1
 * migration guide, "Kubelet Configuration Migration".
 */

/** A NodePool as far as its kubelet is concerned; those that are v1 already have none. */
export interface KubeletUser {
  readonly pool: string;
  readonly className: string;
  readonly kubelet: Json | undefined;
}

export interface ClassCopy {
  readonly of: string;
  readonly name: string;
  readonly kubelet: Json;
}

export interface KubeletPlan {
  /** By name, of classes that are there. */
  readonly kubelets: ReadonlyMap<string, Json>;
  readonly copies: readonly ClassCopy[];
  /** The class of a pool, where it is a copy. */
  readonly classes: ReadonlyMap<string, string>;
  /** Pools whose class is not among the converted ones, so that their kubelet has no place. */
  readonly homeless: ReadonlySet<string>;
}

function canonical(value: unknown): string {
  return JSON.stringify(value, (_, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );
}

/** Users of one class by what they ask of its kubelet; the first group keeps the class. */
function groupsOf(users: readonly KubeletUser[]): readonly (readonly KubeletUser[])[] {
  const groups = new Map<string, KubeletUser[]>();
  for (const user of users) {
    const key = user.kubelet === undefined ? '' : canonical(user.kubelet);
    groups.set(key, [...(groups.get(key) ?? []), user]);
  }
  const { '': none, ...others } = Object.fromEntries(groups);
  return [...(none === undefined ? [] : [none]), ...Object.values(others)];
}

/** A name that nothing has yet: that of the class and its first pool. */
function freeName(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name); count += 1) name = `${wanted}-${count}`;
  taken.add(name);
  return name;
}

/** One class for each kubelet; `converted` are the classes that can be changed, of all `known`. */
export function placeKubelets(
  users: readonly KubeletUser[],
  converted: ReadonlySet<string>,
  known: ReadonlySet<string>,
): KubeletPlan {
  const kubelets = new Map<string, Json>();
  const copies: ClassCopy[] = [];
  const classes = new Map<string, string>();
  const homeless = new Set<string>();
  const taken = new Set(known);
  // Whatever the order of the files: pools by name, which is unique.
  const sorted = [...users].sort((one, other) => (one.pool < other.pool ? -1 : 1));
  for (const className of [...new Set(sorted.map((user) => user.className))].sort()) {
    const own = sorted.filter((user) => user.className === className);
    if (!converted.has(className)) {
      for (const { pool, kubelet } of own) if (kubelet !== undefined) homeless.add(pool);
      continue;
    }
    const [keeps = [], ...others] = groupsOf(own);
    const [first] = keeps;
    if (first?.kubelet !== undefined) kubelets.set(className, first.kubelet);
    for (const group of others) {
      const [{ pool, kubelet } = { pool: '', kubelet: undefined }] = group;
      if (kubelet === undefined) continue;
      const name = freeName(`${className}-${pool}`, taken);
      copies.push({ of: className, name, kubelet });
      for (const user of group) classes.set(user.pool, name);
    }
  }
  return { kubelets, copies, classes, homeless };
}
