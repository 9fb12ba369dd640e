import { describe, expect, it } from 'vitest';
import { reason } from '../../../shared/core/explain/reason.ts';
import { hasToWait } from '../../../shared/core/lifecycle/action-order.ts';
import type { ClaimSurroundings } from '../../../shared/core/lifecycle/actions.ts';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const ready = {
  providerId,
  annotations: { 'karpenter.k8s.aws/tagged': 'true' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
};

function kinds(claim: Partial<NodeClaim>, around: Partial<ClaimSurroundings> = {}) {
  const base = { nowMs: 60_000, nodes: [aNode()], pods: [], awaiting: [] } as const;
  const rest = { instance: 'present', blockingAttachments: [], isAwaited: false } as const;
  const { actions } = decideClaim(aNodeClaim(claim), { ...base, ...rest, ...around });
  return actions.map(({ kind }) => kind);
}

describe('a claim without a finalizer', () => {
  const bare = { ...ready, finalizers: [] };

  it('that has an instance gets one, and one that has none is held by its launch', () => {
    expect(kinds(bare)).toEqual(['hold-claim']);
    expect(kinds({ finalizers: [] }, { nodes: [] })).toEqual([]);
    expect(kinds(ready)).toEqual([]);
  });

  it('is not deleted before it has one', () => {
    const deleted = { nodes: [aNode({ deletedAtMs: 1 })] };
    expect(kinds(bare, deleted)).toEqual(['hold-claim', 'delete-claim']);
    const why = reason('node-deleted', {});
    const deletion = { kind: 'delete-claim', reason: 'node_deleted', why } as const;
    expect(hasToWait(deletion, new Set(['hold-claim']))).toBe(true);
  });

  it('that is deleted in the foreground is drained like others, and its node let go', () => {
    const deleted = { ...bare, finalizers: ['foregroundDeletion'], deletedAtMs: 1 };
    const [pod] = [aPod()];
    expect(kinds(deleted, { pods: [pod] })).toEqual(['taint-node', 'delete-node', 'evict']);
    const gone = {
      nodes: [aNode({ conditions: [], deletedAtMs: 1 })],
      instance: 'absent',
    } as const;
    expect(kinds(deleted, gone)).toEqual(['finalize-node']);
    expect(kinds(deleted, { nodes: [], instance: 'absent' })).toEqual([]);
  });
});
