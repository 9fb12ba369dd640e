import { describe, expect, it } from 'vitest';
import { decideClaim, unregisteredClaim } from '../../../shared/core/lifecycle/claim.ts';
import { HOSTNAME, UNREGISTERED_TAINT_KEY, ZONE } from '../../../shared/core/model/labels.ts';
import type { Pod, PodSpec } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import {
  awaitedNodes,
  type ClosedClaim,
} from '../../../shared/core/nomination/registration-order.ts';
import { ofApp, spreadOver, termOver } from '../../builders/affinity.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const together: Partial<PodSpec> = { podAffinity: [termOver(ZONE, ofApp('group'))] };

function waiting(cpu: number, spec: Partial<PodSpec> = {}): Pod {
  const requests = { cpu, pods: 1 };
  return aPod({ nodeName: undefined, phase: 'Pending' }, { requests, ...spec });
}

/** A claim whose node has 4 CPUs and is ready, unless it is `absent`. */
function closed(
  name: string,
  planned: readonly Pod[],
  rest: Partial<ClosedClaim> & { readonly absent?: boolean; readonly madeAtMs?: number } = {},
): ClosedClaim {
  const { absent = false, madeAtMs = 0, ...more } = rest;
  const allocatable = { cpu: 4000, pods: 10 };
  const labels = { [ZONE]: 'us-east-1a' };
  return {
    claim: aNodeClaim({ name, uid: name, createdAtMs: madeAtMs }),
    node: absent ? undefined : aNode({ name, allocatable, labels }),
    taints: [],
    planned,
    bound: [],
    ...more,
  };
}

function awaited(...all: readonly ClosedClaim[]): Readonly<Record<string, string>> {
  const pairs = [...awaitedNodes(all)].map(([claim, other]) => [claim.name, other.name] as const);
  return Object.fromEntries(pairs);
}

const group = closed('group', [waiting(3000, together)], { absent: true });

describe('a node that is ready', () => {
  it.each<[string, ClosedClaim, boolean]>([
    ['waits where it has room for a pod of a group', closed('a', [waiting(1000)]), true],
    ['opens where its own pods leave none', closed('a', [waiting(1001)]), false],
    [
      'opens where pods on it leave none',
      closed('a', [waiting(900)], { bound: [aPod({}, { requests: { cpu: 101 } })] }),
      false,
    ],
    [
      'opens where a taint keeps the group away',
      closed('a', [], { taints: [{ key: 'gpu', value: '', effect: 'NoSchedule' }] }),
      false,
    ],
    ['waits for a plan of the same moment', closed('a', [], { madeAtMs: 30_000 }), true],
    ['opens where the group was planned long ago', closed('a', [], { madeAtMs: 30_001 }), false],
  ])('%s', (_, arrived, isWaiting) => {
    expect(awaited(arrived, group)).toEqual(isWaiting ? { a: 'group' } : {});
  });

  it.each<[string, Partial<PodSpec>, boolean]>([
    ['are together', together, true],
    ['spread over zones', { topologySpread: [spreadOver(ZONE, ofApp('group'))] }, true],
    ['spread over nodes', { topologySpread: [spreadOver(HOSTNAME, ofApp('group'))] }, false],
    [
      'would rather spread',
      {
        topologySpread: [spreadOver(ZONE, ofApp('group'), { whenUnsatisfiable: 'ScheduleAnyway' })],
      },
      false,
    ],
    ['keep a zone each', { podAntiAffinity: [termOver(ZONE, ofApp('group'))] }, true],
    ['keep a node each', { podAntiAffinity: [termOver(HOSTNAME, ofApp('group'))] }, false],
    ['may not run there', { ...together, nodeSelector: { [ZONE]: 'us-east-1b' } }, false],
    ['may run there', { ...together, nodeSelector: { [ZONE]: 'us-east-1a' } }, true],
    ['go by themselves', {}, false],
  ])('waits for nodes of pods that %s: %#', (_, spec, isWaiting) => {
    const others = closed('others', [waiting(100, spec)], { absent: true });
    expect(awaited(closed('a', []), others)).toEqual(isWaiting ? { a: 'others' } : {});
  });

  it.each<[string, Partial<PodSpec>, boolean]>([
    ['of a higher priority that would take their place', { priority: 1 }, true],
    ['of the same priority', {}, false],
    [
      'of a higher priority that find room beside them',
      { priority: 1, requests: { cpu: 500 } },
      false,
    ],
    ['of a higher priority that are too large', { priority: 1, requests: { cpu: 5000 } }, false],
    [
      'of a higher priority that may not run there',
      { priority: 1, nodeSelector: { [ZONE]: 'us-east-1b' } },
      false,
    ],
  ])('waits for nodes of pods %s: %#', (_, spec, isWaiting) => {
    const others = closed('others', [waiting(1000, spec)], { absent: true });
    const own = [waiting(3500)];
    expect(awaited(closed('a', own), others)).toEqual(isWaiting ? { a: 'others' } : {});
  });

  it('does not wait for pods whose priority some of its own have', () => {
    const own = [waiting(3500, { priority: 1 }), waiting(400)];
    const others = closed('others', [waiting(1000, { priority: 1 })], { absent: true });
    expect(awaited(closed('a', own), others)).toEqual({});
  });

  it('waits for what the nodes that it waits for wait for, whatever their order', () => {
    const first = closed('a', [waiting(3500)]);
    const second = closed('b', [waiting(400, together)]);
    const third = closed('c', [waiting(3000, together)], { absent: true });
    const waits = { a: 'b', b: 'c' };
    expect(awaited(first, third)).toEqual({});
    expect(awaited(first, second, third)).toEqual(waits);
    expect(awaited(third, second, first)).toEqual(waits);
  });

  it('opens with all those that would wait for one another', () => {
    const pods = [waiting(1000, together)];
    expect(awaited(closed('a', pods), closed('b', pods))).toEqual({});
  });
});

describe('a claim whose node waits for another', () => {
  const launched: Partial<NodeClaim> = { conditions: yes('Launched') };
  const taint = { key: UNREGISTERED_TAINT_KEY, value: '', effect: 'NoExecute' } as const;
  const around = {
    pods: [],
    awaiting: [],
    isAwaited: false,
    instance: 'present',
    blockingAttachments: [],
    nodes: [aNode({ taints: [taint], createdAtMs: 0 })],
    awaitedNode: aNodeClaim({ name: 'other' }),
  } as const;

  it('says so, and keeps it closed', () => {
    const { actions } = decideClaim(aNodeClaim(launched), { ...around, nowMs: 29_999 });
    expect(actions.map(({ kind }) => kind)).toEqual(['conditions']);
    expect(JSON.stringify(actions)).toContain(
      'The node becomes schedulable together with the node of NodeClaim other',
    );
    expect(unregisteredClaim(aNodeClaim(launched), { ...around, nowMs: 29_999 })?.node?.name).toBe(
      'node-1',
    );
  });

  it('opens it after 30 s, and no other waits for it any more', () => {
    const { actions } = decideClaim(aNodeClaim(launched), { ...around, nowMs: 30_000 });
    expect(actions.map(({ kind }) => kind)).toEqual(['register', 'confirm']);
    expect(unregisteredClaim(aNodeClaim(launched), { ...around, nowMs: 30_000 })).toBeUndefined();
  });

  it('counts pods that are nominated to its node already', () => {
    const [awaiting, nominated] = [[waiting(1000)], [waiting(2000)]];
    const pods = { ...around, nowMs: 0, awaiting, nominated };
    expect(unregisteredClaim(aNodeClaim(launched), pods)?.planned).toEqual([
      ...awaiting,
      ...nominated,
    ]);
  });

  it.each<[string, Partial<NodeClaim>]>([
    ['that is being deleted', { ...launched, deletedAtMs: 1 }],
    ['that is open', { conditions: yes('Launched', 'Registered') }],
  ])('is none %s', (_, claim) => {
    expect(unregisteredClaim(aNodeClaim(claim), { ...around, nowMs: 0 })).toBeUndefined();
  });
});
