import { describe, expect, it } from 'vitest';
import { explainClaim } from '../../../cli/explain/claim.ts';
import { explainPod, type PodExplanation } from '../../../cli/explain/pod.ts';
import { renderClaim, renderPod } from '../../../cli/explain/render.ts';
import { nodeRows } from '../../../cli/top/rows.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import type { PodDisruptionBudget } from '../../../shared/core/model/cluster.ts';
import {
  DO_NOT_DISRUPT,
  NODE_POOL_HASH,
  PLAN,
  REPLACED_BY,
} from '../../../shared/core/model/labels.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../../shared/ports.ts';
import { planningOf, preview } from '../../../shared/preview/preview.ts';
import type { World } from '../../../shared/sim/world.ts';
import { deployment, nodePool } from '../../sim/small-world.ts';
import { runningWorld, spread, waitingWorld } from '../app/world.ts';

const prices = await loadCatalog('us-east-1');

function inputOf({ ports, timeline }: World, state: ClusterState) {
  return { live: ports.cluster, state, catalog: ports.catalog, prices, nowMs: timeline.nowMs() };
}

async function podOf(world: World, app: string): Promise<PodExplanation> {
  const state = await world.ports.cluster.read();
  const [pod] = state.objects.pods.filter(({ labels }) => labels['app'] === app);
  if (pod === undefined) throw new Error(`no pod of ${app}`);
  return await explained(world, state, pod);
}

async function explained(world: World, state: ClusterState, pod: Pod): Promise<PodExplanation> {
  const input = inputOf(world, state);
  const around = { state, rows: nodeRows(state, prices, world.timeline.nowMs()) };
  return explainPod(pod, await preview(input), around, await planningOf(input));
}

async function claimOf(
  world: World,
  change = (state: ClusterState) => state,
  by: 'row' | 'claim' = 'row',
): Promise<string> {
  const state = change(await world.ports.cluster.read());
  const nowMs = world.timeline.nowMs();
  const rows = nodeRows(state, prices, nowMs);
  const [first] = state.objects.nodeClaims;
  const row = by === 'row' ? rows[0] : rows.find(({ nodeClaim }) => nodeClaim === first?.name);
  const claim = state.objects.nodeClaims.find(({ name }) => name === row?.nodeClaim);
  if (row === undefined || claim === undefined) throw new Error('no NodeClaim');
  const input = { ...inputOf(world, state), settings: world.settings };
  const found = await preview(input, { asked: claim.name });
  return renderClaim(await explainClaim(claim, row, input, found));
}

/** Selects all pods and allows no eviction. */
function closedBudget(): PodDisruptionBudget {
  const selector = { matchLabels: {}, matchExpressions: [] };
  return {
    namespace: 'default',
    name: 'closed',
    selector,
    disruptionsAllowed: 0,
    maxUnavailable: 0,
    minAvailable: undefined,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
  };
}

describe('a pod that waits', () => {
  const arm = { 'karpenter.k8s.aws/instance-family': 'm7g' };

  it('gets a new node: which, what else, beside whom, and what was left to choose from', async () => {
    const { world } = await waitingWorld([
      deployment('arm', 2, '900m', { nodeSelector: arm }),
      deployment('other', 1, '100m'),
    ]);
    await expect(renderPod(await podOf(world, 'arm'))).toMatchFileSnapshot('golden/pod.txt');
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
          {
            code: 'node-affinity',
            parameters: { key: 'karpenter.k8s.aws/instance-family', values: 'In [m7g]' },
            what: 'karpenter.k8s.aws/instance-family In [m7g]',
            before: 12,
            after: 3,
          },
          {
            code: 'request-too-large',
            parameters: { resource: 'cpu', amount: '100' },
            what: 'cpu 100',
            before: 3,
            after: 0,
          },
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
    const { place } = await explained(running, both, pod);
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

  it('is on a node that was launched while it waited, beside others', async () => {
    const world = await runningWorld([deployment('web', 2, '100m')]);
    const found = await podOf(world, 'web');
    const text = renderPod(found);
    expect(text).toMatch(
      /which is +\S+ on-demand in us-east-1\w, \$[0-9.]+\/h, of NodePool default/,
    );
    expect(text).toMatch(/because +kube-scheduler chose it; the node was launched while it waited/);
    expect(text).toMatch(/with +default\/web-\S+$/m);
  });

  it.each([
    ['was there before', { createdAtMs: Number.MAX_SAFE_INTEGER }, 'the node was there, with room'],
    ['is gone', { nodeName: 'gone' }, 'gone, which is gone'],
  ])('is on a node that %s', async (_, change, says) => {
    const world = await runningWorld([deployment('web', 1, '100m')]);
    const state = await world.ports.cluster.read();
    const [pod] = state.objects.pods.filter(({ labels }) => labels['app'] === 'web');
    if (pod === undefined) throw new Error('no pod');
    expect(renderPod(await explained(world, state, { ...pod, ...change }))).toContain(says);
  });
});

/** The text of the first NodeClaim with another annotation of its plan. */
async function plannedBy(world: World, plan: string): Promise<string> {
  return claimOf(world, (state) => {
    const annotated = (claim: NodeClaim) => ({
      ...claim,
      annotations: { ...claim.annotations, [PLAN]: plan },
    });
    const { objects } = state;
    return {
      ...state,
      objects: { ...objects, nodeClaims: objects.nodeClaims.map(annotated) },
    };
  });
}

describe('a node', () => {
  it('has a runner-up, none, or a plan that does not say', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const chosen = { type: 'a', capacityType: 'spot', zone: 'z', price: 1 };
    const text = (runnerUp?: object | null) =>
      plannedBy(world, JSON.stringify({ ...chosen, ...(runnerUp !== undefined && { runnerUp }) }));
    expect(await text({ ...chosen, type: 'b' })).toContain('runner-up    b spot in z, $1.0000/h');
    expect(await text(null)).toContain('runner-up    none: no other fits');
    expect(await text()).not.toContain('runner-up');
  });

  it('is kept by what is named, and then by what would be named, until it goes', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const text = await claimOf(world, (state) => {
      const { nodes, nodePools } = state.objects;
      const annotations = { [DO_NOT_DISRUPT]: 'true' };
      const kept = {
        nodes: nodes.map((node) => ({ ...node, annotations })),
        nodePools: nodePools.map((pool) => ({
          ...pool,
          disruption: { ...pool.disruption, consolidateAfter: 'Never' as const },
        })),
      };
      return { ...state, objects: { ...state.objects, ...kept } };
    });
    await expect(text).toMatchFileSnapshot('golden/claim-kept.txt');
  });

  it('that is as it should be stays', async () => {
    const world = await runningWorld([spread('web', 1)]);
    await expect(await claimOf(world)).toMatchFileSnapshot('golden/claim.txt');
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
    expect(kept).toMatch(
      /now +is held back: it has drifted \(NodePoolDrifted\); Node \S+ has the ann/,
    );
    expect(kept).toMatch(/Noted on it\n {2}karpenter.sh\/do-not-disrupt +true/);
  });

  it.each<[string, (claim: NodeClaim) => Partial<NodeClaim>, RegExp]>([
    ['is deleted', () => ({ deletedAtMs: 1 }), /now +goes: it is being drained and terminated/],
    [
      'is replaced',
      ({ annotations }) => ({ annotations: { ...annotations, [REPLACED_BY]: 'default-abcde' } }),
      /now +goes: it goes once default-abcde is ready/,
    ],
    ['has expired', () => ({ expireAfter: 1000 }), /now +goes: it is older than spec.expireAfter/],
    [
      'has no instance',
      () => ({ providerId: undefined }),
      /now +starts: its instance is not launched yet/,
    ],
    ['is not ready', () => ({ conditions: [] }), /now +starts: its node is not ready yet/],
  ])('that %s says so', async (_, change, expected) => {
    const world = await runningWorld([spread('web', 1)]);
    const changed = (state: ClusterState): ClusterState => ({
      ...state,
      objects: {
        ...state.objects,
        nodeClaims: state.objects.nodeClaims.map((claim) => ({ ...claim, ...change(claim) })),
      },
    });
    expect(await claimOf(world, changed, 'claim')).toMatch(expected);
  });

  it('that somebody has deleted is not said to come yet', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const without = (state: ClusterState): ClusterState => ({
      ...state,
      objects: { ...state.objects, nodes: [] },
    });
    expect(await claimOf(world, without, 'claim')).toMatch(/node +gone, after it had joined/);
  });

  it('that has expired in a window of its NodePool is held back', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const changed = (state: ClusterState): ClusterState => ({
      ...state,
      objects: {
        ...state.objects,
        nodePools: state.objects.nodePools.map((pool) => ({
          ...pool,
          annotations: { ...pool.annotations, 'joiner.dev/pause': 'disrupt from @daily for 24h' },
        })),
        nodeClaims: state.objects.nodeClaims.map((claim) => ({ ...claim, expireAfter: 1000 })),
      },
    });
    const [, now = ''] = /now +(.*)/.exec(await claimOf(world, changed, 'claim')) ?? [];
    expect(now).toMatch(/^is held back: it is older than spec.expireAfter: expiration waits for/);
    expect(now).toContain('pauses disruptions: disrupt from @daily for 24h');
  });

  it('that drifted and is kept by two things names both, and goes without them', async () => {
    const world = await runningWorld([spread('web', 2)]);
    const budgets = [
      { nodes: '0', schedule: undefined, durationMs: undefined, reasons: undefined },
    ];
    const kept = (state: ClusterState): ClusterState => ({
      ...state,
      objects: {
        ...state.objects,
        nodePools: state.objects.nodePools.map((pool) => ({
          ...pool,
          disruption: { ...pool.disruption, budgets },
        })),
        podDisruptionBudgets: [closedBudget()],
        nodeClaims: state.objects.nodeClaims.map((claim) => ({
          ...claim,
          annotations: { ...claim.annotations, [NODE_POOL_HASH]: 'of-yesterday' },
        })),
      },
    });
    const text = await claimOf(world, kept);
    const [, now = ''] = /now +(.*)/.exec(text) ?? [];
    expect(now).toMatch(/^is held back: it has drifted \(NodePoolDrifted\); /);
    expect(now).toContain('PodDisruptionBudget default/closed does not allow the eviction of');
    expect(now).toContain('due to blocking budget');
    expect(text).toMatch(/without that +goes/);
  });

  it('that is drained says which PodDisruptionBudget holds the drain', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const drained = (state: ClusterState): ClusterState => ({
      ...state,
      objects: {
        ...state.objects,
        podDisruptionBudgets: [closedBudget()],
        nodeClaims: state.objects.nodeClaims.map((claim) => ({ ...claim, deletedAtMs: 1 })),
      },
    });
    expect(await claimOf(world, drained, 'claim')).toMatch(
      /now +goes: it is being drained and terminated: PodDisruptionBudget default\/closed does not/,
    );
  });

  it('that waits for a budget says what its pool says', async () => {
    const world = await runningWorld([spread('web', 1)]);
    const closed = (state: ClusterState): ClusterState => ({
      ...state,
      objects: {
        ...state.objects,
        nodePools: state.objects.nodePools.map((pool) => ({
          ...pool,
          disruption: {
            ...pool.disruption,
            budgets: [
              { nodes: '0', schedule: undefined, durationMs: undefined, reasons: undefined },
            ],
          },
        })),
        nodeClaims: state.objects.nodeClaims.map((claim) => ({
          ...claim,
          annotations: { ...claim.annotations, [NODE_POOL_HASH]: 'of-yesterday' },
        })),
      },
    });
    expect(await claimOf(world, closed)).toMatch(
      /held back: it has drifted .*No allowed disruptions/,
    );
  });
});

describe('what a pod could be given', () => {
  it('is told before the pod itself has taken it: a limit', async () => {
    const { world } = await waitingWorld(
      [deployment('web', 1, '1')],
      nodePool(['on-demand'], { limits: { cpu: '2' } }),
    );
    const { place, options } = await podOf(world, 'web');
    expect(place.kind).toBe('new');
    expect(options[0]?.left).toBeGreaterThan(0);
    expect(options[0]?.stages.map(({ what }) => what)).toEqual([expect.stringContaining('limits')]);
  });

  it('and a zone that it keeps others out of', async () => {
    const term = {
      topologyKey: 'topology.kubernetes.io/zone',
      labelSelector: { matchLabels: { app: 'web' } },
    };
    const affinity = {
      podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [term] },
    };
    const nodeSelector = { 'topology.kubernetes.io/zone': 'us-east-1a' };
    const { world } = await waitingWorld([deployment('web', 1, '1', { affinity, nodeSelector })]);
    const { place, options } = await podOf(world, 'web');
    expect(place.kind).toBe('new');
    expect(options[0]?.left).toBe(12);
  });
});
