import { describe, expect, it } from 'vitest';
import { type Summarised, summaryText } from '../../../cli/solve/summary.ts';
import type { PlannedNodeClaim, UnplacedReason } from '../../../shared/core/model/plan.ts';

const pods = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, index) => `default/p${index}`);

/** A summary needs no more of a claim. */
const claim = (count: number, zone = 'us-east-1a') =>
  ({ pods: pods(count), chosen: { zone } }) as unknown as PlannedNodeClaim;

const left = (count: number): ReadonlyMap<string, UnplacedReason> =>
  new Map(pods(count).map((pod) => [pod, {} as UnplacedReason]));

const NOTHING: Summarised['plan'] = {
  newNodeClaims: [],
  existing: [],
  unplaced: new Map(),
  pricePerHour: 0,
  listPricePerHour: 0,
};
const TWO = {
  ...NOTHING,
  newNodeClaims: [claim(900), claim(99)],
  existing: [{ node: 'node-0', pods: pods(1) }],
  pricePerHour: 1.5,
  listPricePerHour: 1.5,
};
const PLAIN: Summarised = { plan: TWO, bound: undefined, overlays: [], isStrict: false };
const BOUND = { pricePerHour: 1.4, gapPercent: 7.142857, weaker: false };
const PLACED = '2 new nodes, $1.5000/h, 1,000 of 1,000 pods placed';

const CASES: readonly {
  readonly name: string;
  readonly given: Partial<Summarised>;
  readonly text: string;
}[] = [
  { name: 'all pods are placed', given: {}, text: `${PLACED}\n` },
  {
    name: 'there is nothing to place',
    given: { plan: NOTHING },
    text: '0 new nodes, $0.0000/h, 0 of 0 pods placed\n',
  },
  {
    name: 'one pod and one node',
    given: { plan: { ...TWO, newNodeClaims: [claim(1)], existing: [] } },
    text: '1 new node, $1.5000/h, 1 of 1 pod placed\n',
  },
  {
    name: 'overlays change the price',
    given: { plan: { ...TWO, pricePerHour: 0.75 } },
    text: '2 new nodes, $1.5000/h ($0.7500/h after overlays), 1,000 of 1,000 pods placed\n',
  },
  {
    name: 'the zone is in China',
    given: { plan: { ...TWO, newNodeClaims: [claim(2, 'cn-north-1a')], existing: [] } },
    text: '1 new node, ¥1.5000/h, 2 of 2 pods placed\n',
  },
  {
    name: 'a bound was asked for',
    given: { bound: BOUND },
    text: `${PLACED}, 7.1 % above the lower bound $1.4000/h\n`,
  },
  {
    name: 'the bound is the weaker one',
    given: { bound: { ...BOUND, weaker: true } },
    text: `${PLACED}, 7.1 % above the lower bound $1.4000/h (of sums of resources alone)\n`,
  },
  {
    name: 'the bound is 0',
    given: { bound: { ...BOUND, pricePerHour: 0, gapPercent: undefined } },
    text: `${PLACED}, the lower bound is $0.0000/h\n`,
  },
  {
    name: 'pods are left over',
    given: { plan: { ...TWO, unplaced: left(1200) } },
    text:
      '2 new nodes, $1.5000/h, 1,000 of 2,200 pods placed\n' +
      '1,200 pods left unplaced: --strict makes this exit code 1\n',
  },
  {
    name: 'a pod is left over, an overlay is not ready, and that is an error',
    given: {
      plan: { ...TWO, unplaced: left(1) },
      overlays: [{ ready: true }, { ready: false }],
      isStrict: true,
    },
    text:
      '2 new nodes, $1.5000/h, 1,000 of 1,001 pods placed\n' +
      '1 pod left unplaced, 1 NodeOverlay not ready: exit code 1 (--strict)\n',
  },
];

describe('the summary of a plan', () => {
  it.each(CASES)('where $name', ({ given, text }) => {
    expect(summaryText({ ...PLAIN, ...given })).toBe(text);
  });
});
