import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { withoutSuperseded } from '../../../shared/core/rollouts/superseded.ts';
import { claimOf, podOf } from '../../builders/scheduling.ts';

const DRAINED_AT_MS = 1_000_000;

/** A pod of one of Deployment `web`'s ReplicaSets. */
function pod(name: string, set: string, rest: Partial<Pod> = {}): Pod {
  const controller = { kind: 'ReplicaSet', name: set, uid: `uid-${set}` } as const;
  const annotations = { 'joiner.dev/drain': 'rollout' };
  return { ...podOf(name), controller, annotations, ...rest };
}

const draining = claimOf('a', { nodeName: 'node-a', deletedAtMs: DRAINED_AT_MS });
const staying = claimOf('b', { nodeName: 'node-b' });
const old = pod('old', 'web-1', { nodeName: 'node-a', phase: 'Running', createdAtMs: 1 });
const fresh = pod('fresh', 'web-2', { createdAtMs: DRAINED_AT_MS + 500 });

function namesOf(pods: readonly Pod[], claims = [draining, staying]): readonly string[] {
  return withoutSuperseded(pods, claims).map(({ name }) => name);
}

describe('a pod on a draining node', () => {
  it('is no demand once pods of another ReplicaSet of its Deployment come', () => {
    expect(namesOf([old, fresh])).toEqual(['fresh']);
  });

  it.each<[string, Partial<Pod>, Pod]>([
    ['before its Deployment is restarted', {}, pod('peer', 'web-1')],
    ['where the others are of before the drain', {}, { ...fresh, createdAtMs: 5 }],
    ['of another Deployment', {}, pod('fresh', 'api-2', { createdAtMs: DRAINED_AT_MS })],
    ['of another namespace', { namespace: 'other' }, fresh],
    ['that is evicted instead', { annotations: {} }, fresh],
    ['whose annotation is misspelt', { annotations: { 'joiner.dev/drain': 'rolout' } }, fresh],
    ['that stays', { nodeName: 'node-b' }, fresh],
  ])('is demand %s', (_, rest, other) => {
    expect(namesOf([{ ...old, ...rest }, other])).toEqual(['old', other.name]);
  });

  it('is looked at only where a node drains', () => {
    const pods = [old, fresh];
    expect(withoutSuperseded(pods, [staying])).toBe(pods);
  });
});
