import { describe, expect, it } from 'vitest';
import {
  awaitingPods,
  readNominations,
} from '../../../../shared/app/lifecycle/nomination/nominations.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../../../shared/core/model/snapshot.ts';
import { aNode, aNodeClaim, aPod } from '../../launch/builders.ts';
import { waitingWorld } from '../world.ts';

const PLANNED = 'joiner.dev/planned-pods';
const waiting = (changes: Partial<Pod> = {}): Pod =>
  aPod({ uid: 'u', nodeName: undefined, phase: 'Pending', ...changes });
const claimOf = (name: string, changes: Partial<NodeClaim> = {}): NodeClaim =>
  aNodeClaim({ name, uid: name, annotations: { [PLANNED]: 'u' }, ...changes });
const targets = async (objects: Partial<ClusterSnapshot>): Promise<readonly string[]> => {
  const { ports } = await waitingWorld([]);
  const state = await ports.cluster.read();
  const nowMs = 20_000;
  const read = readNominations({ ...state, objects: { ...state.objects, ...objects } }, nowMs);
  const claims = objects.nodeClaims ?? [];
  return claims.filter((each) => awaitingPods(each, read).length > 0).map(({ name }) => name);
};
const other = 'aws:///us-east-1a/i-0123456789abcdef1';
const large = aPod({}, { requests: { cpu: 3000, pods: 1 } }).spec;
/** The claim `a`, whose node was opened at this time. */
const opened = (lastTransitionAtMs: number): Partial<ClusterSnapshot> => {
  const registered = { type: 'Registered', status: 'True', reason: '', message: '' } as const;
  const conditions = [{ ...registered, lastTransitionAtMs }];
  const allocatable = { cpu: 3900, pods: 10 };
  return {
    nodes: [aNode({ allocatable })],
    nodeClaims: [claimOf('a', { nodeName: 'node-1', conditions })],
  };
};
const nominated = waiting({ nominatedNodeName: 'node-1' });

describe('pods to be nominated', () => {
  it.each<[string, Partial<ClusterSnapshot>, readonly string[]]>([
    ['are those that no node is there for', { pods: [waiting()] }, ['a']],
    ['are not those that have a node', { pods: [aPod({ uid: 'u' })] }, []],
    ['are not those of a preemption', { pods: [nominated], nodes: [aNode()] }, []],
    ['are those of a node that has gone', { pods: [nominated], nodes: [] }, ['a']],
    [
      'are those of a node that is being deleted',
      { pods: [nominated], nodes: [aNode({ deletedAtMs: 1 })] },
      ['a'],
    ],
    [
      'are those of a node whose claim is being deleted',
      {
        pods: [nominated],
        nodes: [aNode({ providerId: other })],
        nodeClaims: [claimOf('a'), claimOf('leaving', { providerId: other, deletedAtMs: 1 })],
      },
      ['a'],
    ],
    [
      'go where the last plan has put them',
      { pods: [waiting()], nodeClaims: [claimOf('b', { createdAtMs: 2 }), claimOf('a')] },
      ['b'],
    ],
    ['are those whose place has opened', { pods: [waiting()], ...opened(6_000) }, ['a']],
    [
      'are not those whose place is taken',
      {
        pods: [waiting(), aPod({ uid: 'b' }, { requests: { cpu: 3000, pods: 1 } })],
        ...opened(6_000),
      },
      [],
    ],
    [
      'are not those whose place another is nominated to',
      {
        pods: [
          waiting(),
          waiting({ uid: 'b', name: 'b', nominatedNodeName: 'node-1', spec: large }),
        ],
        ...opened(6_000),
      },
      [],
    ],
    ['are no more after 15 s', { pods: [waiting()], ...opened(5_000) }, []],
  ])('%s', async (_, objects, expected) => {
    expect(await targets({ nodeClaims: [claimOf('a')], ...objects })).toEqual(expected);
  });
});
