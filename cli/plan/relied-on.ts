import type { UseCaseSettings } from '../../shared/app/settings.ts';
import { driftHash } from '../../shared/core/launch/drift-hash.ts';
import { nodeOfClaim } from '../../shared/core/model/joins.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';

/** What one decision is about. */
export interface Grounds {
  /** Names of NodePools. */
  readonly pools: ReadonlySet<string>;
  /** Names of EC2NodeClasses. */
  readonly classes: ReadonlySet<string>;
  /** Claims whose nodes go. */
  readonly claims: readonly NodeClaim[];
  readonly pods: readonly Pod[];
}

type Entry = readonly [string, unknown];

function poolEntries({ objects, nodeClasses }: ClusterState, { pools, classes }: Grounds): Entry[] {
  return [
    ...objects.nodePools
      .filter(({ name }) => pools.has(name))
      .map(
        ({ name, template, limits, weight, replicas, disruption }): Entry => [
          `NodePool/${name}`,
          { template, limits, weight, replicas, disruption },
        ],
      ),
    ...nodeClasses
      .filter(({ name }) => classes.has(name))
      .map(
        ({ name, spec, status: { images, subnets, securityGroups } }): Entry => [
          `EC2NodeClass/${name}`,
          { spec, images, subnets, securityGroups },
        ],
      ),
  ];
}

function nodeEntries({ objects }: ClusterState, { claims }: Grounds): Entry[] {
  return claims.flatMap((claim): Entry[] => {
    const { name, labels, requirements } = claim;
    const node = nodeOfClaim(objects.nodes, claim);
    const own: Entry = [`NodeClaim/${name}`, { labels, requirements }];
    if (node === undefined) return [own];
    const { labels: shown, taints, allocatable } = node;
    return [own, [`Node/${node.name}`, { labels: shown, taints, allocatable }]];
  });
}

function podEntries({ objects }: ClusterState, { pods, claims }: Grounds): Entry[] {
  const namespaces = new Set(pods.map(({ namespace }) => namespace));
  const budgets = objects.podDisruptionBudgets.filter(({ namespace }) => namespaces.has(namespace));
  const said = pods.map((pod) => [podKey(pod), pod.uid, pod.labels, pod.annotations, pod.spec]);
  return [
    ...(pods.length === 0 ? [] : [['Pods', said] as const]),
    ...(claims.length === 0 || budgets.length === 0
      ? []
      : [['PodDisruptionBudgets', budgets] as const]),
  ];
}

/**
 * Stands for the state that a decision went by, object by object: where the decision is another one
 * later, this says what has changed. What changes by itself, such as a status, is no part of it.
 */
export function reliedOn(
  state: ClusterState,
  settings: UseCaseSettings | undefined,
  grounds: Grounds,
): Record<string, string> {
  const { nodeOverlays, daemonSets } = state.objects;
  const entries: Entry[] = [
    ...poolEntries(state, grounds),
    ...nodeEntries(state, grounds),
    ...podEntries(state, grounds),
    ['NodeOverlays', nodeOverlays],
    ['DaemonSets', daemonSets.map(({ namespace, name, podSpec }) => [namespace, name, podSpec])],
    ['Settings', settings],
  ];
  return Object.fromEntries(entries.map(([what, value]) => [what, driftHash([value])]));
}
