import { describe, expect, it } from 'vitest';
import { openTogether } from '../../../shared/app/opening.ts';
import type { ClaimDecision } from '../../../shared/core/lifecycle/actions.ts';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import { aNode, aNodeClaim, aPod } from '../launch/builders.ts';

const LAUNCHED = {
  type: 'Launched',
  status: 'True',
  reason: '',
  message: '',
  lastTransitionAtMs: 0,
} as const;

/** What is to be done for a claim whose node is ready, and closed. */
function opening(name: string): ClaimDecision {
  const taints = [{ key: 'karpenter.sh/unregistered', value: '', effect: 'NoExecute' }] as const;
  const around = { pods: [], blockingAttachments: [], instance: 'present', nowMs: 0 } as const;
  const claim = aNodeClaim({ name, providerId: 'aws:///a/i-0', conditions: [LAUNCHED] });
  return decideClaim(claim, { ...around, nodes: [aNode({ taints })], awaiting: [aPod()] });
}

/** What is done, in order, for so many nodes that open at the same time. */
async function done(count: number): Promise<readonly string[]> {
  const log: string[] = [];
  const decisions = Array.from({ length: count }, (_, at) => opening(`c${at}`));
  await openTogether(decisions, async ({ claim, actions }) => {
    for (const { kind } of actions) {
      log.push(`${kind} ${claim.name}`);
      await Promise.resolve();
    }
  });
  return log;
}

describe('nodes that open together', () => {
  it('have the pods of all of them nominated before the first one opens', async () => {
    expect(await done(2)).toEqual([
      'nominate c0',
      'nominate c1',
      'nominate c0',
      'nominate c1',
      'register c0',
      'register c1',
      'confirm c0',
      'confirm c1',
    ]);
  });

  it('do not wait for more than twenty', async () => {
    const log = await done(21);
    expect(log).toHaveLength(21 * 4);
    expect(log.indexOf('nominate c20')).toBeGreaterThan(log.lastIndexOf('confirm c0'));
    expect(log.indexOf('nominate c19')).toBeLessThan(log.indexOf('register c0'));
  });
});
