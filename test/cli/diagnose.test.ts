import { describe, expect, it } from 'vitest';
import { NODE_CLASS, NODE_OVERLAY, NODE_POOL } from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const POOL = NODE_POOL.replace('[m6i, m7i]', '[m6i, m7i, c6g, c7g, c5]');
const SHADOWED = NODE_OVERLAY.replace('dearer', 'shadowed')
  .replace('weight: 10', 'weight: 5')
  .replace('[m6i.large]', '[m6i.large]');
const CLASHING = NODE_OVERLAY.replace('dearer', 'zealous');
const DEAD = NODE_OVERLAY.replace('dearer', 'dead').replace('[m6i.large]', '[p9.large]');

async function diagnosed(overlays: readonly string[], ...options: readonly string[]) {
  const files = { 'world.yaml': [NODE_CLASS, POOL, ...overlays].join('---\n') };
  const answer = await inFolder(files, (folder) => joiner('diagnose', '-f', folder, ...options));
  expect(answer).toMatchObject({ exitCode: 0, stderr: '' });
  return answer.stdout;
}

describe('joiner diagnose', () => {
  it('prints what overlays change, before and after', async () => {
    const text = await diagnosed([NODE_OVERLAY], '--type', 'instance-type');
    expect(text).toMatchInlineSnapshot(`
      "NODEPOOL   OVERLAY   INSTANCE TYPE   CAPACITY TYPE   PRICE                 CAPACITY
      general    dearer    m6i.large       on-demand       $0.0960 → $0.1056     example.com/slice: 4
      general    dearer    m6i.large       spot            $0.0314 → $0.0345 *   example.com/slice: 4

      * lowest of several zones that differ; --zones lists them

      us-east-1: on-demand prices of 2026-07, spot prices of 2025-05-28
      "
    `);
  });

  it('--zones has a row for each zone', async () => {
    const text = await diagnosed([NODE_OVERLAY], '--zones', '--overlay', 'dearer');
    const rows = text.split('\n').filter((line) => line.startsWith('general'));
    expect(rows.length).toBeGreaterThan(6);
    expect(rows[0]).toMatch(/dearer +m6i\.large +on-demand +us-east-1a +\$0\.0960 → \$0\.1056 /);
  });

  it('--all also prints what no overlay changes', async () => {
    const text = await diagnosed([NODE_OVERLAY], '--all', '-v');
    expect(text).toMatch(/^general +- +c6g\.large +on-demand +\$0\.0680$/m);
  });

  it('has no rows of types that no NodePool could launch', async () => {
    const wide = NODE_OVERLAY.replace('[m6i.large]', '[m6i.large, p5.48xlarge]');
    const text = await diagnosed([wide], '-v', '-q');
    expect(text).toMatch(/^general +dearer +m6i\.large/m);
    expect(text).not.toContain('p5.48xlarge');
    expect(await diagnosed([], '--all', '-v')).not.toContain('p5.48xlarge');
  });

  it('names overlays that clash, are shadowed or match nothing', async () => {
    const text = await diagnosed([NODE_OVERLAY, SHADOWED, CLASHING, DEAD]);
    const remarks = text.slice(0, text.indexOf('NODEPOOL'));
    expect(remarks).toMatch(/^zealous +10 +False +Conflict: conflict with overlay dearer/m);
    expect(remarks).toMatch(/^shadowed +5 +True +shadowed everywhere .*price \(by dearer\)/m);
    expect(remarks).toMatch(/^dead +10 +True +dead: it matches no instance type/m);
  });

  it('rolls many rows up by family and by what overlays do, -v lists them', async () => {
    const cheaper = NODE_OVERLAY.replace('dearer', 'cheaper')
      .replace('weight: 10', 'weight: 1')
      .replace('[m6i.large]', '[m6i]')
      .replace('node.kubernetes.io/instance-type', 'karpenter.k8s.aws/instance-family')
      .replace(/priceAdjustment: .*/, 'priceAdjustment: "-25%"')
      .replace(/ {2}capacity:\n.*\n/, '');
    const graviton = cheaper
      .replace('cheaper', 'graviton')
      .replace('[m6i]', '[c6g, c7g, c5, m7i]')
      .replace('"-25%"', '"+0.05"');
    const overlays = [NODE_OVERLAY, CLASHING, cheaper, graviton];
    const text = await diagnosed(overlays);
    expect(text.indexOf('Conflict')).toBeGreaterThan(-1);
    expect(text.indexOf('Conflict')).toBeLessThan(text.indexOf('FAMILY'));
    expect(text).toMatch(/^general +cheaper +m6i +\d+ +on-demand, spot +-25%$/m);
    expect(text).toMatch(
      /^general +dearer +m6i +1 +on-demand, spot +\+10% +example\.com\/slice: 4$/m,
    );
    expect(text).toMatch(/^general +graviton +c6g +\d+ +on-demand, spot +\+\$0\.0500$/m);
    expect(text).toMatch(/^\d+ rows by family; -v lists them by instance type$/m);
    expect(text.split('\n').length).toBeLessThan(20);
    const all = await diagnosed(overlays, '-v');
    expect(all).toMatch(/^general +cheaper +m6i\.xlarge +spot /m);
    expect(all).not.toContain('FAMILY');
  });

  it('names overlays that set nothing', async () => {
    const idle = NODE_OVERLAY.replace('dearer', 'idle').replace(/ {2}priceAdjustment[\s\S]*$/, '');
    const text = await diagnosed([NODE_OVERLAY, idle]);
    expect(text).toMatch(
      /^idle +10 +True +without effect: it sets neither a price nor a capacity/m,
    );
  });

  it('--strict fails when an overlay is not ready', async () => {
    const files = { 'world.yaml': [NODE_CLASS, POOL, NODE_OVERLAY, CLASHING].join('---\n') };
    const { exitCode } = await inFolder(files, (folder) =>
      joiner('diagnose', '-f', folder, '--strict'),
    );
    expect(exitCode).toBe(1);
  });

  it('-o json gives every type of the NodePools that were asked for', async () => {
    const text = await diagnosed([NODE_OVERLAY], '--nodepool', 'general', '-o', 'json');
    const { overlays, nodePools } = JSON.parse(text);
    expect(overlays).toMatchObject([{ name: 'dearer', weight: 10, ready: { status: 'True' } }]);
    expect(overlays).toMatchObject([
      { changedTypes: 1, priceAdjustment: '+10%', capacity: { 'example.com/slice': '4' } },
    ]);
    expect(overlays[0].requirements[0]).toMatchObject({ operator: 'In', values: ['m6i.large'] });
    const type = nodePools.general.find((each: { name: string }) => each.name === 'm6i.large');
    expect(type).toMatchObject({ capacityOverlaid: true, capacity: { 'example.com/slice': '4' } });
    expect(type.offerings[0]).toMatchObject({ zone: 'us-east-1a', basePrice: 0.096 });
    expect(type.offerings[0].price).toBeCloseTo(0.1056, 10);
  });
});
