import { describe, expect, it } from 'vitest';
import { DO_NOT_DISRUPT, LIMITS_GUARD } from '../../shared/core/model/labels.ts';
import type { Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { budgetWatch } from './invariants.ts';
import { apart, CHANGE, claimsOf, MINUTE, run, runningPods } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

type Steps = Scenario['steps'];
type Step = Steps[number];

const scaled = (at: number, name: string, replicas: number): Step => ({
  at,
  scale: { kind: 'Deployment', name, namespace: 'default', replicas },
});

const allAtOnce = { budgets: [{ nodes: '100%' }] };

/** Nodes that are full of pods of two kinds: where one kind goes, half of each node is left. */
function halves(disruption: Json = allAtOnce, spec: Json = {}, capacity = ['on-demand']) {
  const beside = { labels: { app: 'a' } };
  const pool = nodePool(capacity, { disruption, ...spec });
  return [nodeClass, pool, deployment('a', 8, '800m'), deployment('b', 8, '800m', beside)];
}

const half: Steps = [scaled(CHANGE, 'b', 0), scaled(CHANGE, 'a', 8)];

function pricePerHour(world: World): number {
  return world.journal.entries.at(-1)?.pricePerHour ?? 0;
}

function decisions(world: World, action: string): readonly string[] {
  return world.recorder.decisions
    .filter(({ useCase, action: done }) => useCase === 'disrupt' && done === action)
    .map(({ message }) => message);
}

function disruptionOf(changes: Json): Json {
  return { ...allAtOnce, ...changes };
}

describe('nodes that are half empty', () => {
  it.each([
    ['WhenEmptyOrUnderutilized', '0s'],
    ['WhenEmptyOrUnderutilized', '4m'],
    ['Balanced', '0s'],
  ])('go by %s after %s', async (consolidationPolicy, consolidateAfter) => {
    const pool = disruptionOf({ consolidationPolicy, consolidateAfter });
    const never = halves(disruptionOf({ consolidateAfter: 'Never' }));
    const { world, broken } = await run(halves(pool), 25, half);
    expect(broken).toEqual([]);
    expect(runningPods(world)).toBe(8);
    const { world: before } = await run(never, 25, half);
    expect(pricePerHour(world)).toBeLessThanOrEqual(0.6 * pricePerHour(before));
    const made = [...decisions(world, 'delete'), ...decisions(world, 'replace')];
    const moves = made.filter((each) => /^Underutilized: deleting .* saves \$0\./.test(each));
    expect(moves.length).toBeGreaterThan(0);
    expect(world.evictions).toBeGreaterThan(0);
  });

  it.each<[string, readonly Json[]]>([
    ['where only empty ones may go', halves(disruptionOf({ consolidationPolicy: 'WhenEmpty' }))],
    ['where consolidateAfter is Never', halves(disruptionOf({ consolidateAfter: 'Never' }))],
    ['where it is long', halves(disruptionOf({ consolidateAfter: '2h' }))],
    [
      'where a budget for them is 0',
      halves({ budgets: [{ nodes: '0', reasons: ['Underutilized'] }] }),
    ],
    [
      'where their NodePool lets no node have more limits',
      [guarded('cpu=0.1'), ...halves().filter(({ kind }) => kind !== 'NodePool')],
    ],
    [
      'where what their NodePool says of limits cannot be read',
      [guarded('much'), ...halves().filter(({ kind }) => kind !== 'NodePool')],
    ],
  ])('stay %s', async (_, manifests) => {
    const { world, broken } = await run(manifests, 20, half);
    expect(broken).toEqual([]);
    expect(world.evictions).toBe(0);
    expect(runningPods(world)).toBe(8);
  });

  function guarded(limits: string): Json {
    const pool = nodePool(['on-demand'], { disruption: allAtOnce });
    const metadata = { name: 'default', annotations: { [LIMITS_GUARD]: limits } };
    return { ...pool, metadata };
  }

  it('go one at a time where budgets say so', async () => {
    const { world, broken, disruptedMost } = await run(
      halves({ budgets: [{ nodes: '1' }] }),
      30,
      half,
    );
    expect(broken).toEqual([]);
    expect(disruptedMost).toBe(1);
    expect(world.evictions).toBeGreaterThan(0);
  });

  it('go within the PodDisruptionBudgets of their pods', async () => {
    const budget: Json = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'a', namespace: 'default' },
      spec: { minAvailable: 7, selector: { matchLabels: { app: 'a' } } },
    };
    const { world, broken } = await run([...halves(), budget], 30, half, {
      watch: (made) => budgetWatch(made, 'a', 7),
    });
    expect(broken).toEqual([]);
    expect(world.evictions).toBeGreaterThan(0);
    expect(runningPods(world)).toBe(8);
  });

  it('stay with a pod that must not be disrupted', async () => {
    const manifests = halves().map((each) => (each['kind'] === 'Deployment' ? held(each) : each));
    const { world } = await run(manifests, 20, half);
    expect(world.evictions).toBe(0);
  });

  function held(each: Json): Json {
    const spec = each['spec'] as { readonly template: { readonly metadata: Json } };
    const metadata = { ...spec.template.metadata, annotations: { [DO_NOT_DISRUPT]: 'true' } };
    return { ...each, spec: { ...spec, template: { ...spec.template, metadata } } };
  }

  it('stay while disruptions or launches are paused', async () => {
    for (const scope of ['disrupt', 'launch'] as const) {
      const paused = () => ({ [scope]: Number.POSITIVE_INFINITY });
      const { world } = await run(halves(), 15, half, {
        paused: (made) => (made.timeline.nowMs() < WORLD_START_MS + CHANGE ? {} : paused()),
      });
      expect(world.evictions).toBe(0);
    }
  });
});

/** One large node for many pods, of which few stay. */
function large(capacity: readonly string[]) {
  const pool = nodePool(capacity, { disruption: allAtOnce });
  return [nodeClass, pool, deployment('a', 1, '6500m'), deployment('b', 4, '200m')];
}

describe('a node for whose pods there is no other room', () => {
  it('is replaced by a cheaper one, which is there first', async () => {
    const { world, broken } = await run(large(['on-demand']), 20, [scaled(CHANGE, 'a', 0)], {
      watch: (made) => () => {
        const { pods } = readState(made.store).objects;
        const waiting = pods.filter(({ phase }) => phase === 'Pending').length;
        const isUp = made.timeline.nowMs() > WORLD_START_MS + CHANGE;
        return isUp && waiting > 4 ? [`${waiting} pods wait`] : [];
      },
    });
    expect(broken).toEqual([]);
    expect(runningPods(world)).toBe(4);
    const [message = ''] = decisions(world, 'replace');
    expect(message).toMatch(
      /The cost of the move, \$0\.\d{4}, is repaid in \d+ min; replacements: default-/,
    );
    expect(claimsOf(world).every(({ annotations }) => !annotations['joiner.dev/replaced-by'])).toBe(
      true,
    );
    expect(pricePerHour(world)).toBeLessThan(0.15);
  });

  it.each([
    [['spot'], 0],
    [['spot', 'on-demand'], 0],
    [['on-demand'], 1],
  ])('of %j has %d replacements: spot is not replaced by spot', async (capacity, replaced) => {
    const { world } = await run(large(capacity), 20, [scaled(CHANGE, 'a', 0)]);
    expect(decisions(world, 'replace')).toHaveLength(replaced);
  });

  it('stays where EC2 has nothing for it, and takes pods again', async () => {
    const { world, broken } = await run(large(['on-demand']), 30, [
      { at: CHANGE - MINUTE, unavailable: {} },
      scaled(CHANGE, 'a', 0),
    ]);
    expect(broken).toEqual([]);
    expect(decisions(world, 'replace').length).toBeGreaterThan(0);
    expect(decisions(world, 'none').length).toBeGreaterThan(0);
    expect(world.launched).toBe(1);
    expect(world.evictions).toBe(0);
    const { nodes, nodeClaims } = readState(world.store).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
    expect(nodeClaims.map(({ conditions }) => conditions.map(({ type }) => type))).not.toContain(
      'DisruptionReason',
    );
  });

  it('and others like it are replaced by one together', async () => {
    const beside = { labels: { app: 'a' } };
    const pool = nodePool(['on-demand'], { disruption: allAtOnce });
    const manifests = [
      nodeClass,
      pool,
      deployment('a', 3, '6'),
      deployment('b', 3, '1200m', beside),
    ];
    const { world, broken } = await run(manifests, 25, [scaled(CHANGE, 'a', 0)]);
    expect(broken).toEqual([]);
    expect(runningPods(world)).toBe(3);
    expect(claimsOf(world)).toHaveLength(1);
  });
});

describe('what else nodes that are half empty are subject to', () => {
  const changed: Json = {
    ...nodeClass,
    spec: { ...objectAt(nodeClass, 'spec'), tags: { team: 'other' } },
  };
  const frozen = {
    budgets: [{ nodes: '100%' }, { nodes: '0', reasons: ['Drifted'] }],
  };

  it('they go though they have drifted, where drift may replace none', async () => {
    const steps = [{ at: CHANGE, apply: [changed as never] }, scaled(CHANGE + 5_000, 'b', 0)];
    const { world, broken } = await run(halves(frozen), 25, steps);
    expect(broken).toEqual([]);
    expect(pricePerHour(world)).toBeLessThan(0.4);
    expect(decisions(world, 'replace')).toEqual([]);
  });

  it.each([{ cpu: '8' }, { nodes: '1' }])('%j holds for old and new together', async (limits) => {
    const pool = nodePool(['on-demand'], { disruption: allAtOnce, limits });
    const [, , ...workloads] = large(['on-demand']);
    const steps = [scaled(CHANGE, 'a', 0)];
    const { world, broken } = await run([nodeClass, pool, ...workloads], 15, steps);
    expect(broken).toEqual([]);
    expect(world.launched).toBe(1);
  });

  it('of more nodes than may be ended in a minute some go at once, the others later', async () => {
    const pool = nodePool(['on-demand'], { disruption: allAtOnce });
    const manifests = [
      nodeClass,
      pool,
      deployment('web', 9, '1000m', apart),
      deployment('b', 9, '800m'),
    ];
    const settings = { terminationsPerMinuteMax: 3 };
    const { world } = await smallWorld(manifests, {
      scenario: { steps: [scaled(CHANGE, 'web', 0)] },
      settings,
    });
    let most = 0;
    world.afterEachStep(() => {
      const going = claimsOf(world).filter(({ deletedAtMs }) => deletedAtMs !== undefined);
      most = Math.max(most, going.length);
    });
    await world.run(WORLD_START_MS + 30 * MINUTE);
    expect(most).toBe(3);
    expect(claimsOf(world).length).toBeLessThan(6);
  });

  it('they go when another NodePool can launch what is cheaper, though nothing else changes', async () => {
    const open = CHANGE + 10 * MINUTE;
    const only = (name: string, type: string): Json => {
      const pool = nodePool(['on-demand'], { disruption: allAtOnce });
      const spec = objectAt(pool, 'spec');
      const template = objectAt(spec, 'template');
      const requirements = [
        { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] },
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: [type] },
      ];
      const inner = { ...objectAt(template, 'spec'), requirements };
      return {
        ...pool,
        metadata: { name },
        spec: { ...spec, template: { ...template, spec: inner } },
      };
    };
    const manifests = [
      nodeClass,
      only('dear', 'm6a.2xlarge'),
      only('cheap', 'c7g.large'),
      deployment('a', 1, '6'),
      deployment('b', 4, '200m'),
    ];
    const halted = (ports: Ports): Ports => ({
      ...ports,
      memory: {
        unavailable: () => ports.memory.unavailable(),
        unavailableSubnets: () => ports.memory.unavailableSubnets(),
        markUnavailable: (...args) => ports.memory.markUnavailable(...args),
        forgetBars: (kind) => ports.memory.forgetBars(kind),
        unusedLaunches: () => ports.memory.unusedLaunches(),
        recordOutcomes: (outcomes) => ports.memory.recordOutcomes(outcomes),
        recordRegistration: (...args) => ports.memory.recordRegistration(...args),
        recordLaunchWay: (...args) => ports.memory.recordLaunchWay(...args),
        recordAllocatable: (...args) => ports.memory.recordAllocatable(...args),
        allocatable: () => ports.memory.allocatable(),
        failedRegistrations: async () => {
          const nowMs = ports.clock.nowMs();
          const failed = { count: 5, lastAtMs: nowMs - 1_000 };
          return nowMs < WORLD_START_MS + open ? new Map([['cheap', failed]]) : new Map();
        },
      },
    });
    const steps = [scaled(CHANGE, 'a', 0)];
    const { world } = await run(manifests, 25, steps, { wrap: halted });
    const priceAt = (ms: number) =>
      world.journal.entries.filter(({ at }) => at * 1000 <= ms).at(-1)?.pricePerHour ?? 0;
    expect(priceAt(open)).toBeGreaterThan(0.3);
    expect(pricePerHour(world)).toBeLessThan(0.1);
  });

  it('where their pods are protected while a new node starts they stay', async () => {
    const protect = (made: World): void => {
      for (const pod of made.store.list('Pod')) {
        const annotations = { ...pod.metadata.annotations, [DO_NOT_DISRUPT]: 'true' };
        made.store.update(pod, (now) => ({ ...now, metadata: { ...now.metadata, annotations } }));
      }
    };
    let isDone = false;
    const { world } = await run(large(['on-demand']), 30, [scaled(CHANGE, 'a', 0)], {
      watch: (made) => () => {
        if (!isDone && made.launched === 2) {
          isDone = true;
          protect(made);
        }
        return [];
      },
    });
    expect(isDone).toBe(true);
    expect(world.evictions).toBe(0);
    expect(decisions(world, 'none').length).toBeGreaterThan(0);
    const { nodes } = readState(world.store).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
  });
});
