import { describe, expect, it } from 'vitest';
import { shrunk } from './shrink.ts';
import { swarm } from './swarm.ts';

/** More at night. */
const SEEDS = Number(process.env['JOINER_SWARM_SEEDS'] ?? 16);
const FIRST = Number(process.env['JOINER_SWARM_FIRST'] ?? 1);

/** What worlds may have by the time of the newest of these seeds. */
const WITH_PARTS = {
  ...{ mayPause: true, mayReserve: true, mayStore: true, mayBeLate: true },
  ...{ mayBeSlow: true, mayFail: true, mayBound: true },
};

/**
 * Seeds that have shown something once, and what it was. Their worlds have no rare kinds, where a
 * seed does not say otherwise.
 */
const REGRESSIONS: readonly (readonly [number, string, Parameters<typeof swarm>[1]])[] = [
  [
    31031,
    'drift launched in the second in which a window of the NodePool began to pause launches',
    {},
  ],
  [80093, 'drift exceeded the cap of a limit group after an answer that was lost', {}],
  [60005, 'budgets were held against a node whose instance was being terminated already', {}],
  [700111, 'a drifted node stayed at a limit without room for its replacement, as it should', {}],
  [99009, 'a drain that waits for ever used up the budget for drift, which is as it should be', {}],
  [
    4005,
    'pods that the restart of their Deployment replaces got nodes beside those of the new pods',
    { isPlain: false, hasPools: false },
  ],
  [
    424,
    'a NodePool got a node for one whose Node somebody had deleted, at its limit, as it should',
    { isPlain: false, hasPools: true },
  ],
  [
    83,
    'two nodes went together for what the guard asks of a move, and each alone saved less',
    { isPlain: false, hasPools: true },
  ],
  [
    222,
    'a static node went in a window of a budget that had begun after its replacement, as it should',
    { isPlain: false, hasPools: true },
  ],
  [
    71023,
    'an invocation that had lost its Lease created NodeClaims beside those of the next',
    { isPlain: false, hasPools: true },
  ],
  [
    300005,
    'a move went on though somebody had deleted another node since, as it should',
    { isPlain: false, hasPools: true },
  ],
  [
    10041,
    'a move restarted a Deployment, which needed a node more meanwhile, which the next move removed',
    { isPlain: false, hasPools: true },
  ],
  [
    20053,
    'a replacement that was given up with pods stayed above the limit, as it should',
    { isPlain: false, hasPools: true },
  ],
  [
    30073,
    'too few types were cheaper for minValues, so that nodes stayed dear, as they should',
    { isPlain: false, hasPools: false },
  ],
  [
    30090,
    'a spot node stayed whose pods had no room elsewhere, as it should',
    { isPlain: false, hasPools: false },
  ],
  [
    20027,
    'a spot node stayed since the restart of a Deployment would need more room, as it should',
    { isPlain: false, hasPools: true },
  ],
  [
    63063,
    'consolidation moved pods to a cheaper NodePool, from which they returned, again and again',
    { isPlain: false, hasPools: true },
  ],
  [
    64014,
    'a static node whose creation was not answered was not counted in a limit group',
    { isPlain: false, hasPools: false },
  ],
  [
    67106,
    'four nodes were replaced together, each by one, for what the guard asks of them together',
    { isPlain: false, hasPools: true },
  ],
  [
    668087,
    'a node stayed whose pods had the room of a drain that a quota held for ever, as it should',
    { isPlain: false, ...WITH_PARTS },
  ],
  [
    99011,
    'the limit was exceeded with the room of a tainted node whose deletion then failed',
    {
      minutes: 30,
      faults: ['api-answer-lost', 'api-stale-read'],
      actions: [
        ...(['delete-nodeclaim', 'delete-pod', 'new-template'] as const),
        ...(['price-change', 'lose-kubelet', 'pause-pool'] as const),
      ],
    },
  ],
];

/** What came later is in none of these worlds. */
const AS_FOUND = {
  mayReserve: false,
  mayStore: false,
  mayBeLate: false,
  mayBeSlow: false,
  mayFail: false,
  mayBound: false,
  mayLimitVolumes: false,
  mayHaveDevices: false,
  mayRemove: false,
};

describe('clusters with faults', () => {
  it.each(REGRESSIONS)('seed %d: %s', async (seed, _, choices) => {
    const given = { ...{ isPlain: true, mayPause: false }, ...AS_FOUND };
    expect((await swarm(seed, { ...given, ...choices })).problems).toEqual([]);
  });

  const seeds = Array.from({ length: SEEDS }, (_, at) => FIRST + at);

  it.each(seeds)('seed %d: nothing is broken, and all comes to rest', async (seed) => {
    expect((await swarm(seed)).problems).toEqual([]);
  });

  it('are the same from the same seed', async () => {
    const runs = await Promise.all(
      [0, 1].map(async () => {
        const lines: string[] = [];
        await swarm(7, { minutes: 10, trace: (line) => lines.push(line) });
        return lines;
      }),
    );
    expect(runs[0]?.length).toBeGreaterThan(100);
    expect(runs[0]).toEqual(runs[1]);
  });

  it('have no fault that was not asked for', async () => {
    const { marks } = await swarm(3, {
      ...{ minutes: 10, faults: ['killed'], actions: [], mayPause: false },
      ...AS_FOUND,
    });
    expect([...marks.keys()].filter((name) => !name.endsWith(' failed'))).toEqual(['killed']);
  });
});

describe('a run that fails', () => {
  it('loses the faults and actions that it does not need', async () => {
    const needed = (choices: { readonly faults: readonly string[] }): boolean =>
      choices.faults.includes('frozen');
    const given = { minutes: 20, faults: ['killed', 'frozen'], actions: ['scale'] } as const;
    const least = await shrunk(given, async (choices) => needed(choices));
    expect(least).toEqual({ minutes: 5, faults: ['frozen'], actions: [] });
  });
});
