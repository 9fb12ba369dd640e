import { describe, expect, it } from 'vitest';
import {
  isConsolidatable,
  podEvent,
  quietSinceMs,
  withConsolidatable,
} from '../../../shared/core/disruption/pod-events.ts';
import { PODS_HASH } from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { claimOf, podOf, yes } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;
const KNOWN = NOW - 20 * MINUTE;
const INITIALIZED = NOW - 50 * MINUTE;
const GRACE = 30_000;

const conditions = yes('Initialized').map((each) => ({ ...each, lastTransitionAtMs: INITIALIZED }));

const pod = (name: string, rest: Partial<Pod> = {}): Pod =>
  podOf(
    name,
    { terminationGracePeriodSeconds: GRACE / 1000 },
    { nodeName: 'a', startedAtMs: KNOWN - MINUTE, ...rest },
  );
const came = (name: string, ms: number) => pod(name, { startedAtMs: NOW - ms });
const going = (name: string, ms: number) => pod(name, { deletedAtMs: NOW - ms + GRACE });
const ended = (name: string) => pod(name, { phase: 'Succeeded' });
const daemon = { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } };

/** A claim whose last pod event was noted when its node had these pods. */
function noted(pods: readonly Pod[], lastPodEventAtMs: number | undefined = KNOWN): NodeClaim {
  const { hash } = podEvent({ claim: claimOf('a'), pods }, KNOWN);
  return claimOf('a', { conditions, lastPodEventAtMs, annotations: { [PODS_HASH]: hash } });
}

describe('the last pod event of a node', () => {
  const two = [pod('p'), pod('q')];
  const claim = noted(two);
  it.each<[string, readonly Pod[], number]>([
    ['is as noted while its pods stay', two, KNOWN],
    ['is as noted whatever their order', two.toReversed(), KNOWN],
    [
      'is as noted whatever DaemonSets do',
      [...two, pod('d', { ...daemon, startedAtMs: NOW })],
      KNOWN,
    ],
    ['is when a pod came', [...two, came('r', 5 * MINUTE)], NOW - 5 * MINUTE],
    ['is when the newest came', [...two, came('r', 5000), came('s', 9000)], NOW - 5000],
    ['is when a pod was told to go', [pod('p'), going('q', 7000)], NOW - 7000],
    [
      'is when it was told to, by the grace period of its deletion',
      [pod('p'), pod('q', { deletedAtMs: NOW + 1000, deletionGraceSeconds: 3 })],
      NOW - 2000,
    ],
    ['is the later of the two', [pod('p'), going('q', 7000), came('r', 3000)], NOW - 3000],
    [
      'is when a pod that came was told to go',
      [...two, { ...going('r', 2000), startedAtMs: NOW - 9000 }],
      NOW - 2000,
    ],
    ['is now where a pod has gone unseen', [pod('p')], NOW],
    ['is now where all have', [], NOW],
    ['is now where one has ended', [pod('p'), ended('q')], NOW],
    ['is now where one was replaced unseen', [pod('p'), came('r', 5000)], NOW],
    ['is not in the future', [...two, came('r', -MINUTE)], NOW],
  ])('%s', (_, pods, expected) => {
    expect(podEvent({ claim, pods }, NOW).atMs).toBe(expected);
  });

  it('is the same again once it is noted, until something else happens', () => {
    const pods = [pod('p'), going('q', 7000), came('r', 3000)];
    const { hash, atMs } = podEvent({ claim, pods }, NOW);
    const next = { ...claim, lastPodEventAtMs: atMs, annotations: { [PODS_HASH]: hash } };
    const later = NOW + 10 * MINUTE;
    expect(podEvent({ claim: next, pods }, later).atMs).toBe(NOW - 3000);
    const gone = [pod('p'), came('r', 3000)];
    expect(podEvent({ claim: next, pods: gone }, later).atMs).toBe(NOW - 3000);
    expect(podEvent({ claim: next, pods: [...gone, came('s', -MINUTE)] }, later).atMs).toBe(
      NOW + MINUTE,
    );
  });

  it('is what its pods say where nobody has noted it', () => {
    const fresh = claimOf('a', { conditions });
    expect(podEvent({ claim: fresh, pods: [] }, NOW).atMs).toBeUndefined();
    expect(podEvent({ claim: fresh, pods: two }, NOW).atMs).toBe(KNOWN - MINUTE);
    const adopted = { ...fresh, lastPodEventAtMs: KNOWN };
    expect(podEvent({ claim: adopted, pods: two }, NOW).atMs).toBe(KNOWN);
    expect(podEvent({ claim: adopted, pods: [came('r', 1000)] }, NOW).atMs).toBe(NOW - 1000);
  });

  it('is when a pod came that is noted already, with an earlier time', () => {
    const pods = [...two, came('r', 5000)];
    expect(podEvent({ claim: noted(pods), pods }, NOW).atMs).toBe(NOW - 5000);
  });

  it('never goes back', () => {
    const late = noted(two, NOW - 1000);
    expect(podEvent({ claim: late, pods: [...two, came('r', 5000)] }, NOW).atMs).toBe(NOW);
  });
});

describe('a node is consolidatable', () => {
  const quiet = { claim: noted([]), pods: [] };
  it.each([
    ['at once', 0, KNOWN, true],
    ['at once, also by a clock that is behind', 0, INITIALIZED - 1, true],
    ['never', 'Never' as const, KNOWN + 100 * MINUTE, false],
    ['not before its time', MINUTE, KNOWN + MINUTE - 1, false],
    ['so long after the last pod event', MINUTE, KNOWN + MINUTE, true],
  ])('%s', (_, consolidateAfter, nowMs, expected) => {
    expect(isConsolidatable(quiet, consolidateAfter, nowMs)).toBe(expected);
  });

  it('so long after it was initialised, where no pod has come', () => {
    const claim = claimOf('a', { conditions });
    expect(quietSinceMs({ claim, pods: [] }, NOW)).toBe(INITIALIZED);
  });

  it('never where it is not initialised', () => {
    const claim = claimOf('a');
    expect(quietSinceMs({ claim, pods: [] }, NOW)).toBe(NOW);
    expect(isConsolidatable({ claim, pods: [] }, MINUTE, NOW)).toBe(false);
  });
});

describe('the condition', () => {
  const old = [...yes('Initialized'), ...yes('Empty')];
  it('is there or not, and none of old versions', () => {
    const [is, initialized] = withConsolidatable(old, true, NOW);
    expect(is).toMatchObject({ type: 'Consolidatable', status: 'True', lastTransitionAtMs: NOW });
    expect(initialized).toEqual(old[0]);
    expect(withConsolidatable([...old, ...yes('Consolidatable')], false, NOW)).toEqual([old[0]]);
  });
});
