import { describe, expect, it } from 'vitest';
import type { ClaimSurroundings, LifecycleAction } from '../../../shared/core/lifecycle/actions.ts';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import { withConditions } from '../../../shared/core/lifecycle/conditions.ts';
import type { Node } from '../../../shared/core/model/cluster.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';

function around(changes: Partial<ClaimSurroundings> = {}): ClaimSurroundings {
  const base = { nowMs: MINUTE, nodes: [], pods: [], awaiting: [], instance: 'present' } as const;
  return { ...base, blockingAttachments: [], isAwaited: false, ...changes };
}

function text(action: LifecycleAction): string {
  switch (action.kind) {
    case 'delete-claim':
      return `delete ${action.reason}`;
    case 'conditions':
      return action.set.map((each) => `${each.type}=${each.status}/${each.reason}`).join(' ');
    case 'evict':
      return `evict ${action.pods.map((pod) => pod.name).join(',')}`;
    case 'nominate':
      return `nominate ${action.pods.map((pod) => pod.name).join(',')} to ${action.node.name}`;
    case 'register':
      return ['register', ...action.pods.map((pod) => pod.name)].join(' ');
    case 'remove-pod':
      return `remove ${action.pod.name} ${action.gracePeriodSeconds}s`;
    default:
      return action.kind;
  }
}

function decided(claim: Partial<NodeClaim>, surroundings: Partial<ClaimSurroundings> = {}) {
  return decideClaim(aNodeClaim(claim), around(surroundings)).actions.map(text);
}

const launched = { providerId, conditions: yes('Launched') };
const registered = { providerId, conditions: yes('Launched', 'Registered') };
const ready = {
  providerId,
  annotations: { 'karpenter.k8s.aws/tagged': 'true' },
  conditions: yes('Launched', 'Registered', 'Initialized'),
};
const unregistered = aNode({
  taints: [{ key: 'karpenter.sh/unregistered', value: '', effect: 'NoExecute' }],
});
const notReady = aNode({ conditions: [] });
const AGENT = { key: 'example.com/agent', value: '', effect: 'NoExecute' } as const;
const NOT_READY = {
  key: 'node.kubernetes.io/not-ready',
  value: '',
  effect: 'NoSchedule',
} as const;

/** Ready, unless said otherwise, and closed to pods. */
function closed({ taints = [], ...rest }: Partial<Node>): Node {
  return aNode({ taints: [...unregistered.taints, ...taints], ...rest });
}
const deleted = { ...ready, deletedAtMs: 0 };
const tainted = aNode({
  taints: [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }],
  deletedAtMs: 0,
});
const triedAt = (ms: number) => ({ 'joiner.dev/launch-tried': new Date(ms).toISOString() });
const awaiting = (ms: number) =>
  withConditions([], [{ type: 'Launched', status: 'Unknown', reason: 'X', message: '' }], ms);

const draining = {
  ...deleted,
  conditions: withConditions(
    ready.conditions,
    [{ type: 'Drained', status: 'Unknown', reason: 'Draining', message: '' }],
    0,
  ),
};

describe('a NodeClaim', () => {
  it.each<[string, Partial<NodeClaim>, Partial<ClaimSurroundings>, readonly string[]]>([
    ['not launched yet waits', {}, {}, []],
    ['that nobody has tried to launch waits', {}, { nowMs: 500 * MINUTE }, []],
    [
      'whose launch was first tried less than 5 minutes ago waits',
      { annotations: triedAt(6 * MINUTE) },
      { nowMs: 11 * MINUTE - 1 },
      [],
    ],
    [
      'whose launch is tried for 5 minutes goes',
      { annotations: triedAt(6 * MINUTE) },
      { nowMs: 11 * MINUTE },
      ['delete launch_timeout'],
    ],
    [
      'that says for 5 minutes why it is not launched goes',
      { conditions: awaiting(6 * MINUTE) },
      { nowMs: 11 * MINUTE },
      ['delete launch_timeout'],
    ],
    [
      'whose launch was tried before it said so goes by the first try',
      { annotations: triedAt(MINUTE), conditions: awaiting(6 * MINUTE) },
      { nowMs: 6 * MINUTE },
      ['delete launch_timeout'],
    ],
    [
      'of a group that does not say since when goes by its age',
      { annotations: { 'joiner.dev/fleet': `${'a'.repeat(64)}/1/0` } },
      { nowMs: 5 * MINUTE },
      ['delete launch_timeout'],
    ],
    [
      'launched says that its node is awaited',
      launched,
      {},
      ['Registered=Unknown/NodeNotFound Ready=Unknown/NodeNotFound'],
    ],
    [
      'whose node never joins goes after 15 minutes',
      launched,
      { nowMs: 15 * MINUTE },
      ['delete registration_timeout'],
    ],
    [
      'whose node has not joined goes once the canary of its image failed',
      launched,
      { isOfFailedImage: true },
      ['delete registration_timeout'],
    ],
    ['registers its node', launched, { nodes: [unregistered] }, ['register', 'confirm']],
    [
      'opens its node to the pods that were planned for it',
      launched,
      { nodes: [unregistered], awaiting: [aPod({ name: 'a' }), aPod({ name: 'b' })] },
      ['register a b', 'confirm'],
    ],
    [
      'keeps its node closed until it is ready',
      launched,
      { nowMs: SECOND, nodes: [closed({ conditions: [] })], awaiting: [aPod()] },
      ['Registered=Unknown/NodeNotReady Ready=Unknown/NodeNotReady'],
    ],
    [
      'keeps it closed until the control plane has taken its own taints away',
      launched,
      { nowMs: 29 * SECOND, nodes: [closed({ taints: [NOT_READY] })], awaiting: [aPod()] },
      ['Registered=Unknown/NodeNotReady Ready=Unknown/NodeNotReady'],
    ],
    [
      'opens its node after 30 s though it is not ready, and nominates nothing in vain',
      launched,
      { nowMs: 30 * SECOND, nodes: [closed({ conditions: [] })], awaiting: [aPod()] },
      ['register', 'confirm'],
    ],
    [
      'does not keep a node closed that came without the taint',
      launched,
      { nowMs: SECOND, nodes: [notReady], awaiting: [aPod()] },
      ['register', 'confirm'],
    ],
    [
      'has its node open for startup taints to be dealt with',
      { ...launched, startupTaints: [AGENT] },
      { nowMs: SECOND, nodes: [closed({ taints: [AGENT] })] },
      ['register', 'confirm'],
    ],
    [
      'that is deleted after its node was opened is drained, though it was not told so',
      { ...launched, deletedAtMs: SECOND, finalizers: ['karpenter.sh/termination'] },
      { nodes: [aNode({ labels: { 'karpenter.sh/registered': 'true' } })], pods: [aPod()] },
      expect.arrayContaining(['taint-node']),
    ],
    [
      'with two nodes for 15 minutes is given up',
      launched,
      { nowMs: 15 * MINUTE, nodes: [aNode(), aNode({ name: 'b' })] },
      ['delete registration_timeout'],
    ],
    [
      'whose node was opened before a crash is only told so',
      { ...launched, startupTaints: [AGENT] },
      {
        nodes: [aNode({ labels: { 'karpenter.sh/registered': 'true' } })],
        awaiting: [aPod({ name: 'late' })],
      },
      ['confirm'],
    ],
    [
      'with two nodes says so',
      launched,
      { nodes: [aNode(), aNode({ name: 'b' })] },
      ['Registered=False/MultipleNodesFound Ready=False/MultipleNodesFound'],
    ],
    [
      'tags and waits for a ready node',
      registered,
      { nodes: [notReady] },
      ['Initialized=Unknown/NodeNotReady Ready=Unknown/NodeNotReady', 'tag'],
    ],
    [
      'waits for a resource',
      { ...registered, requests: { 'nvidia.com/gpu': 1 } },
      { nodes: [aNode()] },
      ['Initialized=Unknown/ResourceNotRegistered Ready=Unknown/ResourceNotRegistered', 'tag'],
    ],
    [
      'initialises',
      registered,
      { nodes: [aNode()] },
      [
        'initialize',
        'Initialized=True/Initialized Ready=True/Ready ConsistentStateFound=True/ConsistentStateFound',
        'tag',
      ],
    ],
    ['at rest has nothing to do', ready, { nodes: [aNode()] }, []],
    [
      'whose reservation has ended is on-demand from then on',
      { ...ready, labels: { 'karpenter.sh/capacity-type': 'reserved' } },
      { nodes: [aNode()], isUnreserved: true },
      ['demote'],
    ],
    [
      'nominates pods again that were tried in vain',
      ready,
      { nodes: [aNode()], awaiting: [aPod({ name: 'a' })], isAwaited: true },
      ['nominate a to node-1'],
    ],
    [
      'nominates none again while its node is not ready',
      ready,
      { nodes: [notReady], awaiting: [aPod({ name: 'a' })], isAwaited: true },
      [],
    ],
    ['expires', { ...ready, expireAfter: MINUTE }, { nodes: [aNode()] }, ['delete expired']],
    [
      'does not expire while that is held',
      { ...ready, expireAfter: MINUTE },
      { nodes: [aNode()], isExpiryHeld: true },
      [],
    ],
    [
      'follows its deleted node',
      ready,
      { nodes: [aNode({ deletedAtMs: 1 })] },
      ['delete node_deleted'],
    ],
    [
      'whose instance is gone goes',
      ready,
      { nodes: [notReady], instance: 'absent' },
      ['delete garbage_collected'],
    ],
    [
      'whose instance seems gone stays while the node is ready',
      ready,
      { nodes: [aNode()], instance: 'absent' },
      [],
    ],
    [
      'whose instance ends before its node has joined goes at once',
      launched,
      { nowMs: SECOND, instance: 'shutting-down' },
      ['delete garbage_collected'],
    ],
    [
      'whose new instance is not listed waits, for EC2 may not know it yet',
      launched,
      { nowMs: MINUTE - 1, instance: 'absent' },
      ['Registered=Unknown/NodeNotFound Ready=Unknown/NodeNotFound'],
    ],
    [
      'whose instance is not listed a minute after its launch goes',
      launched,
      { nowMs: MINUTE, instance: 'absent' },
      ['delete garbage_collected'],
    ],
    [
      'whose instance seems gone stays while its node joins',
      launched,
      { nowMs: MINUTE, nodes: [unregistered], instance: 'absent' },
      ['register', 'confirm'],
    ],
    [
      'deleted before its node joined is terminated',
      { ...launched, deletedAtMs: 0 },
      {},
      ['terminate', 'InstanceTerminating=True/InstanceTerminating'],
    ],
    [
      'deleted before its launch is let go',
      { deletedAtMs: 0 },
      { instance: 'absent' },
      ['finalize-claim'],
    ],
    [
      'drains first',
      deleted,
      { nodes: [aNode()], pods: [aPod()] },
      ['taint-node', 'delete-node', 'evict web'],
    ],
    [
      'drained waits for volumes',
      draining,
      { nowMs: 6 * SECOND, nodes: [tainted], blockingAttachments: ['va'] },
      ['Drained=True/Drained VolumesDetached=Unknown/AwaitingVolumeDetachment'],
    ],
    [
      'drained is terminated',
      draining,
      { nowMs: 6 * SECOND, nodes: [tainted] },
      [
        'Drained=True/Drained VolumesDetached=True/VolumesDetached',
        'terminate',
        'InstanceTerminating=True/InstanceTerminating',
      ],
    ],
    [
      'deleted long ago, whose node pods could come to until now, is drained first',
      deleted,
      { nodes: [aNode()] },
      ['taint-node', 'delete-node'],
    ],
    [
      'says that it drains once its node is read with the taint',
      deleted,
      { nodes: [tainted] },
      ['Drained=Unknown/Draining'],
    ],
    [
      'whose node has lost its taint is tainted again, and looked at once more',
      draining,
      { nodes: [aNode()] },
      ['taint-node', 'delete-node'],
    ],
    // The API server drops the fraction of a second: 5.9 s may be 4.9 s.
    [
      'keeps the node tainted 5 s at least',
      draining,
      { nowMs: 5.9 * SECOND, nodes: [tainted] },
      [],
    ],
    [
      'waits for the shutdown',
      { ...deleted, conditions: yes('Registered', 'InstanceTerminating') },
      { nodes: [aNode()], instance: 'shutting-down' },
      [],
    ],
    [
      'leaves with its node',
      deleted,
      { nodes: [notReady], instance: 'absent' },
      ['delete-node', 'finalize-node', 'finalize-claim'],
    ],
  ])('%s', (_, claim, surroundings, expected) => {
    expect(decided(claim, surroundings)).toEqual(expected);
  });

  it('past its deadline removes what protects itself', () => {
    const claim = { ...deleted, terminationGracePeriodMs: 2 * MINUTE };
    const pod = aPod({ annotations: { 'karpenter.sh/do-not-disrupt': 'true' } });
    const early = decided(claim, { nodes: [aNode()], pods: [pod] });
    expect(early).toEqual(['annotate', 'taint-node', 'delete-node', 'keep']);
    const late = decided(claim, { nowMs: 1.75 * MINUTE, nodes: [aNode()], pods: [pod] });
    expect(late).toContain('remove web 15s');
    expect(late).not.toContain('keep');
  });

  it('evicts plain pods before DaemonSets, those before critical ones', () => {
    const daemon = { kind: 'DaemonSet', name: 'd', uid: 'd' };
    const critical = { priorityClassName: 'system-node-critical' };
    const pods = [
      aPod({ name: 'critical' }, critical),
      aPod({ name: 'daemon', controller: daemon }),
      aPod({ name: 'plain' }),
    ];
    const evicted = [0, 1, 2].map((gone) => {
      const left = pods.slice(0, 3 - gone);
      return decided(deleted, { nodes: [aNode()], pods: left }).find((each) =>
        each.startsWith('evict'),
      );
    });
    expect(evicted).toEqual(['evict plain', 'evict daemon', 'evict critical']);
  });
});

describe('a node that opens', () => {
  it('does not carry the list of the pods that were planned for it', () => {
    const annotations = { 'joiner.dev/planned-pods': 'a,b', note: 'n' };
    const claim = aNodeClaim({ ...launched, annotations });
    const [action] = decideClaim(claim, around({ nodes: [unregistered] })).actions;
    expect(action).toMatchObject({ kind: 'register', taints: [], annotations: { note: 'n' } });
    expect(action).not.toHaveProperty(['annotations', 'joiner.dev/planned-pods']);
  });
});
