import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as page from '../../../cli/page/page.ts';
import { Chromium, chromiumPath, type Scheme, type Tab } from '../../support/chromium.ts';
import { inFolder } from '../run.ts';
import { observations, pageOf, planned, ROOT, withRecordings } from './made.ts';

/** Pages in a real browser; without one (Debian: the package chromium), these are skipped. */

const found = chromiumPath();
if (found === undefined) process.stderr.write('skipped: no chromium in PATH; CHROMIUM names one\n');

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const spread = join(ROOT, 'examples/07-spread-and-spot');
const PAGES = {
  simulate: ['simulate', spread, '--scenario', `${spread}/scenario.yaml`, '--duration', '10m'],
  solve: ['solve', join(ROOT, 'examples/09-solve/case.json'), '--bound'],
  compare: ['compare', join(ROOT, 'bench/compare/19500-pods')],
  diagnose: ['diagnose', '--case', join(ROOT, 'examples/09-solve/case.json')],
} as const;
const NAMES = ['simulate', 'solve', 'compare', 'diagnose', 'replay', 'plan', 'shadow'] as const;
type Name = (typeof NAMES)[number];

let folder: string;
let chromium: Chromium;
beforeAll(async () => {
  if (found === undefined) return;
  folder = mkdtempSync(join(tmpdir(), 'joiner-page-'));
  for (const [name, args] of Object.entries(PAGES)) {
    writeFileSync(join(folder, `${name}.html`), await pageOf(...args));
  }
  const replayed = await withRecordings((files) => pageOf('replay', ...files));
  writeFileSync(join(folder, 'replay.html'), replayed);
  const { json } = await planned();
  const plan = await page.pageOf({ command: 'plan', subject: 'https://api', json });
  writeFileSync(join(folder, 'plan.html'), plan);
  const report = await inFolder({ 'all.ndjson': observations() }, (place) =>
    pageOf('shadow', 'report', join(place, 'all.ndjson')),
  );
  writeFileSync(join(folder, 'shadow.html'), report);
  chromium = await Chromium.start(found);
}, 120_000);
afterAll(async () => {
  if (found === undefined) return;
  await chromium.stop();
  rmSync(folder, { recursive: true });
});

async function opened(name: Name, scheme: Scheme = 'light'): Promise<Tab> {
  return chromium.open(join(folder, `${name}.html`), scheme);
}

const DETAIL = '#detail';

describe.skipIf(found === undefined)('a page in a browser', () => {
  describe.each(NAMES)('%s', (name) => {
    it('loads itself alone, and nothing is wrong', async () => {
      const tab = await opened(name);
      await tab.press('Tab');
      expect(tab.said).toEqual([]);
      expect(tab.requests).toEqual([pathToFileURL(join(folder, `${name}.html`)).href]);
    });

    it.each(['light', 'dark'] as const)('axe finds nothing serious, %s', async (scheme) => {
      const tab = await opened(name, scheme);
      await tab.run("for (const each of document.querySelectorAll('details')) each.open = true");
      await tab.run(AXE);
      const violations = await tab.value(
        'axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) =>' +
          ' [impact, id, nodes[0].html.slice(0, 120)]))',
      );
      expect(violations).toEqual([]);
    });

    it('has a colour scheme of its own in the dark', async () => {
      const colours = await Promise.all(
        (['light', 'dark'] as const).map(async (scheme) =>
          (await opened(name, scheme)).value('getComputedStyle(document.body).backgroundColor'),
        ),
      );
      expect(new Set(colours).size).toBe(2);
    });
  });

  it('shows details of the node that is pointed at, and keeps them when it is clicked', async () => {
    const tab = await opened('simulate');
    await tab.point('.node[data-group="1"]');
    const second = await tab.text(DETAIL);
    expect(second).toContain('Runner-up');
    await tab.point('.node[data-group="0"]', true);
    const first = await tab.text(DETAIL);
    expect(first).not.toBe(second);
    await tab.point('.node[data-group="1"]');
    expect(await tab.text(DETAIL)).toBe(second);
    await tab.point('h1');
    expect(await tab.text(DETAIL)).toBe(first);
  });

  it('has a panel in a narrow window only once something is clicked, and shares beside bars', async () => {
    const tab = await chromium.open(join(folder, 'simulate.html'), 'light', 620, 900);
    const height = `document.querySelector('${DETAIL}').offsetHeight`;
    expect(await tab.value(height)).toBe(0);
    expect(await tab.value("document.querySelector('.node .shares').offsetWidth")).toBeGreaterThan(
      60,
    );
    await tab.point('.node[data-group="1"]', true);
    expect(await tab.value(height)).toBeGreaterThan(100);
    expect(await tab.value(height)).toBeLessThanOrEqual(360);
    await tab.run(AXE);
    expect(await tab.value('axe.run().then(({ violations }) => violations.length)')).toBe(0);
    expect(await tab.text('#time .lead')).toMatch(/click it, or focus it and press Enter, for the/);
    // Tab leads into it, beyond its last stop on to what follows the row, and never under it.
    await tab.press('Tab');
    expect(await tab.value('document.activeElement.className')).toBe('close');
    for (const _ of [1, 2]) await tab.press('Tab');
    expect(await tab.value(height)).toBe(0);
    expect(await tab.value('document.activeElement.textContent')).toBe('nodes as a table');
    await tab.point('.node[data-group="1"]', true);
    await tab.point(`${DETAIL} .close`, true);
    expect(await tab.value(height)).toBe(0);
    expect(await tab.value('document.activeElement.dataset.group')).toBe('1');
    const overflow = 'document.documentElement.scrollWidth - document.documentElement.clientWidth';
    expect(await tab.value(overflow)).toBe(0);
  });

  it('can be walked with the keyboard, and shows where one is', async () => {
    const tab = await opened('simulate');
    await tab.run("document.querySelector('.node').focus()");
    await tab.press('ArrowDown');
    const focused = 'document.activeElement.dataset.group';
    expect(await tab.value(focused)).toBe('1');
    const before = await tab.text(DETAIL);
    await tab.press('End');
    expect(await tab.value(focused)).toBe('4');
    expect(await tab.text(DETAIL)).not.toBe(before);
    await tab.press('ArrowRight');
    expect(await tab.value("document.querySelectorAll('.block.picked').length")).toBeGreaterThan(0);
    const outline = await tab.value('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
    // The list item paints nothing beyond its edges: a ring around the row would not be seen.
    const [beyond, colour, other] = (await tab.value(`(() => {
      const style = getComputedStyle(document.activeElement);
      const out = parseFloat(style.outlineOffset) + parseFloat(style.outlineWidth);
      const row = document.activeElement.getBoundingClientRect();
      const item = document.activeElement.closest('li').getBoundingClientRect();
      const other = document.querySelector('.node:not(:focus)');
      return [item.left - row.left + out, style.backgroundColor,
        getComputedStyle(other).backgroundColor];
    })()`)) as [number, string, string];
    expect(beyond).toBeLessThanOrEqual(0);
    expect(colour).not.toBe(other);
  });

  it('shows the cluster at another time, and what was decided then', async () => {
    const tab = await opened('simulate');
    await tab.run("document.getElementById('scrub').focus()");
    await tab.press('Home');
    await expect.poll(() => tab.text('#moment')).toContain('0s: 5 nodes, 17 pods pending');
    expect(await tab.value("document.querySelectorAll('.badge.starting').length")).toBe(5);
    await tab.point('g.mark[data-mark="1"]', true);
    expect(await tab.text(DETAIL)).toContain('After 5m');
    expect(await tab.text(DETAIL)).toContain('spot_interrupted');
    expect(await tab.text('#moment')).toMatch(/^5m: 6 nodes/);
    expect(await tab.value("document.getElementById('scrub').ariaValueText")).toMatch(/^5m: 6/);
    await tab.run("document.querySelector('g.mark').focus()");
    await tab.press('ArrowRight');
    await tab.press('Enter');
    expect(await tab.text('#moment')).toMatch(/^5m/);
  });

  it('says in the panel what is so at the time that is shown, and at which', async () => {
    const tab = await opened('simulate');
    await tab.point('.node[data-group="0"]', true);
    expect(await tab.text(DETAIL)).toMatch(/^\S+ After 10m\s/);
    await tab.run("document.getElementById('scrub').focus()");
    await tab.press('Home');
    await expect.poll(() => tab.text('#moment')).toContain('0s: 5 nodes');
    const start = await tab.text(DETAIL);
    expect(start).toMatch(/^\S+ After 0s\s/);
    expect(start).toMatch(/\n0 pods\n|This node is not there/);
    await tab.press('End');
    await expect.poll(() => tab.text(DETAIL)).toMatch(/^\S+ After 10m\s/);
    expect(await tab.value("document.querySelectorAll('.node.kept').length")).toBe(1);
  });

  it('says in the panel of which way it is', async () => {
    const tab = await opened('compare');
    expect(await tab.text(DETAIL)).toContain(' Joiner');
    await tab.point('input[name="scene"][value="1"]', true);
    expect(await tab.text(DETAIL)).toContain(" Karpenter's rules");
    // Its first row, also after a node of the other way was kept: names are of one way only.
    expect(await tab.text(DETAIL)).toContain('Workload');
    await tab.point('.node[data-group="3"]', true);
    await tab.point('input[name="scene"][value="0"]', true);
    expect(await tab.text(DETAIL)).toMatch(/^.* Joiner\n[\s\S]*Workload/);
    expect(await tab.value("document.querySelectorAll('.kept').length")).toBe(0);
  });

  it('leads from a decision to the node, also to one that has gone', async () => {
    const tab = await opened('simulate');
    const link = (at: number) => `document.querySelectorAll('#decisions a[data-node]')[${at}]`;
    const nodes = await tab.value(
      "[...document.querySelectorAll('#decisions a[data-node]')].map((each) => each.dataset.node)",
    );
    const names = Array.isArray(nodes) ? nodes.map(String) : [];
    expect(names.length).toBeGreaterThan(6);
    const gone = names.findIndex((name, at) => names.indexOf(name) < at);
    await tab.run(`${link(gone)}.click()`);
    expect(await tab.text(DETAIL)).toContain(names[gone]);
    expect(await tab.text(DETAIL)).toMatch(/NodeClaim\s+spot-/);
    expect(await tab.text('#moment')).not.toContain('10m:');
    expect(await tab.value('document.activeElement.textContent')).toContain(names[gone]);
    await tab.run(`${link(1)}.click()`);
    expect(await tab.text(DETAIL)).toContain(names[1]);
  });

  it('has one tab stop for the legend, and no text that is cut off', async () => {
    const tab = await opened('compare');
    await tab.run("document.querySelector('#legend button').focus()");
    await tab.press('End');
    const focused = 'document.activeElement';
    expect(await tab.value(`${focused}.dataset.colour`)).toBe('23');
    expect(
      await tab.value('document.querySelectorAll(\'#legend > ul > li > [tabindex="0"]\').length'),
    ).toBe(1);
    await tab.press('Tab');
    expect(await tab.value(`${focused}.textContent`)).toBe('and 2 workloads more');
    const cut = `(() => {
      const texts = [...document.querySelectorAll('.block text')];
      const shown = texts.filter((each) => getComputedStyle(each).display !== 'none');
      const isCut = (each) => each.getBoundingClientRect().right >
        each.parentElement.querySelector('rect').getBoundingClientRect().right;
      return [shown.length > 10, shown.filter(isCut).map((each) => each.textContent)];
    })()`;
    expect(await tab.value(cut)).toEqual([true, []]);
    const narrow = await chromium.open(join(folder, 'compare.html'), 'light', 1010, 900);
    expect(await narrow.value(cut)).toEqual([true, []]);
  });

  it('keeps the chosen workload at another time, in other rows and in the other way', async () => {
    const lit = `(() => {
      const of = (query) => [...document.querySelectorAll(query)];
      const isDim = (each) => getComputedStyle(each).opacity !== '1';
      const pressed = of('#legend [aria-pressed="true"]').map((each) => each.dataset.colour);
      const bright = of('#picture .block').filter((each) => !isDim(each));
      const colours = new Set(bright.map((each) => each.getAttribute('class').match(/\\bc\\d+/)?.[0]));
      return [pressed, [...colours], of('#picture .block').some(isDim)];
    })()`;
    const one = [['1'], ['c1'], true];
    const button = '#legend button[data-colour="1"]';

    const simulated = await opened('simulate');
    await simulated.point(button, true);
    expect(await simulated.value(lit)).toEqual(one);
    await simulated.run("document.getElementById('scrub').focus()");
    await simulated.press('Home');
    await expect.poll(() => simulated.text('#moment')).toContain('0s: 5 nodes');
    await simulated.press('End');
    await expect.poll(() => simulated.text('#moment')).toContain('10m:');
    expect(await simulated.value(lit)).toEqual(one);

    const compared = await opened('compare');
    await compared.point(button, true);
    for (const input of ['value="each"', 'name="scene"][value="1"']) {
      await compared.point(`input[${input}]`, true);
      expect(await compared.value(lit), input).toEqual(one);
    }
    await compared.point(button, true);
    expect(await compared.value(`${lit}.map(String)`)).toMatchObject({ 0: '', 2: 'false' });
  });

  it('opens a row of types to its nodes, shows every node, and the other way', async () => {
    const tab = await opened('compare');
    const rows = "document.querySelectorAll('.node').length";
    await tab.point('input[value="type"]', true);
    const types = Number(await tab.value(rows));
    await tab.point('.node[aria-expanded="false"]', true);
    expect(await tab.value("document.querySelectorAll('.node.inner').length")).toBeGreaterThan(0);
    await tab.point('input[value="each"]', true);
    expect(await tab.value(rows)).toBe(149);
    expect(types).toBeLessThan(40);
    await tab.point('input[name="scene"][value="1"]', true);
    expect(await tab.value(rows)).toBe(37);
  });

  it('shows both sides of a shadow report over the time, also in a narrow window', async () => {
    for (const width of [1200, 420]) {
      const tab = await chromium.open(join(folder, 'shadow.html'), 'light', width, 900);
      const lines = "[...document.querySelectorAll('.beside .line')].map((each) => each.getBBox())";
      expect(await tab.value(`${lines}.filter(({ width }) => width > 900).length`)).toBe(6);
      const overflow = 'document.documentElement.scrollWidth - innerWidth';
      expect(Number(await tab.value(overflow))).toBeLessThanOrEqual(0);
    }
  });

  it('has times under the curves that do not overlap, also in a narrow window', async () => {
    for (const name of ['simulate', 'shadow'] as const) {
      const tab = await chromium.open(join(folder, `${name}.html`), 'light', 420, 900);
      const gaps = `(() => {
        const shown = [...document.querySelectorAll('.ticks text')]
          .map((each) => each.getBoundingClientRect()).filter(({ width }) => width > 0);
        return shown.slice(1).map(({ left }, at) => left - shown[at].right);
      })()`;
      const found = await tab.value(gaps);
      expect(found).toHaveLength(3);
      expect(Math.min(...(found as readonly number[]))).toBeGreaterThan(0);
    }
  });

  it('marks the node of a plan that goes, and the one that comes', async () => {
    const tab = await opened('plan');
    expect(await tab.value("document.querySelectorAll('.node .badge.leaves').length")).toBe(1);
    expect(
      Number(await tab.value("document.querySelectorAll('.node .badge.new').length")),
    ).toBeGreaterThan(0);
  });

  it('shows a recorded moment after another', async () => {
    const tab = await opened('replay');
    const first = await tab.text('#picture');
    await tab.point('input[name="scene"][value="1"]', true);
    expect(await tab.text('#picture')).not.toBe(first);
    expect(await tab.value("document.querySelectorAll('.node').length")).toBeGreaterThan(0);
  });
});
