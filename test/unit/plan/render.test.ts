import { describe, expect, it } from 'vitest';
import { withChanges } from '../../../cli/plan/changes.ts';
import { type Preview, preview } from '../../../cli/plan/preview.ts';
import { renderDifference, renderPreview } from '../../../cli/plan/render.ts';
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
  const of = async (more: readonly Json[]): Promise<Preview> => {
    const { state } = withChanges(live, more);
    return await preview({ live: cluster, state, catalog, nowMs: world.timeline.nowMs() });
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
    expect(renderPreview(now)).toMatchInlineSnapshot(`
      "To remove
        NODECLAIM       NODEPOOL   TYPE        ZONE         CAPACITY   PRICE/H   PODS   WHY
        default-q7kds   default    c6a.large   us-east-1b   spot       $0.0265   0      Nothing runs on its node

      $0.1042/h now, $0.0777/h after"
    `);
    expect(`${renderPreview(changed)}\n\n${renderDifference(now, changed)}`).toMatchInlineSnapshot(`
      "To launch
        COUNT   NODEPOOL   TYPE          ZONE         CAPACITY    PRICE/H   PODS   WHY
        6       default    c7g.2xlarge   us-east-1a   on-demand   $0.2900   29     next best c6a.2xlarge on-demand in us-east-1a: holds the same pods for $0.0160 more an hour

      To remove
        NODECLAIM       NODEPOOL   TYPE        ZONE         CAPACITY   PRICE/H   PODS   WHY
        default-bqlv6   default    c6a.large   us-east-1b   spot       $0.0265   1      The template of NodePool default has changed; its pods need no other node

      Nodes there are that get pods
        ip-10-0-0-3.ec2.internal: 1 pod

      Pods that stay pending
        default/big-new1 and 1 more: NodePool default: 12 types → 0 after cpu 500; none of 3 existing nodes has room for it

      Drifted
        default-bqlv6 and 2 more: NodePoolDrifted, The template of NodePool default has changed

      Held back
        NodeClaim/default-q7kds and 1 more: Pods are about to be bound to the node
        NodeClaim/default-l742n: Its pods would go to default-new6, which still starts

      $0.1042/h now, $1.8177/h after

      DIFFERENCE
      to launch 0 → 6, to remove 1 → 1, drifted 0 → 3, pods left pending 0 → 2, +$1.7400/h"
    `);
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
      held,
      pricePerHour: { now: 0, after: 0 },
      failures: [],
    };
    const text = renderPreview(found);
    expect(text).toContain('Nothing to launch or to remove.');
    expect(text).toContain('  Node/19: 19\n  and 5 more\n');
    expect(text).not.toContain('Node/20');
  });
});
