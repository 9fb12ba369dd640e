import type { InstanceType } from '../../model/instance-type.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import type { Requirements } from '../../requirements/value-set.ts';
import { buildColumns, type ColumnGroup, type ColumnInput } from './columns.ts';
import { type PoolVariant, poolVariants } from './launch-space.ts';
import type { NodeRules } from './node-rules.ts';

/** What can be launched, as the rules and topology keys of a problem tell it apart. */
export interface Launches {
  readonly pools: readonly PoolVariant[];
  readonly groups: readonly ColumnGroup[];
}

interface Known {
  readonly nodePools: readonly NodePool[];
  readonly text: string;
  readonly launches: Launches;
}

/**
 * What was worked out for the same lists of types: whoever looks for nodes that may go makes many
 * plans of one snapshot, and most of them ask for the same. Gone with the lists.
 */
const knownByTypes = new WeakMap<ReadonlyMap<string, readonly InstanceType[]>, readonly Known[]>();
const KNOWN_MAX = 2;

export function launchesOf(
  { nodePools, instanceTypes }: Pick<ClusterSnapshot, 'nodePools' | 'instanceTypes'>,
  rules: NodeRules,
  rest: Omit<ColumnInput, 'pools' | 'rules' | 'conjunctions'>,
): Launches {
  const { daemons, resources, topologyKeys, reservedCapacity } = rest;
  const loads = daemons.map(({ rule, requests }) => [rule.id, ...requests]);
  const text = JSON.stringify([rules.text, loads, resources, topologyKeys, reservedCapacity]);
  const before = knownByTypes.get(instanceTypes) ?? [];
  const found = before.find((each) => each.nodePools === nodePools && each.text === text);
  if (found !== undefined) return found.launches;
  const { all, conjunctions } = rules;
  const pools = poolVariants(nodePools, instanceTypes, keysInPlay(conjunctions, topologyKeys));
  const groups = buildColumns({ ...rest, pools, rules: all, conjunctions });
  const launches = { pools, groups };
  const kept = [{ nodePools, text, launches }, ...before].slice(0, KNOWN_MAX);
  knownByTypes.set(instanceTypes, kept);
  return launches;
}

function keysInPlay(
  conjunctions: readonly Requirements[],
  topologyKeys: readonly string[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>(topologyKeys.map((key) => [key, new Set<string>()]));
  for (const conjunction of conjunctions) {
    for (const [key, set] of conjunction) {
      const values = keys.get(key) ?? new Set<string>();
      if (!set.complement) for (const value of set.values) values.add(value);
      for (const bound of [set.atLeast, set.atMost]) {
        if (bound !== undefined) values.add(String(bound));
      }
      keys.set(key, values);
    }
  }
  return keys;
}
