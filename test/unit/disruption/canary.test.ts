import { describe, expect, it } from 'vitest';
import {
  CANARY_RETRY_MS,
  failedCanaries,
  failedCanariesText,
  statesOf,
  type Trials,
  trialOf,
  triedStates,
  triesText,
  verdictOf,
} from '../../../shared/core/disruption/canary.ts';
import type { Drift } from '../../../shared/core/disruption/drift.ts';
import { reason } from '../../../shared/core/explain/reason.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, yes } from '../../builders/scheduling.ts';

const NEW_IMAGE = 'EC2NodeClass/default image ami-2';
const NEW_TEMPLATE = 'NodePool/general template abc';

function drift(state: string | undefined): Drift {
  return { reason: 'AMIDrift', why: reason('node-drifted', {}), state };
}

function trials(changes: Partial<Trials> = {}): Trials {
  return { proven: new Set(), trying: new Map(), failed: new Map(), ...changes };
}

describe('a drifted node', () => {
  it('is the canary of a state that no node has', () => {
    const drifts = [drift(NEW_IMAGE), drift(NEW_TEMPLATE)];
    expect(verdictOf(drifts, trials({ proven: new Set([NEW_TEMPLATE]) }), 0)).toEqual({
      kind: 'canary',
      states: [NEW_IMAGE],
    });
  });

  it('goes freely once a node has the state, and where nothing is new', () => {
    const proven = new Set([NEW_IMAGE]);
    expect(verdictOf([drift(NEW_IMAGE)], trials({ proven }), 0)).toEqual({ kind: 'free' });
    expect(verdictOf([drift(undefined)], trials(), 0)).toEqual({ kind: 'free' });
  });

  it('waits while another one tries one of its states', () => {
    const trying = new Map([[NEW_IMAGE, 'general-abcde']]);
    const verdict = verdictOf([drift(NEW_TEMPLATE), drift(NEW_IMAGE)], trials({ trying }), 0);
    expect(verdict).toEqual({
      kind: 'blocked',
      why: reason('canary-pending', { nodeClaim: 'general-abcde', state: NEW_IMAGE }),
    });
  });

  it('stays where the state has failed, until it is tried again', () => {
    const failed = new Map([[NEW_IMAGE, 5]]);
    const at = (nowMs: number) => verdictOf([drift(NEW_IMAGE)], trials({ failed }), nowMs).kind;
    expect(at(5 + CANARY_RETRY_MS - 1)).toBe('blocked');
    expect(at(5 + CANARY_RETRY_MS)).toBe('canary');
    expect(CANARY_RETRY_MS).toBe(3_600_000);
    const until = new Date(5 + CANARY_RETRY_MS).toISOString();
    expect(verdictOf([drift(NEW_IMAGE)], trials({ failed }), 5)).toEqual({
      kind: 'blocked',
      why: reason('canary-failed-before', { state: NEW_IMAGE, until }),
    });
  });
});

describe('a canary', () => {
  const MINUTE = 60_000;
  const trial = (changes: Partial<NodeClaim>, nowMs: number) =>
    trialOf(claimOf('new', changes), 10 * MINUTE, nowMs).kind;
  const launched = { conditions: yes('Launched') };

  it('says on its claim what it tries', () => {
    const annotations = { 'joiner.dev/tries': triesText([NEW_TEMPLATE, NEW_IMAGE]) };
    expect(triedStates(claimOf('new', { annotations }))).toEqual([NEW_IMAGE, NEW_TEMPLATE]);
    expect(triedStates(claimOf('new'))).toEqual([]);
  });

  it('is not blamed for what it turned out not to have', () => {
    const spec = (hash: string) => `EC2NodeClass/default spec ${hash}`;
    const made = triesText([NEW_IMAGE, NEW_TEMPLATE, spec('a')]);
    const launched = (imageId: string, hash: string) =>
      triedStates(
        claimOf('new', {
          imageId,
          annotations: { 'joiner.dev/tries': made, 'karpenter.k8s.aws/ec2nodeclass-hash': hash },
        }),
      );
    expect(launched('ami-2', 'a')).toEqual([spec('a'), NEW_IMAGE, NEW_TEMPLATE].sort());
    expect(launched('ami-arm64', 'b')).toEqual([NEW_TEMPLATE]);
  });

  it('tries nothing of other NodePools and EC2NodeClasses', () => {
    const all = [NEW_IMAGE, NEW_TEMPLATE, 'EC2NodeClass/default-2 image ami-3'];
    expect(statesOf(all, 'other', 'default')).toEqual([NEW_IMAGE]);
    expect(statesOf(all, 'general', 'default-2')).toEqual(all.slice(1));
  });

  it.each<[string, Partial<NodeClaim>, number, string]>([
    ['is starting in its time', launched, 9.5 * MINUTE - 1, 'starting'],
    ['has failed at the pass that is nearest to its end', launched, 9.5 * MINUTE, 'failed'],
    [
      'has failed though it is being deleted',
      { ...launched, deletedAtMs: 11 * MINUTE },
      12 * MINUTE,
      'failed',
    ],
    [
      'says nothing when it is deleted before',
      { ...launched, deletedAtMs: MINUTE },
      12 * MINUTE,
      'over',
    ],
    ['says nothing when it got no instance', {}, 10 * MINUTE, 'over'],
    [
      'says nothing when EC2 takes it',
      { ...launched, annotations: { 'joiner.dev/interrupted': 'spot' } },
      10 * MINUTE,
      'over',
    ],
    ['is over when it is initialised', { conditions: yes('Launched', 'Initialized') }, 0, 'over'],
  ])('%s', (_, changes, nowMs, expected) => {
    expect(trial(changes, nowMs)).toBe(expected);
  });

  it('says how long it had, and what its claim says of that', () => {
    const no = {
      type: 'Registered',
      status: 'False',
      reason: 'No',
      lastTransitionAtMs: 0,
    } as const;
    const conditions = [...yes('Launched'), { ...no, message: 'no node yet' }];
    const why = reason('canary-late', { nodeClaim: 'new', minutes: 10, said: 'no node yet' });
    expect(trialOf(claimOf('new', { conditions }), 10 * MINUTE, 10 * MINUTE)).toEqual({
      kind: 'failed',
      why,
    });
  });
});

describe('failed canaries', () => {
  it('are kept in an annotation', () => {
    const failed = new Map([
      [NEW_TEMPLATE, Date.UTC(2026, 0, 1)],
      [NEW_IMAGE, Date.UTC(2026, 0, 2)],
    ]);
    const text = failedCanariesText(failed) ?? '';
    expect(new Map(failedCanaries({ 'joiner.dev/failed-canaries': text }))).toEqual(failed);
    expect(failedCanariesText(new Map())).toBeNull();
  });

  it.each(['', '{', '[]', '"a"', 'null', '{"a":1}', '{"a":"soon"}'])('are none in %j', (text) => {
    expect(failedCanaries({ 'joiner.dev/failed-canaries': text }).size).toBe(0);
  });
});
