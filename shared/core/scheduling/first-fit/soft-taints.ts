import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { type Taint, type Toleration, tolerates } from '../../model/taint.ts';

/** Begins the key of a taint that is only to be avoided, written as one that must be tolerated. */
const AVOIDED = 'avoided/';

function isSoft({ effect }: Taint): boolean {
  return effect === 'PreferNoSchedule';
}

function hardened(taint: Taint): Taint {
  return isSoft(taint) ? { ...taint, key: AVOIDED + taint.key, effect: 'NoSchedule' } : taint;
}

function withHard<Tainted extends { readonly taints: readonly Taint[] }>(each: Tainted): Tainted {
  return each.taints.some(isSoft) ? { ...each, taints: each.taints.map(hardened) } : each;
}

/** The taints with PreferNoSchedule of NodePools and nodes, each once. */
export function softTaintsOf({ nodePools, nodes, nodeClaims }: ClusterSnapshot): readonly Taint[] {
  const found = new Map<string, Taint>();
  const all = [...nodePools.map(({ template }) => template), ...nodes, ...nodeClaims];
  for (const taint of all.flatMap(({ taints }) => taints.filter(isSoft))) {
    found.set(JSON.stringify([taint.key, taint.value]), taint);
  }
  return [...found.values()];
}

/** The tolerations, and the same for the taints of which a pod's own rule is to count. */
export function withSoftTolerated(
  tolerations: readonly Toleration[],
  soft: readonly Taint[],
  all: boolean,
): readonly Toleration[] {
  const tolerated = soft.filter((taint) => all || tolerations.some((own) => tolerates(own, taint)));
  if (tolerated.length === 0) return tolerations;
  return [
    ...tolerations,
    ...tolerated.map(
      (taint): Toleration => ({
        key: hardened(taint).key,
        operator: 'Equal',
        value: taint.value,
        effect: undefined,
      }),
    ),
  ];
}

/** The snapshot with its soft taints as rules, which DaemonSets tolerate as ever. */
export function withHardTaints(snapshot: ClusterSnapshot, soft: readonly Taint[]): ClusterSnapshot {
  if (soft.length === 0) return snapshot;
  return {
    ...snapshot,
    nodePools: snapshot.nodePools.map((pool) => ({ ...pool, template: withHard(pool.template) })),
    nodes: snapshot.nodes.map(withHard),
    nodeClaims: snapshot.nodeClaims.map(withHard),
    daemonSets: snapshot.daemonSets.map((daemonSet) => {
      const { podSpec } = daemonSet;
      const tolerations = withSoftTolerated(podSpec.tolerations, soft, true);
      return { ...daemonSet, podSpec: { ...podSpec, tolerations } };
    }),
  };
}
