import { describe, expect, it } from 'vitest';
import type { ClaimSurroundings } from '../../../shared/core/lifecycle/actions.ts';
import { withConditions } from '../../../shared/core/lifecycle/conditions.ts';
import { deadlineOf, terminationActions } from '../../../shared/core/lifecycle/termination.ts';
import type { Condition, Node } from '../../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const TIMESTAMP = 'karpenter.sh/nodeclaim-termination-timestamp';
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const DISRUPTED = { key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' } as const;

function condition(type: string, status: Condition['status'], reason: string, atMs = 0): Condition {
  return { type, status, reason, message: '', lastTransitionAtMs: atMs };
}

const DRAINING = condition('Drained', 'Unknown', 'Draining');
const deleted: Partial<NodeClaim> = {
  providerId,
  deletedAtMs: 0,
  conditions: yes('Launched', 'Registered', 'Initialized'),
};
const having = (...conditions: readonly Condition[]): Partial<NodeClaim> => ({
  ...deleted,
  conditions: withConditions(deleted.conditions ?? [], conditions, 0),
});
const tainted = (rest: Partial<Node> = {}): Node =>
  aNode({ taints: [DISRUPTED], deletedAtMs: 0, ...rest });

function actions(claim: Partial<NodeClaim>, changes: Partial<ClaimSurroundings> = {}) {
  return terminationActions(aNodeClaim(claim), {
    nowMs: 10 * SECOND,
    nodes: [tainted()],
    pods: [],
    awaiting: [],
    isAwaited: false,
    instance: 'present',
    blockingAttachments: [],
    ...changes,
  });
}

const kinds = (...given: Parameters<typeof actions>): string =>
  actions(...given)
    .map((each) =>
      each.kind === 'conditions'
        ? each.set.map(({ type, status, reason }) => `${type}=${status}/${reason}`).join('+')
        : each.kind,
    )
    .join(' ');

const DRAINED = 'Drained=True/Drained';
const DETACHED = `${DRAINED}+VolumesDetached=True/VolumesDetached`;
const ENDED = 'terminate InstanceTerminating=True/InstanceTerminating';

describe('the deadline of a drain', () => {
  it.each<[string, Partial<NodeClaim>, number | undefined]>([
    ['none', {}, undefined],
    [
      'none before it is deleted',
      { deletedAtMs: undefined, terminationGracePeriodMs: 5 },
      undefined,
    ],
    ['by the grace period', { deletedAtMs: 7, terminationGracePeriodMs: 5 }, 12],
    ['by what is written', { annotations: { [TIMESTAMP]: new Date(9000).toISOString() } }, 9000],
    [
      'by what is written before the grace period',
      { ...written('1970-01-01T00:00:09Z'), deletedAtMs: 7, terminationGracePeriodMs: 5 },
      9000,
    ],
    [
      'by the grace period where that cannot be read',
      { ...written('soon'), deletedAtMs: 7, terminationGracePeriodMs: 5 },
      12,
    ],
  ])('%s', (_, claim, expected) => {
    expect(deadlineOf(aNodeClaim(claim))).toBe(expected);
  });

  function written(text: string): Partial<NodeClaim> {
    return { annotations: { [TIMESTAMP]: text } };
  }

  it('is written once', () => {
    const limited = { ...deleted, terminationGracePeriodMs: MINUTE };
    const [first] = actions(limited);
    expect(first).toEqual({
      kind: 'annotate',
      annotations: { [TIMESTAMP]: new Date(MINUTE).toISOString() },
    });
    const again = { ...limited, ...written(new Date(MINUTE).toISOString()) };
    expect(kinds(again)).toBe('Drained=Unknown/Draining');
    // Whatever is written there stays.
    expect(kinds({ ...limited, ...written('soon') })).toBe('Drained=Unknown/Draining');
  });
});

describe('a node that is to go', () => {
  it('is tainted beside its other taints, and deleted', () => {
    const own = { key: 'own', value: '', effect: 'NoSchedule' } as const;
    const node = aNode({ taints: [own] });
    expect(actions(deleted, { nodes: [node] })).toEqual([
      { kind: 'taint-node', node, taints: [own, DISRUPTED] },
      { kind: 'delete-node', node },
    ]);
  });

  it.each<[string, readonly Node[], string]>([
    [
      'with the taint',
      [tainted({ deletedAtMs: undefined })],
      'delete-node Drained=Unknown/Draining',
    ],
    ['and another, not tainted yet', [tainted(), aNode({ deletedAtMs: 0 })], 'taint-node'],
    ['and another, tainted', [tainted(), tainted()], 'Drained=Unknown/Draining'],
  ])('%s', (_, nodes, expected) => {
    expect(kinds(deleted, { nodes })).toBe(expected);
  });

  it('is said to drain once', () => {
    expect(kinds(having(DRAINING), { nowMs: 5 * SECOND })).toBe('');
  });
});

describe('a drain', () => {
  const claim = having(DRAINING);
  const limited = { ...claim, annotations: { [TIMESTAMP]: new Date(MINUTE).toISOString() } };
  const pods = [aPod({}, { terminationGracePeriodSeconds: 0 })];

  it('waits for pods', () => {
    expect(kinds(claim, { pods })).toBe('evict');
    const going = [aPod({ deletedAtMs: 10 * SECOND })];
    expect(kinds(claim, { pods: going })).toBe('');
  });

  it('goes on without them at its deadline', () => {
    expect(kinds(limited, { pods, nowMs: MINUTE - 1 })).toBe('evict');
    expect(kinds(limited, { pods, nowMs: MINUTE })).toBe(`remove-pod ${DETACHED} ${ENDED}`);
  });

  it('waits for attachments, and says so once', () => {
    const blockingAttachments = ['a'];
    expect(kinds(claim, { blockingAttachments })).toBe(
      `${DRAINED}+VolumesDetached=Unknown/AwaitingVolumeDetachment`,
    );
    const drained = condition('Drained', 'True', 'Drained');
    expect(kinds(having(drained), { blockingAttachments })).toBe(
      'VolumesDetached=Unknown/AwaitingVolumeDetachment',
    );
    const awaited = condition('VolumesDetached', 'Unknown', 'AwaitingVolumeDetachment');
    expect(actions(having(drained, awaited), { blockingAttachments })).toEqual([]);
    const otherwise = condition('VolumesDetached', 'Unknown', 'Other');
    expect(kinds(having(drained, otherwise), { blockingAttachments })).toBe(
      'VolumesDetached=Unknown/AwaitingVolumeDetachment',
    );
  });

  it('does not wait for attachments past its deadline, and says so', () => {
    expect(kinds(limited, { blockingAttachments: ['a'], nowMs: MINUTE })).toBe(
      `${DRAINED}+VolumesDetached=False/TerminationGracePeriodElapsed ${ENDED}`,
    );
    expect(kinds(limited, { nowMs: MINUTE })).toBe(`${DETACHED} ${ENDED}`);
  });

  it.each<[string, Partial<NodeClaim>, number, boolean]>([
    ['without a deadline', claim, 10 * SECOND, false],
    ['before it', limited, MINUTE - 1, false],
    ['at it', limited, MINUTE, true],
    ['after it', limited, MINUTE + 1, true],
  ])('%s: the instance ends past the deadline: %s', (_, given, nowMs, isPastDeadline) => {
    const ending = actions(given, { nowMs }).find(({ kind }) => kind === 'terminate');
    expect(ending).toEqual({
      kind: 'terminate',
      instanceId: 'i-0123456789abcdef0',
      isPastDeadline,
    });
  });
});

describe('whether the taint was there for long enough', () => {
  const isOver = (
    claim: Partial<NodeClaim>,
    nowMs: number,
    seenTaints?: ClaimSurroundings['seenTaints'],
    nodes: readonly Node[] = [tainted()],
  ) =>
    kinds(
      claim,
      seenTaints === undefined ? { nowMs, nodes } : { nowMs, nodes, seenTaints },
    ).includes('terminate');
  const uid = tainted().uid;

  it('goes by the claim where nobody has looked before', () => {
    expect(isOver(having(DRAINING), 6 * SECOND - 1)).toBe(false);
    expect(isOver(having(DRAINING), 6 * SECOND)).toBe(true);
    expect(isOver(deleted, MINUTE)).toBe(false);
  });

  it('was, where the claim says that it is drained', () => {
    expect(isOver(having(condition('Drained', 'True', 'Drained')), 0)).toBe(true);
  });

  it('was not, where the node was without the taint since', () => {
    const drained = having(condition('Drained', 'True', 'Drained', 5000));
    const seen = (freeAtMs: number) => new Map([[uid, { freeAtMs, taintedSinceMs: MINUTE }]]);
    expect(isOver({ ...drained, conditions: at(drained, 5000) }, MINUTE, seen(5000))).toBe(false);
    expect(isOver({ ...drained, conditions: at(drained, 5000) }, MINUTE, seen(4999))).toBe(true);
  });

  it('has to be of every node', () => {
    const nodes = [tainted(), tainted({ uid: 'other' })];
    const seen = new Map([[uid, { taintedSinceMs: 0 }]]);
    expect(isOver(deleted, MINUTE, seen, nodes)).toBe(false);
    expect(
      isOver(deleted, MINUTE, new Map([...seen, ['other', { taintedSinceMs: 0 }]]), nodes),
    ).toBe(true);
    expect(isOver(having(DRAINING), MINUTE, undefined, [tainted(), aNode({ uid: 'x' })])).toBe(
      false,
    );
  });

  function at(claim: Partial<NodeClaim>, lastTransitionAtMs: number): readonly Condition[] {
    return (claim.conditions ?? []).map((each) => ({ ...each, lastTransitionAtMs }));
  }
});

describe('the end', () => {
  it.each<[string, Partial<NodeClaim>, Partial<ClaimSurroundings>, string]>([
    ['of a node that never registered', { ...deleted, conditions: yes('Launched') }, {}, ENDED],
    [
      'of one that has, as the node says',
      { ...deleted, conditions: yes('Launched') },
      { nodes: [tainted({ labels: { 'karpenter.sh/registered': 'true' } }), tainted()] },
      'Drained=Unknown/Draining',
    ],
    [
      'of one that says otherwise',
      { ...deleted, conditions: yes('Launched') },
      { nodes: [tainted({ labels: { 'karpenter.sh/registered': 'false' } })] },
      ENDED,
    ],
    ['without a node', deleted, { nodes: [] }, ENDED],
    [
      'of an instance that is ended already',
      having(condition('InstanceTerminating', 'True', 'x')),
      {},
      ENDED,
    ],
    [
      'of one that shuts down',
      having(condition('InstanceTerminating', 'True', 'x')),
      { instance: 'shutting-down' },
      '',
    ],
    [
      'of one that is gone, its node not ready',
      deleted,
      { instance: 'absent', nodes: [tainted({ conditions: [] })] },
      'finalize-node finalize-claim',
    ],
    [
      'of one that seems gone, one of its nodes ready',
      deleted,
      { instance: 'absent', nodes: [tainted({ conditions: [] }), tainted()] },
      'Drained=Unknown/Draining',
    ],
    [
      'of one that is gone once drained',
      having(condition('InstanceTerminating', 'True', 'x')),
      { instance: 'absent' },
      'finalize-node finalize-claim',
    ],
    [
      'of one that is not known',
      { ...deleted, providerId: undefined, conditions: [] },
      { nodes: [] },
      'finalize-claim',
    ],
    [
      'of a claim that others hold',
      { ...deleted, finalizers: ['other'] },
      { instance: 'absent', nodes: [] },
      '',
    ],
    [
      'of a node that is not deleted yet',
      deleted,
      { instance: 'absent', nodes: [aNode({ conditions: [] })] },
      'delete-node finalize-node finalize-claim',
    ],
  ])('%s', (_, claim, changes, expected) => {
    expect(kinds(claim, changes)).toBe(expected);
  });

  it('by the instance alone is not past a deadline', () => {
    const claim = { ...deleted, conditions: yes('Launched') };
    const limited = { ...claim, annotations: { [TIMESTAMP]: new Date(0).toISOString() } };
    expect(actions(limited)[0]).toMatchObject({ kind: 'terminate', isPastDeadline: false });
  });
});
