import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../cli/plan/changes.ts';
import { renderDifference, renderPreview } from '../../../cli/plan/render.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { type Preview, preview } from '../../../shared/preview/preview.ts';
import type { Json } from '../../../shared/sim/json.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';
import { MINUTE, spread } from '../app/world.ts';

/** Three nodes of spread pods, one of which has gone, and some that share them. */
async function previews(manifests: readonly Json[]) {
  const pool = nodePool(['on-demand', 'spot']);
  const pods = [spread('web', 3), deployment('job', 4, '700m')];
  const { world, script } = await smallWorld([nodeClass, pool, ...pods]);
  await world.run(world.timeline.nowMs() + 3 * MINUTE);
  script.apply([spread('web', 1)]);
  await world.run(world.timeline.nowMs() + 40_000);
  const { cluster, catalog } = world.ports;
  const live = await cluster.read();
  const prices = await loadCatalog('us-east-1');
  const of = async (more: readonly Json[]): Promise<Preview> => {
    const { state } = withChanges(live, more);
    const nowMs = world.timeline.nowMs();
    return await preview({ live: cluster, state, catalog, prices, nowMs });
  };
  return { now: await of([]), changed: await of(manifests) };
}

function labelled(team: string): Json {
  const pool = nodePool(['on-demand']);
  const spec = pool['spec'] as { readonly template: Json };
  return {
    ...pool,
    spec: { ...spec, template: { ...spec.template, metadata: { labels: { team } } } },
  };
}

describe('a preview for people', () => {
  it('says what goes, what comes, what waits and why', async () => {
    const more = [deployment('api', 30, '1500m'), deployment('big', 2, '500'), labelled('red')];
    const { now, changed } = await previews(more);
    await expect(renderPreview(now)).toMatchFileSnapshot('golden/now.txt');
    await expect(
      `${renderPreview(changed)}\n\n${renderDifference(now, changed)}`,
    ).toMatchFileSnapshot('golden/changed.txt');
  });

  it('cuts what is long, and JSON does not', () => {
    const held = Array.from({ length: 25 }, (_, at) => ({
      object: `Node/${at}`,
      message: `${at}`,
    }));
    const empty = { newNodeClaims: [], existing: [], unplaced: new Map() };
    const found = {
      plan: empty as unknown as Preview['plan'],
      overlays: [],
      launches: [],
      removals: [],
      drifted: [],
      leaving: [],
      held,
      kept: new Map(),
      pricePerHour: { now: 0, after: 0, unpriced: 0 },
      failures: [],
      snapshot: empty as unknown as Preview['snapshot'],
    };
    const text = renderPreview(found);
    expect(text).toContain('Nothing to launch or to remove.');
    expect(text).toContain('  Node/19: 19\n  and 5 more\n');
    expect(text).not.toContain('Node/20');
  });
});
