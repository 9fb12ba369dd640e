import { type Kind, kindDecoders, type ValueByKind } from '../../../shared/api/kinds.ts';
import { Reader } from '../../../shared/api/read.ts';
import type { Node, PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../../shared/core/model/provisioning.ts';
import type { ListedKind } from '../headlamp.ts';

/** What of a cluster the panels read. */
export interface Cluster {
  readonly nodeClaims: readonly NodeClaim[];
  readonly nodes: readonly Node[];
  readonly nodePools: readonly NodePool[];
  readonly pods: readonly Pod[];
  readonly budgets: readonly PodDisruptionBudget[];
  readonly pauses: Pauses;
  /**
   * Kinds that are still being read, or cannot be: that an object of them is not in its list says
   * nothing.
   */
  readonly unread: ReadonlySet<ListedKind>;
}

/** Ends of the operator's pauses in milliseconds since the epoch; infinite: until it is resumed. */
export interface Pauses {
  readonly launch?: number;
  readonly disrupt?: number;
}

/** Kinds that are decoded as decisions read them. */
type ReadKind = Extract<Kind, 'NodeClaim' | 'Node' | 'NodePool' | 'Pod' | 'PodDisruptionBudget'>;

/** The same decoders as of the functions: fields that a newer CRD has are ignored. */
const DECODERS = kindDecoders('server');

/**
 * The objects as decisions read them. Of an object with a field that cannot be read, what could be
 * is used, if that has a name: a panel that is nearly right shows more than none.
 */
export function decoded<Each extends ReadKind>(
  kind: Each,
  objects: readonly unknown[],
): readonly ValueByKind[Each][] {
  const decode = DECODERS[kind];
  return objects.flatMap((object) => {
    const result = decode(object);
    if (result.ok) return [result.value];
    const { partial } = result;
    return partial === undefined || partial.name === '' ? [] : [partial];
  });
}

const SCOPES = ['launch', 'disrupt'] as const;

/** The pauses in the ConfigMap `kube-system/joiner`: a value that is no time has no end. */
export function pausesOf(configMaps: readonly unknown[]): Pauses {
  const read = new Reader();
  const [data = {}] = configMaps.map((each) => read.fields(read.fields(each, '')['data'], 'data'));
  const ends = SCOPES.flatMap((scope) => {
    const value = read.text(data[`pause.${scope}`], scope) ?? '';
    if (value === '') return [];
    const endMs = Date.parse(value);
    return [[scope, Number.isNaN(endMs) ? Number.POSITIVE_INFINITY : endMs] as const];
  });
  return Object.fromEntries(ends);
}
