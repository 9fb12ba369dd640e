import { describe, expect, it } from 'vitest';
import type { ClaimDecision } from '../../../shared/core/lifecycle/actions.ts';
import {
  evictionOrderText,
  inEvictionOrder,
  ownerOf,
} from '../../../shared/core/lifecycle/eviction-order.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { aNodeClaim, aPod } from '../launch/builders.ts';

const SECOND = 1000;
const NOW = 1e9;
const ORDER = evictionOrderText(['large', 'small']);

function podOf(name: string, owner: string, rest: Partial<Pod> = {}): Pod {
  const controller = { kind: 'ReplicaSet', name: owner, uid: owner };
  return aPod({ name, uid: name, controller, ...rest });
}

const unbound = { phase: 'Pending', nodeName: undefined } as const;
const young = { ...unbound, createdAtMs: NOW - 29 * SECOND };
const old = { ...unbound, createdAtMs: NOW - 30 * SECOND };
const statefulSet = { controller: { kind: 'StatefulSet', name: 'large', uid: 'large' } };
const told = (ms: number): Partial<Pod> => ({
  ...statefulSet,
  deletedAtMs: NOW - ms + 5 * SECOND,
  deletionGraceSeconds: 5,
});

const a = podOf('a', 'small');
const b = podOf('b', 'small');
const z = podOf('z', 'large');
const stranger = podOf('stranger', 'other');

type Changes = Parameters<typeof aNodeClaim>[0];

function draining(pods: readonly Pod[], changes: Changes = {}): ClaimDecision {
  const annotations = { 'joiner.dev/eviction-order': ORDER };
  const claim = aNodeClaim({ deletedAtMs: NOW - 60 * SECOND, annotations, ...changes });
  return { claim, actions: [{ kind: 'evict', pods }] };
}

function evicted(
  decisions: readonly ClaimDecision[],
  others: readonly Pod[] = [],
  refused: readonly Pod[] = [],
): readonly string[] {
  const isRefused = (pod: Pod): boolean => refused.includes(pod);
  return inEvictionOrder(decisions, others, isRefused, NOW)
    .flatMap(({ actions }) => actions)
    .flatMap((each) => (each.kind === 'evict' ? each.pods : []))
    .map(({ name }) => name);
}

const named = { 'joiner.dev/eviction-order': evictionOrderText(['b', 'a', 'small']) };
const renewed = podOf('b2', 'small', young);
const ordered = { 'joiner.dev/eviction-order': ORDER };

describe('pods of nodes with an eviction order', () => {
  it.each<[string, readonly ClaimDecision[], readonly Pod[], readonly string[]]>([
    ['go one at a time, by their owner', [draining([a, b, z])], [], ['z']],
    ['of one owner go by name', [draining([b, a])], [], ['a']],
    ['that are named go first', [draining([a, b], { annotations: named })], [], ['b']],
    ['wait for what comes in their place', [draining([a], { annotations: named })], [renewed], []],
    ['that no owner in the order has go last', [draining([stranger, b])], [], ['b']],
    ['go one at a time from all nodes of the order', [draining([a]), draining([z])], [], ['z']],
    [
      'go beside those of another order',
      [draining([a]), draining([z], { annotations: { 'joiner.dev/eviction-order': 'large' } })],
      [],
      ['a', 'z'],
    ],
    ['wait for the place of the one before', [draining([a])], [podOf('n', 'large', young)], []],
    ['wait so for 30 seconds', [draining([a])], [podOf('n', 'large', old)], ['a']],
    ['wait for nobody else’s place', [draining([a])], [podOf('n', 'other', young)], ['a']],
    ['wait for no pod that has a node', [draining([a])], [podOf('n', 'large')], ['a']],
    [
      'wait until a StatefulSet’s pod is gone',
      [draining([a])],
      [podOf('n', 'large', told(29 * SECOND))],
      [],
    ],
    [
      'wait so for 30 seconds, too',
      [draining([a])],
      [podOf('n', 'large', told(30 * SECOND))],
      ['a'],
    ],
    [
      'wait for no gated pod',
      [draining([a])],
      [aPod({ ...podOf('n', 'large', young), spec: { ...z.spec, hasSchedulingGates: true } })],
      ['a'],
    ],
    ['go at once without one', [draining([a, b, z], { annotations: {} })], [], ['a', 'b', 'z']],
    [
      'go at once where EC2 takes the node',
      [draining([a, z], { annotations: { ...ordered, 'joiner.dev/interrupted': 'spot' } })],
      [],
      ['a', 'z'],
    ],
    [
      'go at once after ten minutes',
      [draining([a, z], { deletedAtMs: NOW - 600 * SECOND })],
      [],
      ['a', 'z'],
    ],
  ])('%s', (_, decisions, others, expected) => {
    expect(evicted(decisions, others)).toEqual(expected);
  });

  it('that may not go keep those after them waiting, and are asked for again', () => {
    expect(evicted([draining([a, b, z])], [], [z])).toEqual(['z']);
    expect(evicted([draining([a, b, z])], [], [a])).toEqual(['a', 'z']);
    expect(evicted([draining([a, z])], [podOf('n', 'small', young)], [z])).toEqual(['z']);
    const late = { deletedAtMs: NOW - 600 * SECOND };
    expect(evicted([draining([a, b, z], late)], [], [z])).toEqual(['a', 'b', 'z']);
  });
});

it('other steps of the claims are taken as they are', () => {
  const { claim } = draining([]);
  const removal = { kind: 'remove-pod', pod: z, gracePeriodSeconds: 1 } as const;
  const decision: ClaimDecision = { claim, actions: [{ kind: 'evict', pods: [a] }, removal] };
  const [found] = inEvictionOrder([decision], [podOf('n', 'large', young)], () => false, NOW);
  expect(found?.actions).toEqual([removal]);
});

it('a pod that nothing controls owns itself', () => {
  expect(ownerOf(aPod({ uid: 'own', controller: undefined }))).toBe('own');
  expect(ownerOf(z)).toBe('large');
});
