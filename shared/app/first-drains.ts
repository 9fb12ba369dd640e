import type { LifecycleAction } from '../core/lifecycle/actions.ts';
import { decideClaim } from '../core/lifecycle/claim.ts';
import { conditionOf } from '../core/lifecycle/conditions.ts';
import { INTERRUPTED } from '../core/model/labels.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { Ports } from '../ports.ts';
import { atOnce } from './at-once.ts';
import { attempt, type Failure } from './attempt.ts';
import { evictPods, taintNode } from './drains.ts';
import { nodeRef } from './references.ts';
import { isShadowed } from './settings.ts';
import { Shadow } from './shadow.ts';

/** A storm of warnings is answered so many nodes at once. */
const AT_ONCE_MAX = 10;

/** EC2 takes its instance away in minutes, and nobody has begun to drain its node. */
function isUrgent(claim: NodeClaim): boolean {
  return (
    claim.deletedAtMs !== undefined &&
    claim.labels[INTERRUPTED] !== undefined &&
    conditionOf(claim, 'Drained') === undefined
  );
}

/** What came of drains that did not wait for the whole cluster to be read. */
export interface FirstDrains {
  readonly evictions: number;
  readonly failures: readonly Failure[];
}

/**
 * Begins the drain of nodes that EC2 has warned of, with no more than these nodes and their pods
 * read: in a new process everything else takes seconds, of which a warning leaves 120. Whatever
 * else a drain consists of is left to the pass that follows.
 */
export async function beginUrgentDrains(ports: Ports): Promise<FirstDrains> {
  if (ports.cluster.isWarm?.() === true) return { evictions: 0, failures: [] };
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.readClaims(INTERRUPTED);
  const urgent = state.nodeClaims.filter(isUrgent);
  if (isShadowed(state.karpenterRenewedAtMs, ports.clock.nowMs()) || urgent.length === 0) {
    return { evictions: 0, failures: [] };
  }
  const shadow = new Shadow(ports, state, startedAtMs);
  const failures: Failure[] = [];
  let evictions = 0;
  await atOnce(AT_ONCE_MAX, urgent, async (claim) => {
    const begin = async (): Promise<void> => {
      evictions += await beginDrain(ports, shadow, claim);
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, begin)));
  });
  return { evictions, failures };
}

/** Taints the node and evicts the first group of its pods; how many. */
async function beginDrain(ports: Ports, shadow: Shadow, claim: NodeClaim): Promise<number> {
  if (claim.nodeName === undefined) return 0;
  const { node, pods } = await ports.cluster.readNode(claim.nodeName);
  if (node === undefined || node.providerId !== claim.providerId) return 0;
  const { actions } = decideClaim(claim, {
    nowMs: ports.clock.nowMs(),
    nodes: [node],
    pods,
    awaiting: [],
    isAwaited: false,
    instance: 'present',
    blockingAttachments: [],
  });
  let evictions = 0;
  for (const action of actions) {
    if (await shadow.isCast()) break;
    const done = await act(ports, action);
    if (done === undefined) break;
    evictions += done;
  }
  return evictions;
}

/** How many pods were evicted; undefined: what comes after has to wait. */
async function act(ports: Ports, action: LifecycleAction): Promise<number | undefined> {
  switch (action.kind) {
    case 'taint-node':
      return (await taintNode(ports, action)) === 'done' ? 0 : undefined;
    case 'delete-node':
      await ports.cluster.delete(nodeRef(action.node));
      return 0;
    case 'evict':
      return await evictPods(ports, action.pods);
    default:
      return 0;
  }
}
