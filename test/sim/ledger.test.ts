import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { backtestSchema } from '../../cli/schema/backtest.ts';
import { savingsSchema } from '../../cli/schema/savings.ts';
import {
  dailySteps,
  NODE_CLASS,
  nodePool,
  recordedTo,
  workload,
} from '../builders/recorded-month.ts';
import { joiner } from '../cli/run.ts';
import { validated } from '../cli/validated.ts';

/** 30 in the nightly run. */
const DAYS = Number(process.env['JOINER_LEDGER_DAYS'] ?? 5);

const parent = mkdtempSync(join(tmpdir(), 'joiner-ledger-'));
const folder = join(parent, 'month');

async function answered(...args: readonly string[]): Promise<unknown> {
  const { exitCode, stdout, stderr } = await joiner(...args, '-o', 'json');
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return await validated(args[0] ?? '', JSON.parse(stdout));
}

const backtest = async (...args: readonly string[]) =>
  backtestSchema.parse(await answered('backtest', folder, ...args));

function cents(amount: number): number {
  return Math.round(amount * 100);
}

/** USD of all instances, as the simulation counts them. */
let costUsd = 0;

beforeAll(async () => {
  const manifests = [
    NODE_CLASS,
    nodePool('default', { 'karpenter.sh/capacity-type': ['spot', 'on-demand'] }),
    workload('shop', 3, { cpu: '900m', memory: '2Gi' }),
    workload('batch', 0, { cpu: '2', memory: '3Gi' }),
    workload('cache', 2, { cpu: '500m', memory: '7Gi' }),
  ];
  costUsd = await recordedTo(folder, DAYS, manifests, dailySteps(DAYS));
}, 600_000);

afterAll(() => rmSync(parent, { recursive: true }));

describe(`${DAYS} recorded days`, () => {
  it('the ledger is the sum of its entries, and its entries are price times hours', async () => {
    const { totals, launches, moves, interruptions } = savingsSchema.parse(
      await answered('savings', '--dir', folder, '--since', '31d'),
    );
    const sum = (amounts: readonly number[]): number => amounts.reduce((a, b) => a + b, 0);
    expect(totals.nodesCompared).toBe(totals.nodesLaunched);
    expect(totals.usd).toBeGreaterThan(0);
    expect(totals.usd).toBeCloseTo(sum(launches.map((each) => each.usdPerHour * each.hours)), 9);
    expect(totals.launchesSavedUsd).toBeCloseTo(totals.firstFitUsd - totals.usd, 9);
    expect(totals.movesSavedUsd).toBeCloseTo(sum(moves.map(({ savedUsd }) => savedUsd)), 9);
    expect(totals.savedUsd).toBeCloseTo(totals.launchesSavedUsd + totals.movesSavedUsd, 9);
    expect(totals.launchesSavedUsd).toBeGreaterThan(0);
    expect(totals.movesSavedUsd).toBeGreaterThan(0);
    expect(interruptions).toMatchObject([
      { kind: 'spot_interrupted', nodes: Math.floor((DAYS + 1) / 3) },
    ]);
  });

  it('nodes that were launched before the time count for what lies in it', async () => {
    const since = async (span: string) =>
      savingsSchema.parse(await answered('savings', '--dir', folder, '--since', span));
    const [all, day] = [await since('31d'), await since('1d')];
    expect(day.totals.nodesRan).toBeGreaterThan(day.totals.nodesLaunched);
    expect(day.totals.nodesCompared).toBe(day.totals.nodesRan);
    expect(day.notes).toEqual([]);
    const inDay = all.launches.map(({ at, usdPerHour, file }) => ({ at, usdPerHour, file }));
    for (const { at, usdPerHour, file } of day.launches) {
      expect(inDay).toContainEqual({ at, usdPerHour, file });
    }
    expect(day.launches.some(({ at }) => at < day.from)).toBe(true);
    expect(day.totals.usd).toBeGreaterThan(0);
    expect(day.totals.usd).toBeLessThan(all.totals.usd);
  });

  // Its prices are those of the plans; the simulation pays for what EC2 had of what was asked for.
  it('the cost of its nodes is what the simulation itself counted, within 3 %', async () => {
    const { totals } = savingsSchema.parse(
      await answered('savings', '--dir', folder, '--since', '31d'),
    );
    expect(Math.abs(totals.usd / costUsd - 1)).toBeLessThan(0.03);
  });

  it("Karpenter's rules cost what the ledger says, to the cent", async () => {
    const { totals } = savingsSchema.parse(
      await answered('savings', '--dir', folder, '--since', '31d'),
    );
    const { recorded, variant, difference, ...rest } = await backtest('--rules', 'karpenter');
    const { searches } = await backtest();
    expect(searches).toBeGreaterThan(0);
    expect(rest).toMatchObject({ searches: 0, searchesLeftOut: searches });
    const { stdout } = await joiner('backtest', folder, '--rules', 'karpenter');
    expect(stdout).toContain('left out: the rules plan launches only');
    expect(stdout).not.toContain(' 0 recorded searches');
    expect(cents(recorded.usd)).toBe(cents(totals.usd));
    expect(cents(variant.usd)).toBe(cents(totals.firstFitUsd));
    expect(cents(difference.usd)).toBe(cents(totals.launchesSavedUsd));
  });

  it('the recorded settings cost what the ledger says, to the cent, and differ nowhere', async () => {
    const { totals } = savingsSchema.parse(
      await answered('savings', '--dir', folder, '--since', '31d'),
    );
    const { recorded, difference } = await backtest('--set', 'nodePrice=0.003');
    expect(cents(recorded.usd)).toBe(cents(totals.usd));
    expect(cents(recorded.movesSavedUsd)).toBe(cents(totals.movesSavedUsd));
    expect(recorded.evictions).toBe(totals.evictions);
    expect(Object.values(difference).every((each) => each === 0)).toBe(true);
  });

  it.each([
    ['fewer and larger nodes cost more', ['--set', 'nodePrice=0.2']],
    ['without spot all cost more', ['--filename', 'POOL']],
  ])('%s', async (_, args) => {
    const pool = join(folder, 'pool.yaml');
    const wanted = nodePool('default', { 'karpenter.sh/capacity-type': ['on-demand'] });
    writeFileSync(pool, JSON.stringify(wanted));
    const found = await backtest(...args.map((each) => (each === 'POOL' ? pool : each)));
    expect(found.difference.usd).toBeGreaterThan(0);
    expect(cents(found.difference.usd)).toBe(cents(found.variant.usd - found.recorded.usd));
    if (args.includes('--set')) expect(found.difference.nodes).toBeLessThan(0);
  });

  it('a dearer eviction leaves moves out', async () => {
    const { recorded, variant, difference } = await backtest('--set', 'evictionPrice=50');
    expect(recorded.evictions).toBeGreaterThan(0);
    expect(variant).toMatchObject({ evictions: 0, movesSavedUsd: 0 });
    expect(variant.usd).toBe(recorded.usd);
    // The nodes that the moves removed would have run on: the variant costs what the moves saved.
    expect(difference.netUsd).toBeCloseTo(recorded.movesSavedUsd, 9);
    expect(recorded).not.toHaveProperty('netUsd');
    const { stdout } = await joiner('backtest', folder, '--set', 'evictionPrice=50');
    const amount = recorded.movesSavedUsd.toFixed(2).replace('.', '\\.');
    expect(stdout).toMatch(new RegExp(`^Difference in cost +\\+\\$${amount}$`, 'm'));
    expect(stdout).not.toContain('less savings');
  });
});

describe('hours in which consolidation replaced nodes', () => {
  it('cost in the ledger what the simulation paid, to the cent', async () => {
    const own = join(parent, 'replaced');
    const onDemand = { 'karpenter.sh/capacity-type': ['on-demand'] };
    const manifests = [
      NODE_CLASS,
      nodePool('default', onDemand),
      workload('shop', 14, { cpu: '900m', memory: '2Gi' }),
    ];
    const steps = [{ at: '40m', scale: { name: 'shop', replicas: 2 } }];
    const paidUsd = await recordedTo(own, 0.25, manifests, steps);
    const { totals, moves, replacements, notes } = savingsSchema.parse(
      await answered('savings', '--dir', own),
    );
    expect(moves.some((each) => each.replacements > 0 && each.outcome === 'done')).toBe(true);
    expect(totals.nodesReplacing).toBeGreaterThan(0);
    expect(totals.nodesReplacing).toBe(replacements.length);
    expect(totals.nodesRan).toBe(totals.nodesCompared + totals.nodesReplacing);
    expect(notes).toEqual([]);
    expect(totals.costUsd).toBeCloseTo(totals.usd + totals.replacementsUsd, 9);
    expect(cents(totals.costUsd)).toBe(cents(paidUsd));
    expect(cents(totals.usd)).toBeLessThan(cents(paidUsd));
  });
});

it.each([
  ['backtest', 'nowhere', 'no such file'],
  ['backtest', folder, '--set', 'nodeprice=1', '--set nodeprice: not a setting of recorded'],
  ['backtest', folder, '--set', 'nodePrice', '--set nodePrice: expected NAME=VALUE'],
  ['backtest', folder, '--set', 'nodePrice=much', '--set nodePrice must be'],
  ['savings', '--dir', folder, '--cluster', 'demo', '--cluster: give either --dir or a cluster'],
  ['savings', '--dir', folder, '--region', 'eu-west-1', '--region: give either --dir'],
  ['savings', '--dir', folder, '--bucket', 'mine', '--bucket: give either --dir'],
  ['savings', '--cluster demo is missing', 'give --dir or --cluster'],
])('%s refuses what it cannot use (%s)', async (...words) => {
  const says = words.at(-1) ?? '';
  const args = words.slice(0, -1).filter((each) => !each.includes(' is missing'));
  const { exitCode, stderr } = await joiner(...args);
  expect(exitCode).toBe(2);
  expect(stderr).toContain(says);
});
