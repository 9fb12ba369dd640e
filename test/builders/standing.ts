import { stackSettings, type UseCaseSettings } from '../../shared/app/settings.ts';
import { DEFAULT_SETTINGS } from '../../shared/contract/settings.ts';
import type { Node } from '../../shared/core/model/cluster.ts';
import { DO_NOT_DISRUPT } from '../../shared/core/model/labels.ts';
import { type Pod, podKey } from '../../shared/core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';

/** A cluster and the settings with which Joiner looks at it; one of its nodes could go. */
export interface Standing {
  readonly state: ClusterState;
  readonly settings: UseCaseSettings;
  readonly nowMs: number;
  /** The NodeClaim of that node. */
  readonly claim: string;
}

export const STANDING_SETTINGS: UseCaseSettings = stackSettings(DEFAULT_SETTINGS).useCases;

type Objects = ClusterState['objects'];

export function withObjects(
  at: Standing,
  change: (objects: Objects) => Partial<Objects>,
): Standing {
  const { objects } = at.state;
  return { ...at, state: { ...at.state, objects: { ...objects, ...change(objects) } } };
}

export function withPools(at: Standing, change: (pool: NodePool) => Partial<NodePool>): Standing {
  return withObjects(at, ({ nodePools }) => ({
    nodePools: nodePools.map((pool) => ({ ...pool, ...change(pool) })),
  }));
}

export function nodeNameOf({ state, claim }: Standing): string | undefined {
  return state.objects.nodeClaims.find(({ name }) => name === claim)?.nodeName;
}

/** Changes the node that could go. */
export function withNode(at: Standing, change: (node: Node) => Partial<Node>): Standing {
  const own = nodeNameOf(at);
  return withObjects(at, ({ nodes }) => ({
    nodes: nodes.map((node) => (node.name === own ? { ...node, ...change(node) } : node)),
  }));
}

/** Changes the NodeClaim of the node that could go. */
export function withClaim(
  at: Standing,
  change: (claim: NodeClaim) => Partial<NodeClaim>,
): Standing {
  return withObjects(at, ({ nodeClaims }) => ({
    nodeClaims: nodeClaims.map((each) =>
      each.name === at.claim ? { ...each, ...change(each) } : each,
    ),
  }));
}

/** Changes the pods of the node that could go, or the one of this key. */
export function withPods(at: Standing, change: (pod: Pod) => Partial<Pod>, key?: string): Standing {
  const own = nodeNameOf(at);
  const isMeant = (pod: Pod) =>
    key === undefined
      ? pod.nodeName === own && pod.controller?.kind !== 'DaemonSet'
      : podKey(pod) === key;
  return withObjects(at, ({ pods }) => ({
    pods: pods.map((pod) => (isMeant(pod) ? { ...pod, ...change(pod) } : pod)),
  }));
}

/** The other nodes with this CPU. */
export function withHosts(at: Standing, cpu: number): Standing {
  const own = nodeNameOf(at);
  return withObjects(at, ({ nodes }) => ({
    nodes: nodes.map((node) =>
      node.name === own ? node : { ...node, allocatable: { ...node.allocatable, cpu } },
    ),
  }));
}

/** The other nodes are excluded from disruption. */
export function withOthersProtected(at: Standing): Standing {
  const own = nodeNameOf(at);
  return withObjects(at, ({ nodes }) => ({
    nodes: nodes.map((node) =>
      node.name === own
        ? node
        : { ...node, annotations: { ...node.annotations, [DO_NOT_DISRUPT]: 'true' } },
    ),
  }));
}
