import type { LifecycleAction } from '../../core/lifecycle/actions.ts';
import { decideClaim } from '../../core/lifecycle/claim.ts';
import { conditionOf } from '../../core/lifecycle/conditions.ts';
import { INTERRUPTED } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import type { Ports } from '../../ports.ts';
import { isKarpenterActive } from '../settings.ts';
import { atOnce } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { takeInOrder } from '../writes/in-order.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { nodeRef } from '../writes/references.ts';
import { type Evictions, evictPods, taintNode } from './drains.ts';

/** A storm of warnings is answered so many nodes at once. */
const AT_ONCE_MAX = 10;

/** EC2 takes its instance away in minutes, and no pass has found its node draining yet. */
function isUrgent(claim: NodeClaim): boolean {
  return (
    claim.deletedAtMs !== undefined &&
    claim.labels[INTERRUPTED] !== undefined &&
    conditionOf(claim, 'Drained') === undefined
  );
}

/**
 * Begins the drain of nodes that EC2 has warned of, with no more than these nodes and their pods
 * read: in a new process everything else takes seconds, of which a warning leaves 120. Whatever
 * else a drain consists of is left to the pass that follows.
 */
export async function beginUrgentDrains(ports: Ports): Promise<Evictions> {
  if (ports.cluster.isWarm?.() === true) return { evictions: 0, failures: [] };
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.readClaims(INTERRUPTED);
  const urgent = state.nodeClaims.filter(isUrgent);
  if (isKarpenterActive(state.karpenterRenewedAtMs, ports.clock.nowMs()) || urgent.length === 0) {
    return { evictions: 0, failures: [] };
  }
  const guarded = new KarpenterLease(ports, state, startedAtMs).guarded(ports);
  const failures: Failure[] = [];
  let evictions = 0;
  const beginEach = atOnce(AT_ONCE_MAX, urgent, async (claim) => {
    const begin = async (): Promise<void> => {
      const begun = await beginDrain(guarded, claim);
      evictions += begun.evictions;
      failures.push(...begun.failures);
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, begin)));
  });
  await untilKarpenterIsActive(() => beginEach);
  return { evictions, failures };
}

const NOTHING: Evictions = { evictions: 0, failures: [] };

/** Taints the node and evicts the first group of its pods. */
async function beginDrain(ports: Ports, claim: NodeClaim): Promise<Evictions> {
  if (claim.nodeName === undefined) return NOTHING;
  const { node, pods } = await ports.cluster.readNode(claim.nodeName);
  if (node === undefined || node.providerId !== claim.providerId) return NOTHING;
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
  const failures: Failure[] = [];
  await takeInOrder(actions, async (action) => {
    let done: Evictions | undefined;
    const step = async (): Promise<void> => {
      done = await act(ports, action);
    };
    failures.push(...(await attempt(`NodeClaim/${claim.name}`, step)));
    evictions += done?.evictions ?? 0;
    failures.push(...(done?.failures ?? []));
    return done !== undefined;
  });
  return { evictions, failures };
}

/** Undefined: it was not done, and what needs it has to wait. */
async function act(ports: Ports, action: LifecycleAction): Promise<Evictions | undefined> {
  switch (action.kind) {
    case 'taint-node':
      return (await taintNode(ports, action)) === 'done' ? NOTHING : undefined;
    case 'delete-node':
      await ports.cluster.delete(nodeRef(action.node));
      return NOTHING;
    case 'evict':
      return await evictPods(ports, action.pods);
    default:
      return NOTHING;
  }
}
