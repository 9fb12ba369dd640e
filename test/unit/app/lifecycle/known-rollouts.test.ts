import { expect, it } from 'vitest';
import { KnownRollouts } from '../../../../shared/app/lifecycle/known-rollouts.ts';
import { claimOf, podOf } from '../../../builders/scheduling.ts';

const [a, b] = [claimOf('a'), claimOf('b')];
const pod = (name: string, uid: string) =>
  podOf(name, {}, { controller: { kind: 'ReplicaSet', name: uid, uid, apiVersion: 'apps/v1' } });

it('a restart is known for ten seconds, of a node and for all of its pods', () => {
  const rollouts = new KnownRollouts();
  rollouts.note(a, pod('p', 'web'), 1000);
  expect(rollouts.has(a, pod('q', 'web'), 10_999)).toBe(true);
  expect(rollouts.has(a, pod('q', 'web'), 11_000)).toBe(false);
  expect(rollouts.has(b, pod('q', 'web'), 1000)).toBe(false);
  expect(rollouts.has(a, pod('q', 'api'), 1000)).toBe(false);
});

it('what was asked long ago is forgotten', () => {
  const rollouts = new KnownRollouts();
  rollouts.note(a, pod('p', 'web'), 0);
  rollouts.note(b, pod('p', 'web'), 9000);
  rollouts.note(b, pod('p', 'api'), 11_000);
  expect(rollouts.has(a, pod('p', 'web'), 5000)).toBe(false);
  expect(rollouts.has(b, pod('p', 'web'), 11_000)).toBe(true);
});
