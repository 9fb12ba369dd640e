import { describe, expect, it } from 'vitest';
import { isUnsettled } from '../../../../shared/core/disruption/consolidation/unsettled.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { podOf, podsOf } from '../../../builders/scheduling.ts';

const SECOND = 1000;
const NOW = 1e9;

const came = (ms: number, rest: Partial<Pod> = {}) =>
  podOf('new', {}, { nodeName: 'a', createdAtMs: NOW - ms, ...rest });
const going = (ms: number) =>
  podOf('gone', {}, { deletedAtMs: NOW - ms + 5 * SECOND, deletionGraceSeconds: 5 });
const daemon = { controller: { kind: 'DaemonSet', name: 'd', uid: 'd' } };

describe('pods are coming and going', () => {
  it.each<[string, Pod, number, boolean]>([
    ['where one was made a moment ago', came(14 * SECOND), 0, true],
    ['no more after 15 seconds', came(15 * SECOND), 0, false],
    ['where one was told to go a moment ago', going(14 * SECOND), 0, true],
    ['no more 15 seconds after that', going(15 * SECOND), 0, false],
    ['whatever DaemonSets do', came(0, daemon), 0, false],
    ['where it is one of a hundred', came(0), 99, true],
    ['not where it is one of more', came(0), 100, false],
  ])('%s', (_, pod, others, expected) => {
    expect(isUnsettled([...podsOf(others, 'old', {}), pod], NOW)).toBe(expected);
  });

  it('nowhere without pods', () => {
    expect(isUnsettled([], NOW)).toBe(false);
  });
});
