import type { InstanceType } from '../../model/instance-type.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { Remembered } from '../../remembered.ts';
import type { Requirements } from '../../requirements/value-set.ts';
import { buildLaunchOptions, type LaunchGroup, type LaunchOptionInput } from './launch-options.ts';
import { isProvisionable, type PoolVariant, poolVariants } from './launch-space.ts';
import type { NodeRules } from './node-rules.ts';

/** What can be launched, as the rules and topology keys of a problem tell it apart. */
export interface Launches {
  readonly pools: readonly PoolVariant[];
  readonly groups: readonly LaunchGroup[];
}

/**
 * What was worked out for the same lists of types: whoever looks for nodes that may go makes many
 * plans of one snapshot, most of them ask for the same, and so does the next pass.
 */
const KNOWN_MAX = 3;
const known = new Remembered<ReadonlyMap<string, readonly InstanceType[]>, Launches>(KNOWN_MAX);

/** What a launch depends on of the pools: what they are told and say of themselves is not in it. */
function poolsText(pools: readonly NodePool[]): string {
  const each = pools
    .filter(isProvisionable)
    .map(({ name, weight, limits, template }) => [name, weight, limits, template]);
  return JSON.stringify(each);
}

export function launchesOf(
  { nodePools, instanceTypes }: Pick<ClusterSnapshot, 'nodePools' | 'instanceTypes'>,
  rules: NodeRules,
  rest: Omit<LaunchOptionInput, 'pools' | 'rules' | 'conjunctions'>,
  peerLabels: readonly (readonly [string, string])[],
): Launches {
  const { daemons, resources, topologyKeys, reservedCapacity, groupCaps } = rest;
  const loads = daemons.map(({ rule, requests }) => [rule.id, ...requests]);
  const capped = groupCaps.map(({ group, pools, caps }) => [group, pools, Object.keys(caps)]);
  const asked = [rules.text, loads, resources, topologyKeys, reservedCapacity, capped, peerLabels];
  const text = `${JSON.stringify(asked)}\n${poolsText(nodePools)}`;
  return known.of(instanceTypes, text, () => {
    const { all, conjunctions } = rules;
    const keys = keysInPlay(conjunctions, topologyKeys, peerLabels);
    const pools = poolVariants(nodePools, instanceTypes, keys);
    return { pools, groups: buildLaunchOptions({ ...rest, pools, rules: all, conjunctions }) };
  });
}

function keysInPlay(
  conjunctions: readonly Requirements[],
  topologyKeys: readonly string[],
  peerLabels: readonly (readonly [string, string])[],
): ReadonlyMap<string, ReadonlySet<string>> {
  const keys = new Map<string, Set<string>>(topologyKeys.map((key) => [key, new Set<string>()]));
  for (const [key, value] of peerLabels) keys.get(key)?.add(value);
  for (const conjunction of conjunctions) {
    for (const [key, set] of conjunction) {
      const values = keys.get(key) ?? new Set<string>();
      if (!set.complement) for (const value of set.values) values.add(value);
      for (const bound of [set.atLeast, set.atMost]) {
        // The values of labels have no sign.
        if (bound !== undefined) values.add(String(Math.max(0, bound)));
      }
      keys.set(key, values);
    }
  }
  return keys;
}
