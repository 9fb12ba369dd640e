import { DISRUPTED } from '../../core/model/taint.ts';
import type { ClusterState } from '../../ports.ts';

/** The state as if the nodes of these claims, by uid, had not been tainted. */
export function withoutDisruptedTaint(
  state: ClusterState,
  uids: ReadonlySet<string>,
): ClusterState {
  const { nodeClaims, nodes } = state.objects;
  const held = nodeClaims.filter(({ uid }) => uids.has(uid));
  const providers = new Set(held.map(({ providerId }) => providerId));
  const open = nodes.map((node) =>
    providers.has(node.providerId)
      ? { ...node, taints: node.taints.filter(({ key }) => key !== DISRUPTED.key) }
      : node,
  );
  return { ...state, objects: { ...state.objects, nodes: open } };
}
