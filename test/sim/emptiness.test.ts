import { describe, expect, it } from 'vitest';
import { DO_NOT_DISRUPT, INSTANCE_TYPE } from '../../shared/core/model/labels.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import {
  apart,
  CHANGE,
  claimsOf,
  entries,
  MINUTE,
  object,
  poolWith,
  run,
  runningPods,
} from './rolls.ts';
import { deployment, nodeClass, nodePool, withRequirement } from './small-world.ts';

const NODES = 4;

const scaled = (at: number, replicas: number): Scenario['steps'][number] => ({
  at,
  scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas },
});

/** One pod on each of four nodes. */
function four(disruption: Json = {}, spec: Json = {}): readonly Json[] {
  const pool = nodePool(['on-demand'], { disruption, ...spec });
  return [nodeClass, pool, deployment('web', NODES, '1', apart)];
}

const allAtOnce = { budgets: [{ nodes: '100%' }] };

/** When the claims' deletion began, in minutes after the pods had gone. */
function removedAfter(world: World): readonly number[] {
  return entries(world, 'removed').map(({ at }) => (at * 1000 - CHANGE) / MINUTE);
}

function taints(world: World): readonly string[] {
  const { nodes } = readState(world.store).objects;
  return nodes.flatMap((node) => node.taints.map(({ key }) => key));
}

describe('a node that nothing runs on', () => {
  it.each([
    ['WhenEmpty', '0s', 0, 2],
    ['WhenEmptyOrUnderutilized', '0s', 0, 2],
    ['Balanced', '0s', 0, 2],
    ['WhenEmpty', '30s', 0.5, 3],
    ['WhenEmpty', '5m', 5, 8],
  ])('goes by %s after %s', async (consolidationPolicy, consolidateAfter, least, most) => {
    const disruption = { ...allAtOnce, consolidationPolicy, consolidateAfter };
    const { world, broken } = await run(four(disruption), 15, [scaled(CHANGE, 0)]);
    expect(broken).toEqual([]);
    expect(claimsOf(world)).toEqual([]);
    const after = removedAfter(world);
    expect(after).toHaveLength(NODES);
    expect(Math.min(...after)).toBeGreaterThanOrEqual(least);
    expect(Math.max(...after)).toBeLessThanOrEqual(most);
    expect(world.evictions).toBe(0);
  });

  const buffer: Json = {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name: 'room', namespace: 'default' },
    spec: { scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' }, replicas: NODES },
  };
  const never = { ...allAtOnce, consolidateAfter: 'Never' };
  const closed = { budgets: [{ nodes: '0', reasons: ['Empty'] }] };

  it.each<[string, readonly Json[]]>([
    ['where consolidateAfter is Never', four(never)],
    ['where a budget for empty nodes is 0', four(closed)],
    ['where nodes are wanted whatever the pods', four(allAtOnce, { replicas: NODES })],
    ['where a CapacityBuffer asks for its room', [...four(allAtOnce), buffer]],
  ])('stays %s', async (_, manifests) => {
    const steps = [scaled(CHANGE, 0)];
    const { world, broken } = await run(manifests, 15, steps);
    expect(broken).toEqual([]);
    expect(claimsOf(world)).toHaveLength(NODES);
    expect(world.launched - world.terminated).toBe(NODES);
    expect(taints(world)).toEqual([]);
  });

  it('goes where a budget is for other reasons only', async () => {
    const budgets = [{ nodes: '0', reasons: ['Drifted', 'Underutilized'] }, { nodes: '100%' }];
    const { world } = await run(four({ budgets }), 10, [scaled(CHANGE, 0)]);
    expect(claimsOf(world)).toEqual([]);
  });

  it('goes one at a time where the budget is 1', async () => {
    const budgets = [{ nodes: '1' }];
    const { world, disruptedMost } = await run(four({ budgets }), 20, [scaled(CHANGE, 0)]);
    expect(claimsOf(world)).toEqual([]);
    expect(disruptedMost).toBe(1);
  });

  it('stays while disruptions are paused, and its pool is full again without a launch', async () => {
    const until = CHANGE + 6 * MINUTE;
    const steps = [scaled(CHANGE, 0), scaled(until, NODES)];
    const { world } = await run(four(allAtOnce), 15, steps, {
      paused: () => ({ disrupt: Number.POSITIVE_INFINITY }),
    });
    expect(world.launched).toBe(NODES);
    expect(runningPods(world)).toBe(NODES);
  });

  it('that its annotation protects stays, and the others go', async () => {
    const protect = (world: World): void => {
      const [node] = readState(world.store)
        .objects.nodes.map(({ name }) => name)
        .sort();
      if (node === undefined) return;
      void world.ports.cluster.patchNode(
        { kind: 'Node', name: node },
        { annotations: { [DO_NOT_DISRUPT]: 'true' } },
      );
    };
    let isDone = false;
    const { world } = await run(four(allAtOnce), 12, [scaled(CHANGE, 0)], {
      watch: (made) => () => {
        const isUp = runningPods(made) === NODES;
        if (isUp && !isDone) protect(made);
        isDone ||= isUp;
        return [];
      },
    });
    expect(claimsOf(world)).toHaveLength(1);
    expect(taints(world)).toEqual([]);
  });
});

describe('the time that a node has been empty', () => {
  const patient = four({ ...allAtOnce, consolidateAfter: '4m' });
  const noted = (world: World) =>
    claimsOf(world).map(({ lastPodEventAtMs = 0 }) => lastPodEventAtMs - WORLD_START_MS);

  it('is on its claim: when its last pod was told to go', async () => {
    const { world } = await run(patient, 6, [scaled(CHANGE, 1)]);
    expect(claimsOf(world)).toHaveLength(NODES);
    expect(noted(world).filter((ms) => ms === CHANGE)).toHaveLength(NODES - 1);
  });

  it('begins anew when pods have been there', async () => {
    const steps = [
      scaled(CHANGE, 0),
      scaled(CHANGE + 3 * MINUTE, NODES),
      scaled(CHANGE + 5 * MINUTE, 0),
    ];
    const { world } = await run(patient, 20, steps);
    expect(world.launched).toBe(NODES);
    expect(Math.min(...removedAfter(world))).toBeGreaterThan(5 + 4);
    expect(claimsOf(world)).toEqual([]);
  });
});

describe('removing empty nodes', () => {
  it('leads to no launch: what comes back has gone for good', async () => {
    const steps = [2, 5, 1, 4, 0, 3].map((replicas, index) =>
      scaled(CHANGE + index * 4 * MINUTE, replicas),
    );
    const { world, broken } = await run(four(allAtOnce), 40, steps);
    expect(broken).toEqual([]);
    expect(runningPods(world)).toBe(3);
    expect(claimsOf(world)).toHaveLength(3);
    expect(taints(world)).toEqual([]);
    expect(world.evictions).toBe(0);
    const last = Math.max(...entries(world, 'launched').map(({ at }) => at * 1000));
    expect(last).toBeLessThan(CHANGE + 21 * MINUTE);
  });
});

describe('while nodes are being replaced', () => {
  it('current nodes that are empty take the pods of drifted ones', async () => {
    /** Neither two of their own nor two of each other's on one node. */
    const together: Json = {
      affinity: {
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            {
              topologyKey: 'kubernetes.io/hostname',
              labelSelector: {
                matchExpressions: [{ key: 'app', operator: 'In', values: ['web', 'new'] }],
              },
            },
          ],
        },
      },
    };
    const scale = (at: number, replicas: number) => ({
      at,
      scale: { kind: 'Deployment' as const, name: 'new', namespace: 'default', replicas },
    });
    const until = CHANGE + 4 * MINUTE;
    const manifests = [
      nodeClass,
      poolWith({ team: 'a' }, allAtOnce),
      deployment('web', 3, '1', together),
      deployment('new', 0, '1', together),
    ];
    const steps = [
      object(poolWith({ team: 'b' }, allAtOnce)),
      scale(CHANGE + 10_000, 3),
      scale(until - 30_000, 0),
    ];
    const { world, broken } = await run(manifests, 25, steps, {
      paused: (now) =>
        now.timeline.nowMs() < WORLD_START_MS + until ? { disrupt: Number.POSITIVE_INFINITY } : {},
    });
    expect(broken).toEqual([]);
    expect(world.launched).toBe(6);
    expect(claimsOf(world).map(({ labels }) => labels['team'])).toEqual(['b', 'b', 'b']);
    expect(runningPods(world)).toBe(3);
  });
});

it('an empty node goes though a drifted one stays whose pods cannot use it', async () => {
  const disruption = { consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s', ...allAtOnce };
  const onlyOn = (type: string): Json => ({ nodeSelector: { [INSTANCE_TYPE]: type } });
  const pool = nodePool(['on-demand'], { disruption });
  const other = { key: INSTANCE_TYPE, operator: 'NotIn', values: ['m7g.xlarge'] };
  const stuck = deployment('stuck', 1, '1', onlyOn('m7g.xlarge'));
  const web = deployment('web', 1, '1500m', onlyOn('c7g.large'));
  const steps = [
    object(withRequirement(pool, other)),
    { at: 10 * MINUTE, apply: [web as never] },
    scaled(15 * MINUTE, 0),
  ];
  const { world } = await run([nodeClass, pool, stuck], 14, steps);
  expect(claimsOf(world)).toHaveLength(2);
  await world.run(WORLD_START_MS + 40 * MINUTE);
  expect(claimsOf(world).map(({ labels }) => labels[INSTANCE_TYPE])).toEqual(['m7g.xlarge']);
});
