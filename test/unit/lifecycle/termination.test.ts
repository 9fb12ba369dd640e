import { describe, expect, it } from 'vitest';
import { encodeTime } from '../../../shared/api/encode.ts';
import type { SeenTaint } from '../../../shared/core/lifecycle/actions.ts';
import { decideClaim } from '../../../shared/core/lifecycle/claim.ts';
import { withConditions } from '../../../shared/core/lifecycle/conditions.ts';
import { seenTaint } from '../../../shared/core/lifecycle/termination.ts';
import { yes } from '../../builders/scheduling.ts';
import { aNode, aNodeClaim } from '../launch/builders.ts';

const SECOND = 1000;
const providerId = 'aws:///us-east-1a/i-0123456789abcdef0';
const tainted = aNode({
  taints: [{ key: 'karpenter.sh/disrupted', value: '', effect: 'NoSchedule' }],
  deletedAtMs: 0,
});

const around = {
  nodes: [tainted],
  pods: [],
  awaiting: [],
  isAwaited: false,
  instance: 'present',
  blockingAttachments: [],
} as const;

/** Whether the instance of a node without pods is ended; the API server drops split seconds. */
function isEnded(nowMs: number, drainedAtMs: number | undefined, seen: SeenTaint = {}): boolean {
  const set = { type: 'Drained', status: 'Unknown', reason: 'Draining', message: '' } as const;
  const drained =
    drainedAtMs === undefined ? [] : withConditions([], [set], Date.parse(encodeTime(drainedAtMs)));
  const conditions = [...yes('Launched', 'Registered', 'Initialized'), ...drained];
  const { actions } = decideClaim(aNodeClaim({ providerId, deletedAtMs: 0, conditions }), {
    ...around,
    nowMs,
    seenTaints: new Map([[tainted.uid, seen]]),
  });
  return actions.some(({ kind }) => kind === 'terminate');
}

describe('the instance of a drained node', () => {
  it.each<[string, number, number | undefined, SeenTaint, boolean]>([
    ['stays while nobody has seen the taint before', 60 * SECOND, undefined, {}, false],
    ['goes after 5 s of taint', 6000, undefined, { taintedSinceMs: 1000 }, true],
    ['stays until then', 5999, undefined, { taintedSinceMs: 1000 }, false],
    ['goes after 5 s though its claim says less', 6000, 3000, { taintedSinceMs: 1000 }, true],
    ['goes after what its claim says', 7000, 1999, { taintedSinceMs: 7000 }, true],
    ['stays 5 s after what its claim says', 6998, 1999, { taintedSinceMs: 6998 }, false],
    [
      'stays where its node was seen without the taint since its claim says so',
      60 * SECOND,
      1000,
      { freeAtMs: 2000, taintedSinceMs: 59 * SECOND },
      false,
    ],
    [
      'goes where another process has drained the node since it was seen without the taint',
      60 * SECOND,
      3000,
      { freeAtMs: 2000, taintedSinceMs: 59 * SECOND },
      true,
    ],
  ])('%s', (_, nowMs, drainedAtMs, seen, ended) => {
    expect(isEnded(nowMs, drainedAtMs, seen)).toBe(ended);
  });

  it.each([10_000, 10_001, 10_999])('goes in a new process five to six seconds after %i', (at) => {
    expect(isEnded(at + 4999, at)).toBe(false);
    expect(isEnded(at + 6000, at)).toBe(true);
  });
});

it('what a process has seen of a taint begins anew where the node has lost it', () => {
  const looks = [aNode({}), tainted, tainted, aNode({}), tainted];
  const seen: SeenTaint[] = [];
  for (const [at, node] of looks.entries()) seen.push(seenTaint(node, seen.at(-1), at));
  expect(seen).toEqual([
    { freeAtMs: 0 },
    { freeAtMs: 0, taintedSinceMs: 1 },
    { freeAtMs: 0, taintedSinceMs: 1 },
    { freeAtMs: 3 },
    { freeAtMs: 3, taintedSinceMs: 4 },
  ]);
});

it('a grace period that no time can be written for is one that does not end', () => {
  const terminationGracePeriodMs = 2_500_000_000 * 3_600_000;
  const conditions = yes('Launched', 'Registered', 'Initialized');
  const claim = { providerId, deletedAtMs: 0, terminationGracePeriodMs, conditions };
  const { actions } = decideClaim(aNodeClaim(claim), { ...around, nowMs: 0 });
  const annotations = {
    'karpenter.sh/nodeclaim-termination-timestamp': '+275760-09-13T00:00:00.000Z',
  };
  expect(actions).toContainEqual({ kind: 'annotate', annotations });
});
