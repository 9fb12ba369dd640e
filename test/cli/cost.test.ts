import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { CostInput } from '../../cli/cost/bill.ts';
import { DURATIONS } from '../../cli/cost/durations.ts';
import { alternatives, costOf } from '../../cli/cost/model.ts';
import { PRICES } from '../../cli/cost/prices.ts';
import { joiner } from './run.ts';

const PRICE = 0.0000133334;

const INPUT: CostInput = {
  nodes: 100,
  pods: 2000,
  reaction: 'watch',
  churn: 0.5,
  network: 'none',
  zones: 2,
  prices: PRICES['us-east-1'],
  durations: {
    ...DURATIONS,
    idle: {
      ...DURATIONS.idle,
      provision: { base: 0.5, perNode: 0.001, perPod: 0.0001 },
      disrupt: { base: 0.6, perNode: 0.001, perPod: 0.0001 },
      lifecycle: { base: 0.2, perNode: 0.001, perPod: 0 },
      nodeclass: { base: 1, perNode: 0, perPod: 0 },
    },
    provisionLaunch: 4,
    lifecycleLaunch: 60,
    lifecycleTermination: 30,
    leaseHeld: 0.1,
    watchWait: 50,
    watchLeaves: 0.2,
    watchHold: 780,
    wakeUpsPerNode: 25,
    wakeUpsPerWatch: 6,
  },
  nodePrice: 0.0816,
  karpenterNodePrice: 0.0336,
};

const HOLD_S = 730 * 3600;
const HOLDS = HOLD_S / 780;
const LAUNCHES = 100 * 0.5 * (730 / 24);
/** Ticks of the month that find no drain or launch under way. */
const QUIET = 43_800 * (1 - (LAUNCHES * 90) / HOLD_S);
const WAKE_UPS = LAUNCHES * 25 + (HOLD_S / 780) * 6;

function usd(name: string, change: Partial<CostInput> = {}): number {
  const found = costOf({ ...INPUT, ...change }).parts.find((part) => part.name === name);
  if (found === undefined) throw new Error(name);
  return found.usd;
}

describe('a part of the bill', () => {
  it.each<readonly [string, Partial<CostInput>, number]>([
    ['watch', {}, (HOLD_S + HOLDS * 50 + (43_800 - HOLDS) * 0.2) * 0.25 * PRICE],
    ['watch', { reaction: 'tick' }, 0],
    ['provision', {}, (43_800 * 0.8 + LAUNCHES * 4) * (1769 / 1024) * PRICE],
    ['provision', { churn: 0 }, 43_800 * 0.8 * (1769 / 1024) * PRICE],
    ['lifecycle', {}, (QUIET * 0.3 + LAUNCHES * 90 + WAKE_UPS * 0.1) * PRICE],
    ['lifecycle', { reaction: 'tick' }, (QUIET * 0.3 + LAUNCHES * 90.1) * PRICE],
    ['lifecycle', { reaction: 'tick', churn: 100 }, (HOLD_S + LAUNCHES * 200 * 0.1) * PRICE],
    ['disrupt', {}, 43_800 * 0.9 * (1769 / 1024) * PRICE],
    ['nodeclass', {}, 8_760 * 0.5 * PRICE],
    ['metrics', {}, 35 * 0.3],
    ['alarms', {}, 32 * 0.1],
    ['dashboard', {}, 3],
    ['events', {}, WAKE_UPS / 1e6],
    ['events', { reaction: 'tick' }, LAUNCHES / 1e6],
    ['queue', {}, (657_000 / 1e6) * 0.4],
    ['blocked drains', {}, 0],
    ['blocked drains', { blockedHours: 24 }, 24 * 3600 * PRICE],
    ['foreign messages', {}, 0],
    [
      'foreign messages',
      { foreignMessages: 50_000 },
      5000 * (DURATIONS.foreignBatch * 0.5 * PRICE + 0.2e-6 + 2 * 0.4e-6),
    ],
    ['audit log', {}, 0],
    [
      'audit log',
      { auditLog: true, churn: 0 },
      ((DURATIONS.apiRequestsPerMinute * 43_800 * DURATIONS.auditBytesPerRequest) / 1e9) * 0.5,
    ],
    ['kept decisions', { churn: 0 }, 0],
    ['NAT gateways', { network: 'nat' }, 2 * 0.045 * 730],
    ['endpoints', { network: 'endpoints', zones: 3 }, 4 * 3 * 0.01 * 730],
    ['endpoints', { network: 'endpoints', prices: PRICES['eu-west-1'] }, 4 * 2 * 0.011 * 730],
  ])('%s with %j', (name, change, expected) => {
    expect(usd(name, change)).toBeCloseTo(expected, 6);
  });

  it('is there without a private network only where it is paid for', () => {
    const names = costOf(INPUT).parts.map(({ name }) => name);
    expect(names).toEqual([
      ...['watch', 'provision', 'lifecycle', 'disrupt', 'interrupt', 'nodeclass', 'catalog'],
      ...['requests', 'metrics', 'alarms', 'dashboard', 'logs', 'events', 'queue', 'bucket'],
      ...['blocked drains', 'foreign messages', 'kept decisions', 'audit log'],
    ]);
  });
});

describe('the whole bill', () => {
  const size = fc.record({
    nodes: fc.integer({ min: 0, max: 10_000 }),
    pods: fc.integer({ min: 0, max: 300_000 }),
    churn: fc.double({ min: 0, max: 50, noNaN: true }),
    reaction: fc.constantFrom('watch' as const, 'tick' as const),
  });

  it('is the sum of its parts, and the free tier takes off no more than all of it', () => {
    fc.assert(
      fc.property(size, (change) => {
        const { parts, usd: total, freeTierUsd } = costOf({ ...INPUT, ...change });
        expect(parts.reduce((sum, part) => sum + part.usd, 0)).toBeCloseTo(total, 9);
        expect(parts.every((part) => part.usd >= 0)).toBe(true);
        expect(freeTierUsd).toBeGreaterThan(0);
        expect(freeTierUsd).toBeLessThanOrEqual(total);
      }),
    );
  });

  it('does not get smaller with the cluster growing, and is more with a watch than without', () => {
    fc.assert(
      fc.property(size, fc.integer({ min: 0, max: 1000 }), (change, more) => {
        const of = (other: Partial<CostInput>) => costOf({ ...INPUT, ...change, ...other }).usd;
        expect(of({ nodes: change.nodes + more })).toBeGreaterThanOrEqual(of({}) - 1e-9);
        expect(of({ pods: change.pods + more })).toBeGreaterThanOrEqual(of({}) - 1e-9);
        expect(of({ reaction: 'watch' })).toBeGreaterThan(of({ reaction: 'tick' }));
      }),
    );
  });

  it('has beside it what else does the same', () => {
    const other = alternatives(INPUT).map(({ usd: each }) => each);
    expect(other[0]).toBeCloseTo(2 * (0.04048 + 2 * 0.004445) * 730, 6);
    expect(other[1]).toBeCloseTo(2 * (0.0336 * 730 + 20 * 0.08), 6);
    expect(other[2]).toBeCloseTo(100 * 0.0816 * 730 * 0.12, 6);
  });
});

describe('joiner cost', () => {
  it('prints both reactions side by side', async () => {
    const { exitCode, stdout, stderr } = await joiner('cost', '--nodes', '100', '--pods', '2000');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toMatch(/^ {2}PART +WATCH +TICK +FORMULA$/m);
    expect(stdout).toMatch(/^ {2}metrics +\$10\.50 +\$10\.50 +35 series/m);
    expect(stdout).toMatch(/^ {2}EKS Auto Mode +\$714\.82 +100 × \$0\.0816/m);
  });

  it('prints one of them, in another region, as JSON', async () => {
    const { stdout } = await joiner(
      ...'cost --nodes 10 --pods 100 --region eu-west-1 --reaction tick --network nat'.split(' '),
      ...'--zones 1 --node-price 0.2 --churn 2 -o json'.split(' '),
    );
    const answer = JSON.parse(stdout);
    expect(answer).toMatchObject({
      region: 'eu-west-1',
      input: { nodes: 10, pods: 100, launchesPerNodeAndDay: 2, zones: 1, nodePricePerHour: 0.2 },
      costs: [{ reaction: 'tick' }],
      alternatives: [{}, {}, { name: 'EKS Auto Mode', usd: 175.2 }],
    });
    expect(answer.costs[0].parts).toContainEqual({
      name: 'NAT gateways',
      formula: '1 × $0.048 × 730 h',
      usd: 35.04,
    });
    expect(answer.sources).toContain('https://aws.amazon.com/lambda/pricing/');
  });

  it.each([
    ['cost', "required option '--nodes <number>' not specified"],
    ['cost --nodes 1', "required option '--pods <number>' not specified\n"],
    ['cost --nodes -1 --pods 1', '--nodes -1: expected a whole number of at most 100000'],
    ['cost --nodes 1 --pods many', '--pods many: expected a whole number'],
    ['cost --nodes 1 --pods 1 --churn x', '--churn x: expected a number'],
    ['cost --nodes 1 --pods 1 --node-price free', '--node-price free: expected a number'],
    ['cost --nodes 1 --pods 1 --zones 7', '--zones 7: expected a whole number of at most 6'],
    ['cost --nodes 1 --pods 1 --region mars-1', '--region mars-1: expected one of '],
    ['cost --nodes 1 --pods 1 --reaction poll', 'watch, tick'],
  ])('refuses %s', async (line, says) => {
    const { exitCode, stdout, stderr } = await joiner(...line.split(' '));
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(says);
  });
});

describe('docs/cost.md', () => {
  const text = readFileSync(join(import.meta.dirname, '../../docs/cost.md'), 'utf8');
  const blocks = [...text.matchAll(/<!-- joiner (cost .*) -->\n([\s\S]*?)<!-- end -->/g)];

  it('and README.md tell the same of a cluster of 100 nodes', async () => {
    const line = 'cost --nodes 100 --pods 2000 --reaction watch -o json';
    const { costs } = JSON.parse((await joiner(...line.split(' '))).stdout);
    const readme = readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8');
    expect(readme).toContain(`(about $${Math.round(costs[0].usd)} a month)`);
  });

  it('has a table', () => expect(blocks).toHaveLength(1));

  const rows = [...text.matchAll(/^\| .* \| `joiner (cost .*)` \| (\S+) \| (\S+) \|$/gm)];
  it('has other sizes', () => expect(rows).toHaveLength(3));

  it.each(rows.map(([, line = '', ...totals]) => [line, totals] as const))(
    'has the totals of joiner %s',
    async (line, totals) => {
      const { costs } = JSON.parse((await joiner(...line.split(' '), '-o', 'json')).stdout);
      expect(totals).toEqual(costs.map(({ usd }: { usd: number }) => `$${usd.toFixed(2)}`));
    },
  );

  it.each(blocks.map(([, line = '', block = '']) => [line, block]))(
    'holds what joiner %s prints',
    async (line, block) => {
      expect(block).toBe((await joiner(...line.split(' '))).stdout);
    },
  );
});
