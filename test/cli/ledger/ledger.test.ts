import { describe, expect, it } from 'vitest';
import type {
  LaunchFacts,
  LaunchFigures,
  PlannedMove,
  SearchFacts,
} from '../../../cli/ledger/figures.ts';
import { type Ledger, ledgerOf } from '../../../cli/ledger/ledger.ts';
import { LedgerRecords, type MoveOutcome } from '../../../cli/ledger/ledger-records.ts';
import { ledgerText } from '../../../cli/ledger/render.ts';
import { type ReadDecision, readDecisionSchema } from '../../../shared/api/decision-record.ts';

const HOUR_MS = 3_600_000;
const OFFERING = { type: 'm6i.large', zone: 'us-east-1a', capacityType: 'spot' };
const SPAN = { fromMs: 0, toMs: 100 * HOUR_MS };

function record(hour: number, claim: string, useCase: string, action: string, detail: object = {}) {
  const atMs = hour * HOUR_MS;
  const id = `${useCase}-${claim}-${action}-${hour}`;
  const object = `NodeClaim/${claim}`;
  return readDecisionSchema.parse({ id, atMs, useCase, object, action, message: 'why', detail });
}

/** A NodeClaim's records: created for a pod, launched, and terminated. */
function life(claim: string, pod: string, from: number, to?: number): readonly ReadDecision[] {
  const detail = { nodePool: 'web', pods: [pod] };
  const ends = to === undefined ? [] : [record(to, claim, 'lifecycle', 'terminate')];
  const launched = record(from, claim, 'provision', 'launch', { nodePool: 'web' });
  return [record(from, claim, 'provision', 'create', detail), launched, ...ends];
}

function figures(...nodes: readonly (readonly [pod: string, price: number])[]): LaunchFigures {
  return {
    nodes: nodes.map(([pod, usdPerHour]) => {
      return { ...OFFERING, nodePool: 'web', usdPerHour, pods: [pod] };
    }),
    usdPerHour: nodes.reduce((sum, [, price]) => sum + price, 0),
    podsPlaced: nodes.length,
  };
}

const HEAD = { file: 'file', joiner: '0.1.0', currency: 'USD' } as const;

function launch(hour: number, recorded: LaunchFigures, firstFit: LaunchFigures): LaunchFacts {
  return { ...HEAD, useCase: 'provision', atMs: hour * HOUR_MS, recorded, firstFit };
}

function ledger(
  records: readonly ReadDecision[],
  facts: readonly (LaunchFacts | SearchFacts)[],
): Ledger {
  return ledgerOf(
    records.toSorted((a, b) => a.atMs - b.atMs),
    facts,
    SPAN,
  );
}

describe('a launch', () => {
  it.each([
    // Both nodes for ten hours: first fit costs 10 × (0.3 − 0.2) more.
    [10, 10, 10, 1],
    // 0.15 for ten hours and 0.05 for two: 8 hours weighted by price.
    [10, 2, 8, 0.8],
  ])('of two nodes for %d and %d hours counts %d hours', (first, second, hours, saved) => {
    const records = [...life('a', 'shop/a', 1, 1 + first), ...life('b', 'shop/b', 1, 1 + second)];
    const planned = figures(['shop/a', 0.15], ['shop/b', 0.05]);
    const found = ledger(records, [launch(1, planned, figures(['shop/a', 0.2], ['shop/b', 0.1]))]);
    expect(found.launches).toMatchObject([{ claims: ['a', 'b'], notCompared: undefined }]);
    expect(found.launches[0]?.hours).toBeCloseTo(hours, 12);
    expect(found.totals.savedUsd).toBeCloseTo(saved, 12);
  });

  it('runs until the end of the time where it was not terminated', () => {
    const both = figures(['shop/a', 0.1]);
    expect(ledger(life('a', 'shop/a', 40), [launch(40, both, both)]).launches[0]?.hours).toBe(60);
  });

  it('compares no more nodes than were launched: a claim without an instance is none', () => {
    const [created] = life('b', 'shop/b', 1);
    const records = [...life('a', 'shop/a', 1, 2), ...(created === undefined ? [] : [created])];
    const planned = figures(['shop/a', 0.1], ['shop/b', 0.1]);
    const { launches, totals } = ledger(records, [launch(1, planned, planned)]);
    expect(launches).toMatchObject([{ claims: ['a', 'b'], notCompared: undefined }]);
    expect(totals).toMatchObject({ nodesLaunched: 1, nodesCompared: 1 });
  });

  it('that places other pods than first fit is not counted', () => {
    const facts = launch(1, figures(['shop/a', 0.1]), figures(['shop/a', 0.1], ['shop/b', 0.1]));
    const { launches, totals } = ledger(life('a', 'shop/a', 1, 2), [facts]);
    expect(launches).toMatchObject([{ notCompared: 'other-pods-placed', savedUsd: undefined }]);
    expect(totals).toMatchObject({ usd: 0, savedUsd: 0, nodesLaunched: 1, nodesCompared: 0 });
  });

  it('whose nodes never ran is not counted, nor one of another time with the same pods', () => {
    const facts = launch(1, figures(['shop/a', 0.1]), figures(['shop/a', 0.2]));
    const { launches } = ledger(life('a', 'shop/a', 3, 4), [facts]);
    expect(launches).toMatchObject([{ notCompared: 'not-launched', claims: [] }]);
  });
});

describe('a node that was launched before the time', () => {
  const facts = [launch(1, figures(['shop/a', 0.1]), figures(['shop/a', 0.2]))];
  const between = (from: number, to: number, records = life('a', 'shop/a', 1, 9)) =>
    ledgerOf(records, facts, { fromMs: from * HOUR_MS, toMs: to * HOUR_MS });

  it('counts for the part of its life that lies in the time', () => {
    const { totals, notes, launches } = between(5, 100);
    expect(launches).toMatchObject([{ atMs: HOUR_MS, hours: 4, notCompared: undefined }]);
    expect(totals).toMatchObject({ nodesRan: 1, nodesLaunched: 0, nodesCompared: 1 });
    expect(totals.usd).toBeCloseTo(0.4, 12);
    expect(totals.savedUsd).toBeCloseTo(0.4, 12);
    expect(notes).toEqual([]);
    expect(ledgerText(between(5, 100))).toMatch(/^Nodes that ran +1\n {2}launched .* 0$/m);
  });

  it('adds up over times that follow each other', () => {
    const whole = between(0, 12).totals.usd;
    const parts = [between(0, 3), between(3, 6), between(6, 12)].map(({ totals }) => totals.usd);
    expect(parts.every((each) => each > 0)).toBe(true);
    expect(parts.reduce((a, b) => a + b)).toBeCloseTo(whole, 12);
  });

  it('is no more there once it has gone', () => {
    expect(between(10, 20)).toMatchObject({ launches: [], totals: { nodesRan: 0, usd: 0 } });
  });

  it('is named where no record has its launch, or no recording its plan', () => {
    const [, , ended] = life('a', 'shop/a', 1, 9);
    const { notes, totals } = between(5, 100, ended === undefined ? [] : [ended]);
    expect(totals.nodesRan).toBe(0);
    expect(notes).toEqual([
      '1 of the nodes that ended in this time have no record of their launch, not counted: a',
    ]);
    const other = between(5, 100, life('b', 'shop/b', 1, 9));
    expect(other.notes).toEqual([
      '1 of the nodes that ran have no recording of the plan that launched them, not counted: b',
    ]);
    expect(ledgerText(other)).toContain('note: 1 of the nodes that ran');
  });
});

const MOVE: PlannedMove = {
  claims: ['old'],
  beforeUsdPerHour: 0.4,
  afterUsdPerHour: 0.1,
  replacements: 1,
  newNodes: [{ nodePool: 'web', ...OFFERING, usdPerHour: 0.1 }],
  evictions: 3,
  horizonHours: 4,
};

function search(hour: number, recorded: readonly PlannedMove[]): SearchFacts {
  const atMs = hour * HOUR_MS;
  return { ...HEAD, useCase: 'disrupt', atMs, recorded };
}

describe('a move', () => {
  const replace = record(10, 'old', 'disrupt', 'replace');
  const removed = record(10.5, 'old', 'disrupt', 'delete');
  const ended = (hour: number) => record(hour, 'old', 'lifecycle', 'terminate');

  it('is counted for its own horizon', () => {
    const short = { ...MOVE, horizonHours: 2 };
    const { totals } = ledger([replace, removed, ended(11)], [search(10, [short])]);
    // 0.3 for one hour, less 0.1 for the hour in which both ran.
    expect(totals.savedUsd).toBeCloseTo(0.2, 12);
  });

  it.each<[MoveOutcome, readonly ReadDecision[], number]>([
    // 0.3 for three hours, less 0.1 for the hour in which both ran.
    ['done', [replace, removed, ended(11)], 0.8],
    // Terminated after the horizon: four hours of the replacement, and nothing saved.
    ['done', [replace, removed, ended(20)], -0.4],
    ['given-up', [replace, record(10.4, 'old', 'disrupt', 'none')], 0],
    // Its node was interrupted, or deleted by hand, before the replacement was ready.
    ['given-up', [replace, record(10.2, 'old', 'interrupt', 'delete'), ended(10.3)], 0],
    ['given-up', [replace, ended(10.3)], 0],
    ['under-way', [replace, removed], 0],
    ['not-begun', [], 0],
    // Of a later decision.
    ['not-begun', [record(12, 'old', 'disrupt', 'replace'), ended(13)], 0],
    ['not-begun', [record(10, 'old', 'interrupt', 'delete'), ended(10.1)], 0],
  ])('is %s', (outcome, records, saved) => {
    const { moves, totals } = ledger(records, [search(10, [MOVE])]);
    expect(moves).toMatchObject([{ outcome }]);
    expect(totals.savedUsd).toBeCloseTo(saved, 12);
    expect(totals.evictions).toBe(outcome === 'done' ? 3 : 0);
  });
});

it('a move that is forbidden, and found again a minute later, is counted once', () => {
  const minute = 1 / 60;
  const detail = { nodePool: 'web', replacements: ['new'] };
  const records = [
    record(10 + minute, 'old', 'disrupt', 'replace', detail),
    record(10 + minute, 'new', 'provision', 'launch', { nodePool: 'web', chosen: OFFERING }),
    record(10.5, 'old', 'disrupt', 'delete'),
    record(11, 'old', 'lifecycle', 'terminate'),
  ];
  const searches = [search(10, [MOVE]), search(10 + minute, [MOVE])];
  const { moves, totals, replacements } = ledger(records, searches);
  expect(moves.map(({ outcome }) => outcome)).toEqual(['not-begun', 'done']);
  expect(totals.evictions).toBe(3);
  expect(replacements).toHaveLength(1);
});

describe('a replacement', () => {
  const launched = (hour: number, claim: string, chosen: object = OFFERING) =>
    record(hour, claim, 'provision', 'launch', { nodePool: 'web', chosen });
  const replaced = (hour: number, claim: string, ...replacements: readonly string[]) =>
    record(hour, claim, 'disrupt', 'replace', { nodePool: 'web', replacements });
  const removed = [
    record(10.5, 'old', 'disrupt', 'delete'),
    record(11, 'old', 'lifecycle', 'terminate'),
  ];
  const records = [
    ...life('old', 'shop/a', 1),
    replaced(10, 'old', 'new'),
    ...removed,
    launched(10, 'new'),
    record(30, 'new', 'lifecycle', 'terminate'),
  ];
  const plan = figures(['shop/a', 0.4]);

  it('costs what it ran, also after the horizon, and is in no note', () => {
    const { totals, replacements, notes, moves } = ledger(records, [
      launch(1, plan, plan),
      search(10, [MOVE]),
    ]);
    expect(replacements).toMatchObject([{ claim: 'new', usdPerHour: 0.1, hours: 20 }]);
    expect(totals).toMatchObject({ nodesRan: 2, nodesCompared: 1, nodesReplacing: 1 });
    expect(totals.replacementsUsd).toBeCloseTo(2, 12);
    // 0.4 for ten hours, and 0.1 for twenty.
    expect(totals.costUsd).toBeCloseTo(6, 12);
    expect(notes).toEqual([]);
    expect(moves[0]).not.toHaveProperty('newNodes');
  });

  it('counts for the part of its life in the time, as its move was before it', () => {
    const span = { fromMs: 20 * HOUR_MS, toMs: 100 * HOUR_MS };
    const { totals, moves, notes } = ledgerOf(records, [search(10, [MOVE])], span);
    expect(totals).toMatchObject({ nodesReplacing: 1, replacementsUsd: 1, costUsd: 1 });
    expect({ moves, notes }).toEqual({ moves: [], notes: [] });
    expect(new LedgerRecords(records, span).launchedFor(10 * HOUR_MS)).toBe(true);
  });

  it('has the price of the planned node that EC2 launched', () => {
    const dear = { ...OFFERING, type: 'm6i.4xlarge' };
    const newNodes = [
      { nodePool: 'web', ...dear, usdPerHour: 0.8 },
      { nodePool: 'web', ...OFFERING, usdPerHour: 0.1 },
    ];
    const both = [
      replaced(10, 'old', 'small', 'other'),
      ...removed,
      launched(10, 'small'),
      // EC2 had another type than the one that was planned.
      launched(10, 'other', { ...dear, type: 'm6a.4xlarge' }),
    ];
    const { replacements } = ledger(both, [search(10, [{ ...MOVE, replacements: 2, newNodes }])]);
    expect(replacements.map(({ claim, usdPerHour }) => [claim, usdPerHour])).toEqual([
      ['small', 0.1],
      ['other', 0.8],
    ]);
  });

  it('of several nodes counts once; one that never ran is none', () => {
    const several = [
      replaced(10, 'old', 'new'),
      replaced(10, 'older', 'new'),
      launched(10, 'new'),
      replaced(40, 'late', 'never'),
    ];
    const facts = [
      search(10, [{ ...MOVE, claims: ['old', 'older'] }]),
      search(40, [{ ...MOVE, claims: ['late'] }]),
    ];
    expect(ledger(several, facts).replacements.map(({ claim }) => claim)).toEqual(['new']);
  });

  it('of a plan that is not recorded is named', () => {
    const { notes, totals } = ledger(records, [launch(1, plan, plan)]);
    expect(totals.replacementsUsd).toBe(0);
    expect(notes).toEqual([
      '1 of the nodes that ran replaced others by a plan that is not recorded, as those for drift, not counted: new',
    ]);
  });
});

it('counts interruptions and deletions, and claims nothing for them', () => {
  const records = [
    ...life('a', 'shop/a', 1, 6),
    record(5, 'a', 'interrupt', 'delete', { reason: 'spot_interrupted', nodePool: 'web' }),
    ...life('b', 'shop/b', 1, 9),
    record(8, 'b', 'disrupt', 'delete', { reason: 'empty', nodePool: 'web' }),
  ];
  const found = ledger(records, []);
  const interrupted = { nodePool: 'web', kind: 'spot_interrupted', nodes: 1, hours: 5 };
  expect(found.interruptions).toEqual([interrupted]);
  expect(found.ends).toEqual([{ useCase: 'disrupt', reason: 'empty', nodes: 1 }]);
  expect(found.totals.savedUsd).toBe(0);
  expect(ledgerText(found)).toContain(
    '  1 in NodePool web: spot_interrupted, after 5.0 node hours\n',
  );
});
