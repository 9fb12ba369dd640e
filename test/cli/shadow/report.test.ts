import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { shadowReport } from '../../../cli/shadow/report.ts';
import type { Observation } from '../../../shared/api/observation.ts';
import { CONFIG } from '../kubeconfig.ts';
import { textOf } from '../page/made.ts';
import { inFolder, joiner } from '../run.ts';
import { validated } from '../validated.ts';
import { machine, node, observation, removal } from './made.ts';

/** Four pods wait a minute; Karpenter launches two nodes, Joiner would one; then a node goes. */
const launch = { ...machine('m7g.xlarge', 0.16), pods: ['a/1', 'a/2', 'a/3'], replaces: [] };
const pending = ['a/1', 'a/2', 'a/3', 'a/4'];
const old = node('old', 0.1);
const ALL: readonly Observation[] = [
  observation(0, {
    nodes: [old],
    pending,
    launches: [launch],
    unplaced: ['a/4'],
    usdPerHour: { now: 0.1, after: 0.26 },
  }),
  // The plan is the same until Karpenter's NodeClaims are there.
  observation(1, {
    nodes: [old, node('new-1', 0.12, { instanceType: null, usdPerHour: null })],
    pending,
    launches: [{ ...launch, pods: ['a/1', 'a/2'] }],
    unplaced: ['a/4'],
    usdPerHour: { now: 0.1, after: 0.26 },
  }),
  observation(2, {
    nodes: [old, node('new-1', 0.12), node('new-2', 0.12)],
    removals: [removal],
    usdPerHour: { now: 0.34, after: 0.24 },
  }),
  observation(4, {
    nodes: [{ ...old, isLeaving: true }, node('new-1', 0.12), node('new-2', 0.12)],
    removals: [removal],
    isKarpenterActive: false,
    usdPerHour: { now: 0.24, after: 0.24 },
  }),
  observation(5, {
    nodes: [node('new-1', 0.12), node('new-2', 0.12)],
    usdPerHour: { now: 0.24, after: 0.24 },
  }),
];

const wanted = (
  usdPerHour: number,
  ...pods: readonly string[]
): Observation['launches'][number] => ({
  ...machine('c6a.xlarge', usdPerHour),
  pods: [...pods],
  replaces: [],
});

/** A look at pods that wait, one planned node for each list of them. */
function waiting(minute: number, ...plan: readonly (readonly string[])[]): Observation {
  const launches = plan.map((pods) => wanted(0.1 * pods.length, ...pods));
  return observation(minute, { pending: plan.flat(), launches });
}

/** What Joiner would have launched: when, at which price, and for which pods. */
function joinerLaunches(all: readonly Observation[]): readonly string[] {
  return shadowReport(all)
    .launches.filter(({ by }) => by === 'joiner')
    .map(
      ({ at, usdPerHour, pods, replaces }) =>
        `${at.slice(14, 16)} ${usdPerHour?.toFixed(1)} ${[...pods, ...replaces].join(' ')}`,
    );
}

const lines = (all: readonly unknown[]): string =>
  all.map((each) => `${JSON.stringify(each)}\n`).join('');

describe('a report', () => {
  it('counts each launch and each removal once, and weighs prices by time', () => {
    const { figures, withoutKarpenter } = shadowReport(ALL);
    expect(withoutKarpenter).toBe(1);
    expect(figures.karpenter).toEqual({
      nodesLaunched: 2,
      launchedUsdPerHour: 0.24,
      nodesRemoved: 1,
      removedUsdPerHour: 0.1,
      evictions: 3,
      meanUsdPerHour: expect.closeTo((0.1 + 0.1 + 2 * 0.34 + 0.24) / 5, 10),
      pendingSeconds: 4 * 120,
    });
    expect(figures.joiner).toEqual({
      nodesLaunched: 1,
      launchedUsdPerHour: 0.16,
      nodesRemoved: 1,
      removedUsdPerHour: 0.1,
      evictions: 3,
      // The node is paid for until its removal has held for five minutes.
      meanUsdPerHour: expect.closeTo((0.26 + 0.26 + 2 * 0.34 + 0.24) / 5, 10),
      // One pod has no node for two minutes, and three wait a minute for theirs.
      pendingSeconds: 120 + 3 * 60,
    });
  });

  it('names what each would have launched and removed, in order of time', () => {
    const { launches, removals } = shadowReport(ALL);
    expect(launches.map(({ by, instanceType }) => `${by} ${instanceType}`)).toEqual([
      'joiner m7g.xlarge',
      'karpenter m6i.large',
      'karpenter m6i.large',
    ]);
    expect(removals.map(({ by, nodeClaim, why }) => `${by} ${nodeClaim} ${why}`)).toEqual([
      'joiner old its pods fit elsewhere',
      'karpenter old null',
    ]);
  });

  it.each<[string, readonly number[], string | undefined]>([
    ['a look each minute', [0, 1, 2, 3], undefined],
    ['some that are late', [0, 1, 2, 11, 12], undefined],
    [
      'one gap',
      [0, 1, 2, 32, 33],
      'nobody looked for 30 minutes (once, first after 2026-01-01T00:02',
    ],
    ['two gaps', [0, 1, 2, 32, 33, 34, 64], 'nobody looked for 60 minutes (2 times, first after'],
    ['a look an hour', [0, 60, 120, 180], undefined],
  ])('says when nobody looked: %s', (_, minutes, note) => {
    const { notes } = shadowReport(minutes.map((minute) => observation(minute)));
    expect(notes).toEqual(note === undefined ? [] : [expect.stringContaining(note)]);
  });

  it('is the same in any order of the observations', () => {
    expect(shadowReport(ALL.toReversed())).toEqual(shadowReport(ALL));
  });
});

describe('planned nodes', () => {
  const idle = (minute: number): Observation => observation(minute);

  it.each<[string, readonly Observation[], readonly string[]]>([
    [
      'again where a pod had a node and waits again',
      [waiting(0, ['a/db-0']), idle(1), waiting(50, ['a/db-0']), idle(51)],
      ['00 0.1 a/db-0', '50 0.1 a/db-0'],
    ],
    [
      'once where pods come one by one and the node grows with them',
      [waiting(0, ['a/1']), waiting(1, ['a/1', 'a/2']), waiting(2, ['a/1', 'a/2', 'a/3']), idle(3)],
      ['00 0.3 a/1 a/2 a/3'],
    ],
    [
      'as the newest plan has them, where it packs the same pods otherwise with others',
      [waiting(0, ['a/1'], ['a/2']), waiting(1, ['a/1', 'a/2', 'a/3']), idle(2)],
      ['00 0.3 a/1 a/2 a/3'],
    ],
    [
      'as the newest plan has them, where it needs more nodes',
      [waiting(0, ['a/1', 'a/2']), waiting(1, ['a/1', 'a/3'], ['a/2']), idle(2)],
      ['00 0.2 a/1 a/3', '00 0.1 a/2'],
    ],
    [
      'as they were, where a later plan has nothing new',
      [waiting(0, ['a/1', 'a/2']), waiting(1, ['a/1'], ['a/2']), idle(2)],
      ['00 0.2 a/1 a/2'],
    ],
    [
      'both, where a pod of the first has a node by the time that others come',
      [waiting(0, ['a/1', 'a/2']), waiting(1, ['a/2', 'a/3']), idle(2)],
      ['00 0.2 a/1 a/2', '01 0.2 a/2 a/3'],
    ],
    [
      'apart where pods have nothing to do with each other',
      [waiting(0, ['a/1']), waiting(1, ['a/1'], ['a/2']), idle(2)],
      ['00 0.1 a/1', '01 0.1 a/2'],
    ],
    [
      'once for each replica of a static NodePool',
      [
        observation(0, { launches: [wanted(0.1)] }),
        observation(1, { launches: [wanted(0.1), wanted(0.1)] }),
        idle(2),
        observation(3, { launches: [wanted(0.1)] }),
      ],
      ['00 0.1 ', '01 0.1 ', '03 0.1 '],
    ],
  ])('are counted %s', (_, all, expected) => {
    expect(joinerLaunches(all)).toEqual(expected);
  });

  const replaced = (minute: number, ...names: readonly string[]): Observation =>
    observation(minute, {
      nodes: [node('n1', 0.3), node('n2', 0.3)],
      launches: [{ ...wanted(0.1 * names.length), replaces: [...names] }],
      removals: names.map((nodeClaim) => ({ ...removal, nodeClaim, action: 'replace' })),
    });

  it('that replace others are launches on both sides, each once', () => {
    const all = [
      replaced(0, 'n1'),
      replaced(1, 'n1'),
      replaced(2, 'n1', 'n2'),
      observation(3, { nodes: [node('k1', 0.2), node('n2', 0.3)] }),
    ];
    // Nothing replaces the second any more: the plan keeps it.
    expect(joinerLaunches(all)).toEqual(['00 0.2 n1 n2', '03 0.3 ']);
    const { figures, notes } = shadowReport(all);
    const each = [figures.karpenter, figures.joiner].map((side) => [
      side.nodesLaunched,
      side.nodesRemoved,
    ]);
    expect(each).toEqual([
      [1, 1],
      [2, 2],
    ]);
    expect(notes).toEqual([]);
  });

  it('that replace others and were not recorded are said to be missing', () => {
    const all = [{ ...replaced(0, 'n1'), launches: [] }, idle(1)];
    expect(shadowReport(all).notes).toEqual([
      'Joiner pays on for nodes that it would replace (1): the price of what replaces them is not recorded',
    ]);
  });
});

describe('joiner shadow report', () => {
  it('prints both beside each other', async () => {
    await inFolder({ 'all.ndjson': lines(ALL) }, async (folder) => {
      const { exitCode, stdout } = await joiner('shadow', 'report', `${folder}/all.ndjson`);
      expect(exitCode).toBe(0);
      await expect(stdout).toMatchFileSnapshot('report.txt');
    });
  });

  it('prints a document of its schema, and a page of the same figures', async () => {
    await inFolder({ 'all.ndjson': lines(ALL) }, async (folder) => {
      const html = `${folder}/page.html`;
      const args = ['shadow', 'report', `${folder}/all.ndjson`, '-o', 'json', '--html', html];
      const { exitCode, stdout } = await joiner(...args);
      expect(exitCode).toBe(0);
      const document = JSON.parse(stdout);
      await validated('shadow', document);
      expect(document.figures.karpenter.nodesLaunched).toBe(2);
      const page = textOf(readFileSync(html, 'utf8'));
      expect(page).toContain('2 / 1 nodes launched: Karpenter / Joiner');
      expect(page).toContain(`joiner shadow report ${folder}/all.ndjson`);
      expect(page).toContain('Not a forecast: ');
      expect(page).not.toMatch(/a month/i);
      expect(page).toContain('m7g.xlarge on-demand in us-east-1a at $0.1600/h; for 3 pods');
      expect(page).toContain('$0.1000/h; 3 evictions; its pods fit elsewhere');
      expect(page).not.toMatch(/nodesLaunched|meanUsdPerHour|pendingSeconds|undefined|NaN/);
      const times = [...page.matchAll(/^(\d+m|\d+s) (?:Karpenter|Joiner) (?:launches|removes)/gm)];
      expect(times.map(([, at]) => at)).toEqual(['0s', '30s', '30s', '2m', '4m']);
    });
  });

  it.each<[string, string, string]>([
    ['a file without observations', 'kind: Config\n', 'all.ndjson:1: is no JSON'],
    ['a JSON document', '{\n"a": 1\n}\n', 'all.ndjson:1: is no JSON'],
    ['a single observation', lines(ALL.slice(0, 1)), 'needs two observations'],
    [
      'several clusters',
      lines([...ALL, observation(9, { cluster: 'https://other' })]),
      'several clusters: https://api, https://other',
    ],
  ])('refuses %s', async (_, text, says) => {
    await inFolder({ 'all.ndjson': text }, async (folder) => {
      const { exitCode, stdout, stderr } = await joiner('shadow', 'report', `${folder}/all.ndjson`);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toContain(says);
    });
  });

  it.each<[string, string, string]>([
    [
      'of another kind',
      `${lines(ALL.slice(0, 2))}{}\n${lines(ALL.slice(2))}`,
      '1 of its 6 lines cannot be read: 3 (is no observation: format: Invalid input: expected 1)',
    ],
    [
      'that a kill has cut',
      `${lines(ALL)}${lines(ALL).slice(0, 80)}`,
      '1 of its 6 lines cannot be read: 6 (is no JSON: it may be cut)',
    ],
    [
      'before and at the end',
      `{\n${lines(ALL)}{`,
      '2 of its 7 lines cannot be read: 1 (is no JSON: it may be cut), 7 (is no JSON: it may be cut)',
    ],
  ])('warns of a line %s, and reports the others', async (_, text, says) => {
    await inFolder({ 'all.ndjson': text, 'whole.ndjson': lines(ALL) }, async (folder) => {
      const ask = async (name: string) => await joiner('shadow', 'report', `${folder}/${name}`);
      const [found, whole] = [await ask('all.ndjson'), await ask('whole.ndjson')];
      expect(found).toEqual({
        ...whole,
        exitCode: 0,
        stderr: `warning: ${folder}/all.ndjson: ${says}\n`,
      });
    });
  });

  it.each([
    ['report x --every 5m', '--every: has no meaning for joiner shadow report'],
    ['report x --context prod', '--context: has no meaning for joiner shadow report'],
    ['record x --html y', '--html: has no meaning for joiner shadow record'],
    ['record x --for 1h', '--for: give --every, too'],
    ['report /absent/file', '/absent/file'],
    ['watch x', 'record, report'],
  ])('%s is refused', async (line, says) => {
    const { exitCode, stdout, stderr } = await joiner('shadow', ...line.split(' '));
    expect([exitCode, stdout]).toEqual([2, '']);
    expect(stderr).toContain(says);
  });
});

it('reads observations that have no replacements', async () => {
  const [first = observation(0), ...rest] = ALL;
  const launches = first.launches.map(({ replaces: _, ...each }) => each);
  await inFolder({ 'all.ndjson': lines([{ ...first, launches }, ...rest]) }, async (folder) => {
    const { exitCode } = await joiner('shadow', 'report', `${folder}/all.ndjson`);
    expect(exitCode).toBe(0);
  });
});

it('joiner shadow record says that the API server does not answer, and writes nothing', async () => {
  await inFolder({ config: CONFIG, 'all.ndjson': '' }, async (folder) => {
    const file = `${folder}/all.ndjson`;
    const answer = await joiner('shadow', 'record', file, '--kubeconfig', `${folder}/config`);
    expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
    expect(answer.stderr).toMatch(/^error: /);
    expect(readFileSync(file, 'utf8')).toBe('');
  });
});
