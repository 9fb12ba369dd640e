import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { decodeCase } from '../../shared/api/case/decode.ts';
import type { Pod } from '../../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../shared/core/model/snapshot.ts';
import { firstFit } from '../../shared/core/scheduling/first-fit/first-fit.ts';
import { solve } from '../../shared/core/scheduling/solve.ts';
import { caseOf } from '../parity/first-fit/cases.ts';
import { checkPlan } from '../support/check-plan.ts';

const OPTIONS = { seed: 20, numRuns: 60 };

/** Cases that nobody was asked about, the small ones of them. */
const seeds = fc
  .integer({ min: 1000, max: 4000 })
  .filter((seed) => seed % 13 !== 0 && seed % 4 !== 0);

function problemOf(seed: number) {
  const decoded = decodeCase(caseOf(seed));
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value;
}

/** The plan as text; maps become lists, sorted as the plan's lists are not. */
function textOf(snapshot: ClusterSnapshot, settings: SchedulingSettings): string {
  const { unplaced, ignored, ...rest } = firstFit(snapshot, settings);
  return JSON.stringify({
    ...rest,
    unplaced: [...unplaced].sort(([a], [b]) => (a < b ? -1 : 1)),
    ignored: [...ignored].sort(([a], [b]) => (a < b ? -1 : 1)),
  });
}

function shuffled<Each>(list: readonly Each[], by: number): readonly Each[] {
  const turned = list.map((each, at) => ({ each, key: Math.imul(at + 1, by | 1) >>> 8 }));
  return turned.sort((a, b) => a.key - b.key).map(({ each }) => each);
}

describe('Karpenter’s way', () => {
  it('answers the same whatever the order of the lists', () => {
    fc.assert(
      fc.property(seeds, fc.integer({ min: 1 }), (seed, by) => {
        const { snapshot, settings } = problemOf(seed);
        const { instanceTypes } = snapshot;
        const other: ClusterSnapshot = {
          ...snapshot,
          pods: shuffled(snapshot.pods, by),
          nodes: shuffled(snapshot.nodes, by),
          nodePools: shuffled(snapshot.nodePools, by),
          daemonSets: shuffled(snapshot.daemonSets, by),
          instanceTypes: new Map(
            [...instanceTypes].map(([pool, types]) => [pool, shuffled(types, by)]),
          ),
        };
        expect(textOf(other, settings)).toBe(textOf(snapshot, settings));
      }),
      OPTIONS,
    );
  });

  it('breaks no rule and answers for each pod once', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const subject = problemOf(seed);
        const plan = firstFit(subject.snapshot, subject.settings);
        const preferences = { satisfiedWeight: 0, totalWeight: 0, byKind: {} };
        expect(checkPlan(subject, { ...plan, preferences })).toEqual([]);
      }),
      OPTIONS,
    );
  });

  it('leaves the pods as they are: a plan of ours is the same before and after', () => {
    fc.assert(
      fc.property(seeds, (seed) => {
        const { snapshot, settings } = problemOf(seed);
        const specs = snapshot.pods.map(({ spec }: Pod) => JSON.stringify(spec));
        const before = solve(snapshot, settings).pricePerHour;
        firstFit(snapshot, settings);
        expect(snapshot.pods.map(({ spec }) => JSON.stringify(spec))).toEqual(specs);
        expect(solve(snapshot, settings).pricePerHour).toBe(before);
      }),
      { ...OPTIONS, numRuns: 10 },
    );
  });
});
