import { describe, expect, it } from 'vitest';
import { reason, sentence } from '../../../shared/core/explain/reason.ts';
import type { ClaimSurroundings, LifecycleAction } from '../../../shared/core/lifecycle/actions.ts';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, ENDING_BLOCK } from '../launch/builders.ts';

/** Whole actions, to the last word; what follows what is in claim.test.ts. */
const MINUTE = 60_000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const launched = { providerId, conditions: yes('Launched') };
const registered = { providerId, conditions: yes('Launched', 'Registered') };
const ready = {
  providerId,
  annotations: { 'karpenter.k8s.aws/tagged': 'true' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
};

function around(changes: Partial<ClaimSurroundings> = {}): ClaimSurroundings {
  const base = { nowMs: MINUTE, nodes: [], pods: [], awaiting: [], instance: 'present' } as const;
  return { ...base, blockingAttachments: [], isAwaited: false, ...changes };
}

function actionsOf(
  claim: Partial<NodeClaim>,
  surroundings: Partial<ClaimSurroundings> = {},
): readonly LifecycleAction[] {
  return decideClaim(aNodeClaim(claim), around(surroundings)).actions;
}

const at = (lastTransitionAtMs: number) => ({
  providerId,
  conditions: yes('Launched').map((each) => ({ ...each, lastTransitionAtMs })),
});

describe('why a claim is deleted', () => {
  const notReady = [aNode({ conditions: [] })];
  const impaired = reason('instance-impaired', {
    check: 'system_status',
    instance: 'i-0',
    said: 'no power',
  });
  const repairCause = {
    reason: 'system_status',
    why: impaired,
    isImmediate: true,
    condition: undefined,
  } as const;
  it.each<[string, Partial<NodeClaim>, Partial<ClaimSurroundings>, string, string]>([
    [
      'expired',
      { ...ready, createdAtMs: MINUTE, expireAfter: MINUTE },
      { nowMs: 2 * MINUTE },
      'expired',
      'The NodeClaim is older than spec.expireAfter',
    ],
    [
      'node deleted',
      ready,
      { nodes: [aNode(), aNode({ deletedAtMs: 1 })] },
      'node_deleted',
      'The Node was deleted',
    ],
    [
      'instance gone',
      ready,
      { nodes: notReady, instance: 'absent' },
      'garbage_collected',
      'The instance no longer exists and its Node is not Ready',
    ],
    [
      'instance ended early',
      at(0),
      { instance: 'shutting-down' },
      'garbage_collected',
      'The instance was terminated before its node registered',
    ],
    [
      'instance ended by EC2, which says why',
      at(0),
      { instance: 'absent', stateReason: 'Client.VolumeLimitExceeded: Volume limit exceeded' },
      'garbage_collected',
      'The instance was terminated before its node registered: ' +
        'Client.VolumeLimitExceeded: Volume limit exceeded',
    ],
    [
      'instance gone, and EC2 says why',
      ready,
      { nodes: notReady, instance: 'absent', stateReason: 'Client.UserInitiatedShutdown' },
      'garbage_collected',
      'The instance no longer exists and its Node is not Ready: Client.UserInitiatedShutdown',
    ],
    [
      'instance not listed',
      at(MINUTE),
      { nowMs: 2 * MINUTE, instance: 'absent' },
      'garbage_collected',
      'The instance disappeared before its node registered',
    ],
    [
      'not registered',
      at(MINUTE),
      { nowMs: 16 * MINUTE },
      'registration_timeout',
      'The node did not register within 15 minutes of the launch',
    ],
    [
      'not launched',
      { annotations: { 'joiner.dev/launch-tried': new Date(0).toISOString() } },
      { nowMs: 5 * MINUTE },
      'launch_timeout',
      'The instance was not launched within 5 minutes',
    ],
    [
      'Capacity Block about to end',
      ready,
      { nodes: [aNode()], endingBlock: ENDING_BLOCK, isExpiryHeld: true },
      'capacity_block_ending',
      'Capacity Block cr-1 ends at 2026-01-01T00:00:00.000Z',
    ],
    ['unhealthy', ready, { nodes: [aNode()], repairCause }, 'system_status', sentence(impaired)],
  ])('%s', (_, claim, surroundings, deletion, message) => {
    const [action, more] = actionsOf(claim, surroundings);
    expect(action).toMatchObject({ kind: 'delete-claim', reason: deletion });
    expect(action?.kind === 'delete-claim' && sentence(action.why)).toBe(message);
    expect(more).toBeUndefined();
  });

  it('with its repairCause where it is unhealthy', () => {
    expect(actionsOf(ready, { nodes: [aNode()], repairCause })).toEqual([
      { kind: 'delete-claim', reason: 'system_status', why: impaired, repairCause },
    ]);
  });

  it.each<[string, Partial<NodeClaim>, Partial<ClaimSurroundings>]>([
    [
      'younger than its expiry',
      { ...ready, createdAtMs: MINUTE, expireAfter: MINUTE },
      { nowMs: 2 * MINUTE - 1, nodes: [aNode()] },
    ],
    ['that never expires', { ...ready, expireAfter: 'Never' }, { nowMs: 1e15, nodes: [aNode()] }],
    [
      'registered, whose instance shuts down',
      ready,
      { nodes: notReady, instance: 'shutting-down' },
    ],
    ['not launched, whose instance is absent', {}, { nowMs: 1e9, instance: 'absent' }],
    ['registered, whose node is not there', registered, { nowMs: 1e9 }],
  ])('not one %s', (_, claim, surroundings) => {
    expect(actionsOf(claim, surroundings).filter(({ kind }) => kind === 'delete-claim')).toEqual(
      [],
    );
  });

  it('not one whose node has joined late', () => {
    const kinds = actionsOf(at(0), { nowMs: 16 * MINUTE, nodes: [aNode()] }).map(
      ({ kind }) => kind,
    );
    expect(kinds).toEqual(['register', 'confirm']);
    expect(actionsOf(registered, {})).toEqual([]);
  });

  it('not before its time is up, whenever it was launched', () => {
    const kinds = (nowMs: number) => actionsOf(at(MINUTE), { nowMs }).map(({ kind }) => kind);
    expect(kinds(16 * MINUTE - 1)).toEqual(['conditions']);
    const absent = (nowMs: number) => actionsOf(at(MINUTE), { nowMs, instance: 'absent' });
    expect(absent(2 * MINUTE - 1).map(({ kind }) => kind)).toEqual(['conditions']);
  });

  it('counts from its making where it does not say when it was launched', () => {
    const claim = { ...launched, createdAtMs: MINUTE, conditions: yes('Launched') };
    const without = claim.conditions.map(({ lastTransitionAtMs: _, ...rest }) => rest);
    expect(without).toHaveLength(1);
    expect(actionsOf(claim, { nowMs: 16 * MINUTE }).map(({ kind }) => kind)).toEqual([
      'delete-claim',
    ]);
  });
});
