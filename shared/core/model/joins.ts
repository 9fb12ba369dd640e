import type { Node } from './cluster.ts';
import type { Pod } from './pod.ts';
import type { NodeClaim } from './provisioning.ts';

/**
 * How nodes, NodeClaims and pods of one read belong together: a claim and its node by the provider
 * id and, once it is registered, the node's name; a pod and its node by the name. Each join is made
 * once for a list, and remembered as long as the list is.
 */
function joinOf<Item extends object, Join>(
  make: (items: readonly Item[]) => Join,
): (items: readonly Item[]) => Join {
  const made = new WeakMap<readonly Item[], Join>();
  return (items) => {
    const known = made.get(items);
    if (known !== undefined) return known;
    const join = make(items);
    made.set(items, join);
    return join;
  };
}

type NodesByProviderId = ReadonlyMap<string | undefined, readonly Node[]>;

const nodesByProviderId: (nodes: readonly Node[]) => NodesByProviderId = joinOf((nodes) =>
  Map.groupBy(nodes, ({ providerId }) => providerId),
);

/** NodeClaims by their provider id; those that are not launched are left out. */
export const claimsByProviderId: (claims: readonly NodeClaim[]) => ReadonlyMap<string, NodeClaim> =
  joinOf(
    (claims) =>
      new Map(
        claims.flatMap((claim) =>
          claim.providerId === undefined ? [] : [[claim.providerId, claim] as const],
        ),
      ),
  );

/** Pods by the name of their node, pods that are over included; those without one are left out. */
export const podsByNode: (pods: readonly Pod[]) => ReadonlyMap<string, readonly Pod[]> = joinOf(
  (pods) => {
    const byNode = new Map<string, Pod[]>();
    for (const pod of pods) {
      if (pod.nodeName === undefined) continue;
      const there = byNode.get(pod.nodeName);
      if (there === undefined) byNode.set(pod.nodeName, [pod]);
      else there.push(pod);
    }
    return byNode;
  },
);

/**
 * The nodes that say that they are the claim's. Whoever has the credentials of a kubelet may give
 * its Node any provider id: where the claim has its node, another is none of its own.
 */
export function nodesOfClaim(
  nodes: readonly Node[],
  { providerId, nodeName }: Pick<NodeClaim, 'providerId' | 'nodeName'>,
): readonly Node[] {
  if (providerId === undefined) return [];
  const all = nodesByProviderId(nodes).get(providerId) ?? [];
  const own = all.filter(({ name }) => name === nodeName);
  return own.length === 0 ? all : own;
}

/** The node of a claim; undefined: it has not joined. */
export function nodeOfClaim(
  nodes: readonly Node[],
  claim: Pick<NodeClaim, 'providerId' | 'nodeName'>,
): Node | undefined {
  return nodesOfClaim(nodes, claim).at(-1);
}

/** The claim of a node; undefined: it has none. */
export function claimOfNode(
  claims: readonly NodeClaim[],
  { providerId }: Pick<Node, 'providerId'>,
): NodeClaim | undefined {
  return providerId === undefined ? undefined : claimsByProviderId(claims).get(providerId);
}

const NONE: readonly Pod[] = [];

/** The pods that are bound to the node of this name, those that are over included. */
export function podsOnNode(pods: readonly Pod[], nodeName: string | undefined): readonly Pod[] {
  return (nodeName === undefined ? undefined : podsByNode(pods).get(nodeName)) ?? NONE;
}
