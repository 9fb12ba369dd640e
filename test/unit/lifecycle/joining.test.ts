import { expect, it } from 'vitest';
import { isJoining } from '../../../shared/core/lifecycle/claim.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { aNodeClaim } from '../launch/builders.ts';

const MINUTE = 60_000;

/** A claim of which these have been true from the beginning. */
function having(...types: readonly string[]): Partial<NodeClaim> {
  const rest = { status: 'True', message: '', lastTransitionAtMs: 0 } as const;
  return { conditions: types.map((type) => ({ type, reason: type, ...rest })) };
}

function launchedAt(lastTransitionAtMs: number): Partial<NodeClaim> {
  const conditions = having('Launched').conditions ?? [];
  return { conditions: conditions.map((each) => ({ ...each, lastTransitionAtMs })) };
}

it.each<[string, Partial<NodeClaim>, number, boolean]>([
  ['without an instance', {}, MINUTE, false],
  ['launched', having('Launched'), MINUTE, true],
  ['registered', having('Launched', 'Registered'), MINUTE, true],
  ['initialised', having('Launched', 'Registered', 'Initialized'), MINUTE, false],
  ['launched and deleted', { ...having('Launched'), deletedAtMs: 0 }, MINUTE, false],
  ['launched almost 15 minutes ago', having('Launched'), 15 * MINUTE - 1, true],
  ['launched 15 minutes ago', having('Launched'), 15 * MINUTE, false],
  ['launched late, almost 15 minutes ago', launchedAt(MINUTE), 16 * MINUTE - 1, true],
  ['launched late, 15 minutes ago', launchedAt(MINUTE), 16 * MINUTE, false],
  ['registered, not ready for 15 minutes', having('Launched', 'Registered'), 15 * MINUTE, false],
])('whether the node of a claim is about to join: %s', (_, claim, nowMs, expected) => {
  expect(isJoining(aNodeClaim(claim), nowMs)).toBe(expected);
});
