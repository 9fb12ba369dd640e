import { createHash } from 'node:crypto';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compareModel } from '../../../cli/page/model/compare.ts';
import * as page from '../../../cli/page/page.ts';
import { isJson } from '../../../shared/sim/json.ts';
import { joiner } from '../run.ts';
import { pageOf, planned, ROOT, textOf, withRecordings } from './made.ts';

const EXAMPLES = join(ROOT, 'examples');
const SOLVE = ['solve', join(EXAMPLES, '09-solve', 'case.json')];

function hash(text: string): string {
  return `'sha256-${createHash('sha256').update(text).digest('base64')}'`;
}

describe('a page', () => {
  it('says what was planned, what it costs and how near that is to the bound', async () => {
    const text = textOf(await pageOf(...SOLVE, '--bound'))
      .replace(/^(joiner solve ).*$/m, '$1CASE')
      .replace(/Solved in \d+ ms/, 'Solved in N ms');
    await expect(text).toMatchFileSnapshot('solve.txt');
  });

  it('allows its own script and stylesheet, and nothing else', async () => {
    const page = await pageOf(...SOLVE);
    const [, policy = ''] = /Content-Security-Policy" content="([^"]*)"/.exec(page) ?? [];
    const said = policy.replaceAll('&#39;', "'");
    const [, style = ''] = /<style>([\s\S]*?)<\/style>/.exec(page) ?? [];
    const [, script = ''] = /<script>([\s\S]*?)<\/script>/.exec(page) ?? [];
    expect(said.split('; ')).toEqual([
      "default-src 'none'",
      `style-src ${hash(style)}`,
      `script-src ${hash(script)}`,
      "base-uri 'none'",
      "form-action 'none'",
    ]);
    expect(page).not.toMatch(/<[^>]+ (style|on\w+)=|<(link|img|iframe|base|object)\b/);
  });

  it('is the same bytes for the same answer', async () => {
    const run = async () => (await pageOf(...SOLVE)).replaceAll(/"?Solved in"?.{0,30}? ms/g, '');
    expect(await run()).toBe(await run());
  });

  it('cannot be written where there is no folder', async () => {
    const { exitCode, stderr } = await joiner(...SOLVE, '--html', '/nowhere/at/all.html');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('--html /nowhere/at/all.html'),
    });
  });
});

describe('a page of a plan', () => {
  it('has sums of nodes before and after it, and they are those of the heading', async () => {
    const { json, found } = await planned();
    const { now, after, unpriced } = found.pricePerHour;
    expect([found.launches.length > 0, found.removals.length > 0, unpriced]).toEqual([
      ...[true, true, 0],
    ]);
    const text = textOf(await page.pageOf({ command: 'plan', subject: 'https://api', json }));
    const dollars = (amount: number): string => `$${amount.toFixed(4)}`;
    expect(text).toContain(`${dollars(now)} an hour now, ${dollars(after)} after`);
    expect(text).toMatch(/^All NodePools: \d+ nodes now, \d+ after · /m);
    expect(text).toContain(`${dollars(now)}/h now, ${dollars(after)}/h after`);
    expect(text).toMatch(/^m\S+ leaves |^[a-z]\S+ leaves /m);
    expect(text).not.toMatch(/undefined|NaN|\[object/);
  });
});

describe('a page of recordings', () => {
  it('says what is decided again, what that costs, and where the result is another one', async () => {
    const page = await withRecordings((files) => pageOf('replay', ...files));
    const text = textOf(page);
    expect(text).toContain('2 recorded decisions made again: 1 has another result.');
    expect(text).toContain('provision of 2026-01-01T00:00');
    expect(text).toContain(
      ': newNodeClaims[0].chosen.type recorded &quot;m9.huge&quot;, now &quot;',
    );
    expect(text).toMatch(/disrupt of \S+ .* removed/);
    expect(text).toMatch(
      /the move saves \$\d\.\d{4} an hour, and its cost of \$\d\.\d{4} is repaid in \d+ min/,
    );
    expect(text).not.toMatch(/undefined|NaN|\[object/);
  });
});

describe('a page of several recordings', () => {
  it('has them by time, and adds up no prices of different moments', async () => {
    await withRecordings(async (files) => {
      const text = textOf(await pageOf('replay', ...files.toReversed()));
      const [plan, move] = ['provision of 2026', 'disrupt of 2026'].map((at) => text.indexOf(at));
      expect(plan).toBeGreaterThan(0);
      expect(move).toBeGreaterThan(plan ?? 0);
      expect(text).not.toContain('an hour for these');
      const one = textOf(await pageOf('replay', ...files.slice(0, 1)));
      expect(one).toMatch(/^\$\d+\.\d{4} an hour for these$/m);
    });
  });
});

describe('a page of a comparison', () => {
  it('says in what the ways differ, and what the rules of Karpenter are', async () => {
    const text = textOf(await pageOf('compare', join(ROOT, 'bench/compare/mixed')));
    const part = text.slice(text.indexOf('\nWhere the difference comes from\n'));
    expect(part).toMatch(/^What Joiner Karpenter's rules$/m);
    expect(part).toMatch(/^Cost an hour \$\d\.\d{4} \$\d\.\d{4}$/m);
    expect(part).toMatch(/^Spot 1 node, \$\d\.\d{4}\/h none$/m);
    expect(part).toMatch(/^cpu requested 9\d % of \d+(\.\d)? \(\d+(\.\d)?\) \d+ % of /m);
    expect(part).toMatch(/^Room for more pods \$0\.\d{4}\/h \$\d\.\d{4}\/h$/m);
    expect(part).toMatch(
      /^Instance types 2 × r6g\.xlarge on-demand, .* 2 × m6g\.4xlarge on-demand/m,
    );
    expect(text).not.toContain('’');
    expect(part).toContain('pods sorted by size, each on the first node with room');
  });
});

describe('a page of NodeOverlays', () => {
  const OVERLAYS = ['diagnose', '-f', join(EXAMPLES, '01-prefer-graviton4')];

  it('has prices before and after them, and no picture', async () => {
    const page = await pageOf(...OVERLAYS);
    const text = textOf(page);
    expect(text).toMatch(/^\d+ NodeOverlays? changes? \d+ instance types in 1 NodePool\.$/m);
    expect(text).toContain('What NodeOverlays change');
    expect(text).toMatch(/^c7g 9 on-demand .* \+50 % /m);
    expect(text).not.toMatch(/Where the pods are|What it costs|Pods without a node|undefined|NaN/);
    expect(page).not.toContain('id="detail"');
  });

  it('says where the prices come from, and what its columns are', async () => {
    const page = await pageOf(...OVERLAYS);
    const text = textOf(page);
    expect(text).toMatch(/^Region us-east-1$/m);
    expect(text).toMatch(/^Prices us-east-1: on-demand prices of \d{4}-\d\d, spot prices of /m);
    expect(text).toContain('State NodeOverlay Weight, what its status says, and what it changes');
    // Of which instance types, and how: as the manifest has it.
    const { overlays } = JSON.parse((await joiner(...OVERLAYS, '-o', 'json')).stdout);
    const [{ name, changedTypes, requirements, priceAdjustment }] = overlays;
    expect(changedTypes).toBe(9);
    const [{ key, operator, values }] = requirements;
    const where = `where ${key} ${operator} [${values.join(', ')}]`;
    const price = `price ${priceAdjustment.replace('%', ' %')}`;
    expect(text).toContain(
      `ready ${name} weight 0; changes ${changedTypes} instance types; ${price}; ${where}`,
    );
    expect(page).toContain('aria-label="NodeOverlays, one by one"');
  });

  it('has only what was asked for', async () => {
    const { stdout } = await joiner(...OVERLAYS, '-o', 'json');
    const [{ name }] = JSON.parse(stdout).overlays;
    const text = textOf(await pageOf(...OVERLAYS, '--overlay', name));
    expect(text).toContain(`ready ${name} weight`);
    expect(text).toContain('1 NodeOverlay changes ');
  });
});

describe('pages of examples', () => {
  const folders = readdirSync(EXAMPLES, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name);

  it.each(folders)(
    '%s has one',
    async (folder) => {
      const path = join(EXAMPLES, folder);
      const scenario = join(path, 'scenario.yaml');
      const files = readdirSync(path).filter((name) => name.endsWith('.yaml'));
      // Overlays that are refused are there to be refused.
      const own = files.filter((name) => !/\.refused\.|^scenario|^diagnose/.test(name));
      const args = existsSync(join(path, 'case.json'))
        ? ['solve', join(path, 'case.json'), '--bound']
        : [
            'simulate',
            ...own.map((name) => join(path, name)),
            '--duration',
            existsSync(scenario) ? '25m' : '2m',
            ...(existsSync(scenario) ? ['--scenario', scenario] : []),
          ];
      const page = await pageOf(...args);
      expect(textOf(page)).toContain('What it costs');
      expect(textOf(page)).not.toMatch(/undefined|NaN|\[object/);
      expect(page.length).toBeLessThan(1_000_000);
    },
    120_000,
  );
});

describe('a page of a comparison', () => {
  const answered = async () => {
    const folder = join(ROOT, 'bench/compare/mixed');
    const { stdout } = await joiner('compare', folder, '-o', 'json');
    const json: unknown = JSON.parse(stdout);
    if (!isJson(json) || !isJson(json['packings'])) throw new Error('no packings');
    return { json, packings: json['packings'] };
  };

  it('says of what is dearer that it costs more', async () => {
    const { json } = await answered();
    const difference = { usdPerHour: -0.1, percent: -26 };
    const { headlines } = compareModel('', { ...json, difference });
    expect(headlines.slice(0, 2)).toEqual([
      { value: '$73.00', label: 'a month more' },
      { value: '26 %', label: "more than Karpenter's rules" },
    ]);
  });

  it('says where a difference comes from, and nothing of none', async () => {
    const { json, packings } = await answered();
    expect(compareModel('', json).verdict).toMatch(/^Of the difference, /);
    const alike = { ...packings, karpentersWay: packings['joinersWay'] };
    expect(compareModel('', { ...json, packings: alike }).verdict).toBe('');
  });
});
