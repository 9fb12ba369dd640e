import { describe, expect, it } from 'vitest';
import { explainClaim } from '../../../cli/explain/claim.ts';
import { explainPod, type PodExplanation } from '../../../cli/explain/pod.ts';
import { renderClaim, renderPod } from '../../../cli/explain/render.ts';
import { planningOf, preview } from '../../../cli/plan/preview.ts';
import { nodeRows } from '../../../cli/top/rows.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { NODE_POOL_HASH } from '../../../shared/core/model/labels.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import type { World } from '../../../shared/sim/world.ts';
import { deployment, nodePool } from '../../sim/small-world.ts';
import { runningWorld, spread, waitingWorld } from '../app/world.ts';

function inputOf({ ports, timeline }: World, state: ClusterState) {
  return { live: ports.cluster, state, catalog: ports.catalog, nowMs: timeline.nowMs() };
}

async function podOf(world: World, app: string): Promise<PodExplanation> {
  const state = await world.ports.cluster.read();
  const [pod] = state.objects.pods.filter(({ labels }) => labels['app'] === app);
  if (pod === undefined) throw new Error(`no pod of ${app}`);
  const input = inputOf(world, state);
  return explainPod(pod, await preview(input), await planningOf(input));
}

async function claimOf(world: World, change = (state: ClusterState) => state): Promise<string> {
  const state = change(await world.ports.cluster.read());
  const rows = nodeRows(state, await loadCatalog('us-east-1'), world.timeline.nowMs());
  const [row] = rows;
  const claim = state.objects.nodeClaims.find(({ name }) => name === row?.nodeClaim);
  if (row === undefined || claim === undefined) throw new Error('no NodeClaim');
  return renderClaim(explainClaim(claim, row, state, await preview(inputOf(world, state))));
}

describe('a pod that waits', () => {
  const arm = { 'karpenter.k8s.aws/instance-family': 'm7g' };

  it('gets a new node: which, what else, beside whom, and what was left to choose from', async () => {
    const { world } = await waitingWorld([
      deployment('arm', 2, '900m', { nodeSelector: arm }),
      deployment('other', 1, '100m'),
    ]);
    expect(renderPod(await podOf(world, 'arm'))).toMatchInlineSnapshot(`
      "Pod default/arm-rgnkfgkbnh-cjxfk
        phase        Pending
        would get    a new node of NodePool default: m7g.large on-demand in us-east-1a at $0.0816/h
        next best    m7g.xlarge on-demand in us-east-1a at $0.1632/h: holds the same pods for $0.0816 more an hour
        overlays     none
        types left   3 for the launch, cheapest first
        with         default/arm-rgnkfgkbnh-mcqdn, default/other-jpptqbbgsb-4rkbk

      A node of its own, by NodePool
        default   12 types → 3 after karpenter.k8s.aws/instance-family In [m7g]"
    `);
  });

  it('that fits nowhere stays pending, and the stages say why', async () => {
    const { world } = await waitingWorld([deployment('huge', 1, '100', { nodeSelector: arm })]);
    const found = await podOf(world, 'huge');
    expect(found.place).toMatchObject({ kind: 'none' });
    expect(found.options).toEqual([
      {
        nodePool: 'default',
        types: 12,
        stages: [
          { what: 'karpenter.k8s.aws/instance-family In [m7g]', before: 12, after: 3 },
          { what: 'cpu 100', before: 3, after: 0 },
        ],
        left: 0,
      },
    ]);
  });

  it('goes to a node that is there where that has room', async () => {
    const { world, add } = await waitingWorld([]);
    await add([deployment('web', 1, '100m')]);
    const state = await world.ports.cluster.read();
    const running = await runningWorld([deployment('api', 1, '1')]);
    const { nodes, nodeClaims } = (await running.ports.cluster.read()).objects;
    const both = { ...state, objects: { ...state.objects, nodes, nodeClaims } };
    const [pod] = state.objects.pods;
    if (pod === undefined) throw new Error('no pod');
    const input = inputOf(running, both);
    const { place } = explainPod(pod, await preview(input), await planningOf(input));
    expect(place).toEqual({ kind: 'existing', node: nodes[0]?.name });
  });

  it('where there is no usable NodePool learns that', async () => {
    const { world } = await waitingWorld(
      [deployment('web', 1, '1')],
      nodePool(['on-demand'], { limits: { cpu: '0' } }),
    );
    const { place, options } = await podOf(world, 'web');
    expect(place).toMatchObject({ kind: 'none', why: expect.stringContaining('limits') });
    expect(options.at(-1)?.left).toBe(0);
  });
});

describe('a pod that runs', () => {
  it('is where it is, with what there was to choose from', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const found = await podOf(world, 'web');
    expect(found).toMatchObject({ phase: 'Running', place: { kind: 'bound' } });
    expect(found.options).toEqual([{ nodePool: 'default', types: 12, stages: [], left: 12 }]);
  });
});

describe('a node', () => {
  it('that is as it should be stays', async () => {
    const world = await runningWorld([spread('web', 1)]);
    expect(await claimOf(world)).toMatchInlineSnapshot(`
      "NodeClaim default-l742n
        node         ip-10-0-0-1.ec2.internal
        NodePool     default
        is           c7g.large on-demand in us-east-1a, $0.0725/h
        planned as   c7g.large on-demand in us-east-1a, $0.0725/h
        decision     provision-default-l742n
        age          2m26s
        pods         default/web-ssbjrhldqg-cjxfk
        now          stays as it is

      Conditions
        Initialized   True
        Launched      True
        Ready         True
        Registered    True

      Noted on it
        joiner.dev/nominated-until   2026-01-01T00:00:20.600Z"
    `);
  });

  it('that drifted is replaced, or says what keeps it', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const drifted = (annotations: Readonly<Record<string, string>>) => (state: ClusterState) => ({
      ...state,
      objects: {
        ...state.objects,
        nodes: state.objects.nodes.map((node) => ({ ...node, annotations })),
        nodeClaims: state.objects.nodeClaims.map((claim) => ({
          ...claim,
          annotations: { ...claim.annotations, [NODE_POOL_HASH]: 'of-yesterday' },
        })),
      },
    });
    expect(await claimOf(world, drifted({}))).toMatch(
      /now +goes once 1 new are ready: The template/,
    );
    const kept = await claimOf(world, drifted({ 'karpenter.sh/do-not-disrupt': 'true' }));
    expect(kept).toMatch(/now +is held back: Node \S+ has the annotation karpenter.sh\/do-not/);
    expect(kept).toMatch(/Noted on it\n {2}karpenter.sh\/do-not-disrupt +true/);
  });
});
