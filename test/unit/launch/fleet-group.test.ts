import { describe, expect, it } from 'vitest';
import {
  clientToken,
  encodeMembership,
  groupClaims,
  launchTriedAtMs,
  membershipOf,
} from '../../../shared/core/launch/fleet-group.ts';
import { sha256 } from '../../../shared/core/launch/sha256.ts';
import { FLEET, LAUNCH_TRIED } from '../../../shared/core/model/labels.ts';
import { aNodeClaim } from './builders.ts';

const TOKEN = 'a'.repeat(64);

describe('the client token', () => {
  it('is the hash of the claims’ uids, in whatever order they come', () => {
    expect(clientToken(['b', 'a'], 0)).toBe(sha256('a,b'));
    expect(clientToken(['a', 'b'], 0)).toBe(sha256('a,b'));
  });

  it('is another after each failure', () => {
    expect(clientToken(['a', 'b'], 1)).toBe(sha256('a,b#1'));
    expect(clientToken(['a', 'b'], 2)).toBe(sha256('a,b#2'));
  });
});

it('is written in annotations that other versions read', () => {
  expect([FLEET, LAUNCH_TRIED]).toEqual(['joiner.dev/fleet', 'joiner.dev/launch-tried']);
});

describe('the group that is written on a claim', () => {
  const claimWith = (text: string) => aNodeClaim({ annotations: { [FLEET]: text } });

  it('is read as it was written', () => {
    const membership = { token: TOKEN, size: 12, attempt: 3 };
    expect(encodeMembership(membership)).toBe(`${TOKEN}/12/3`);
    expect(membershipOf(claimWith(encodeMembership(membership)))).toEqual(membership);
    const largest = { token: TOKEN, size: 9999, attempt: 9999 };
    expect(membershipOf(claimWith(encodeMembership(largest)))).toEqual(largest);
  });

  it.each([
    '',
    TOKEN,
    `${TOKEN}/1`,
    `${TOKEN}/1/0/0`,
    `x${TOKEN}/1/0`,
    `${TOKEN.slice(1)}/1/0`,
    `${TOKEN.replace('a', 'g')}/1/0`,
    `${TOKEN}/12345/0`,
    `${TOKEN}/1/12345`,
    `${TOKEN}/x/0`,
    `${TOKEN}/1/x`,
    `${TOKEN}/1/0 `,
  ])('is none in %j', (text) => {
    expect(membershipOf(claimWith(text))).toBeUndefined();
  });

  it('is none where nothing is written', () => {
    expect(membershipOf(aNodeClaim())).toBeUndefined();
  });
});

describe('since when a launch is tried', () => {
  const launched = (lastTransitionAtMs: number) => ({
    type: 'Launched',
    status: 'Unknown' as const,
    reason: '',
    message: '',
    lastTransitionAtMs,
  });
  const other = { ...launched(1), type: 'Registered' };
  const noted = { [LAUNCH_TRIED]: new Date(5000).toISOString() };

  it.each([
    ['nobody has', { conditions: [other] }, undefined],
    ['noted', { annotations: noted, conditions: [other] }, 5000],
    ['said by the condition', { conditions: [other, launched(7000)] }, 7000],
    ['both, the earlier', { annotations: noted, conditions: [launched(7000)] }, 5000],
    ['both, the other way round', { annotations: noted, conditions: [launched(3000)] }, 3000],
    ['noted, and unreadable', { annotations: { [LAUNCH_TRIED]: 'soon' } }, undefined],
    ['only its group is written', { annotations: { [FLEET]: `${TOKEN}/1/0` } }, 9000],
  ])('%s', (_, rest, expected) => {
    expect(launchTriedAtMs(aNodeClaim({ createdAtMs: 9000, ...rest }))).toBe(expected);
  });
});

describe('claims whose launch would say the same', () => {
  it('share a group, in parts of the largest size, in the order of uids', () => {
    const items = ['e', 'c', 'a', 'b', 'd'].map((uid) => ({
      claim: aNodeClaim({ uid }),
      same: uid === 'd' ? 'other' : 'equal',
    }));
    const names = (sizeMax: number) =>
      groupClaims(items, sizeMax).map((group) => group.map(({ claim }) => claim.uid).join(''));
    expect(names(2)).toEqual(['ab', 'ce', 'd']);
    expect(names(3)).toEqual(['abc', 'e', 'd']);
    expect(names(4)).toEqual(['abce', 'd']);
    expect(groupClaims([], 2)).toEqual([]);
  });
});
