import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { budgetWatch, claimsWithoutInstance, unclaimedInstances } from './invariants.ts';
import {
  ageOfJournal,
  apart,
  CHANGE,
  claimsOf,
  entries,
  imagesOf,
  isNew,
  MINUTE,
  newClass,
  object,
  type Paused,
  poolWith,
  run,
  runningPods,
  six,
} from './rolls.ts';
import { deployment, nodeClass, nodePool } from './small-world.ts';

describe('a roll of six nodes', () => {
  it('to a new image: one node tries it, then the others follow one by one', async () => {
    const { world, disruptedMost, broken } = await run(six, 60, [object(newClass)]);
    expect(broken).toEqual([]);
    expect(world.launched).toBe(12);
    expect(world.terminated).toBe(6);
    expect(runningPods(world)).toBe(6);
    expect(imagesOf(world).size).toBe(1);
    expect(claimsOf(world)).toHaveLength(6);
    expect(claimsOf(world).filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
    // 10 % of six nodes, rounded up.
    expect(disruptedMost).toBe(1);
    const [canary, second] = ageOfJournal(world, 'launched').filter((at) => at > CHANGE);
    const [tried] = ageOfJournal(world, 'ready').filter((at) => at > CHANGE);
    expect(canary).toBeLessThan(tried ?? 0);
    expect(second).toBeGreaterThan(tried ?? Number.POSITIVE_INFINITY);
    expect([...unclaimedInstances(world), ...claimsWithoutInstance(world)]).toEqual([]);
  });

  it('to a new template, all at once after the first where the budget allows it', async () => {
    const all = { budgets: [{ nodes: '100%' }] };
    const manifests = [nodeClass, poolWith({}, all), deployment('web', 6, '1', apart)];
    const { world, broken } = await run(manifests, 30, [object(poolWith({ team: 'red' }, all))]);
    expect(broken).toEqual([]);
    expect(claimsOf(world).map(({ labels }) => labels['team'])).toEqual(Array(6).fill('red'));
    expect(world.launched).toBe(12);
    expect(runningPods(world)).toBe(6);
    const [canary, ...others] = ageOfJournal(world, 'launched').filter((at) => at > CHANGE);
    const [tried] = ageOfJournal(world, 'ready').filter((at) => at > CHANGE);
    expect(canary).toBeLessThan(tried ?? 0);
    expect(others).toHaveLength(5);
    expect(Math.min(...others)).toBeGreaterThan(tried ?? Number.POSITIVE_INFINITY);
  });

  it('launches one node for one, also for pods that choose what their node is like', async () => {
    const chosen = { 'kubernetes.io/arch': 'arm64', 'karpenter.sh/capacity-type': 'on-demand' };
    const pods = deployment('web', 3, '1', { nodeSelector: chosen });
    const manifests = [nodeClass, nodePool(['spot', 'on-demand']), pods];
    const { world, broken } = await run(manifests, 20, [object(newClass)]);
    expect(broken).toEqual([]);
    expect(world.launched).toBe(2);
    expect(claimsOf(world)).toHaveLength(1);
    expect(runningPods(world)).toBe(3);
  });

  it('is no roll where only what is outside of the template changes', async () => {
    const { world } = await run(six, 20, [
      object(nodePool(['on-demand'], { weight: 10, disruption: { budgets: [{ nodes: '50%' }] } })),
    ]);
    expect(world.launched).toBe(6);
    expect(entries(world, 'drifted')).toEqual([]);
  });
});

describe('a roll that is taken back', () => {
  it('ends at once: the old nodes stay, and what was launched meanwhile goes', async () => {
    const back = { at: CHANGE + 20_000, apply: [nodeClass as never] };
    const { world, broken } = await run(six, 20, [object(newClass), back]);
    expect(broken).toEqual([]);
    expect(world.launched).toBe(7);
    expect(world.evictions).toBe(0);
    const { nodes, nodeClaims } = readState(world.store).objects;
    expect(nodeClaims).toHaveLength(6);
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
    const left = nodeClaims.flatMap(({ conditions }) => conditions.map(({ type }) => type));
    expect(left).not.toContain('Drifted');
    expect(left).not.toContain('DisruptionReason');
  });
});

describe('a canary that does not join', () => {
  it('stops the roll, and the pool says so', async () => {
    const { world, broken } = await run(six, 50, [object(newClass)], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
    });
    expect(broken).toEqual([]);
    expect(world.launched).toBe(7);
    expect(runningPods(world)).toBe(6);
    const { nodes, nodePools, nodeClaims } = readState(world.store).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
    expect(nodeClaims.filter((claim) => isTrue(claim, 'Drifted'))).toHaveLength(6);
    expect(nodeClaims.filter((claim) => isTrue(claim, 'DisruptionReason'))).toEqual([]);
    const health = nodePools[0]?.conditions.find(({ type }) => type === 'CanaryHealthy');
    expect(health).toMatchObject({ status: 'False', reason: 'CanaryFailed' });
    const said = world.journal.entries.filter(({ message }) => message.includes('did not become'));
    expect(said.length).toBeGreaterThan(0);
  });

  it('is followed by others, an hour apart, until one joins and the roll goes on', async () => {
    const { world, broken } = await run(six, 240, [object(newClass)], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made) || made.launched > 8;
      },
    });
    expect(broken).toEqual([]);
    expect(world.launched).toBe(6 + 2 + 6);
    const { nodeClaims } = readState(world.store).objects;
    expect(nodeClaims).toHaveLength(6);
    expect(nodeClaims.filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
    expect(runningPods(world)).toBe(6);
  });

  it('is forgotten when the class goes back, and nothing was replaced', async () => {
    const back = { at: 30 * MINUTE, apply: [nodeClass as never] };
    const { world } = await run(six, 50, [object(newClass), back], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
    });
    const { nodePools, nodeClaims } = readState(world.store).objects;
    expect(nodeClaims.filter((claim) => isTrue(claim, 'Drifted'))).toEqual([]);
    expect(nodePools[0]?.annotations['joiner.dev/failed-canaries']).toBeUndefined();
    const health = nodePools[0]?.conditions.find(({ type }) => type === 'CanaryHealthy');
    expect(health?.status).toBe('True');
    expect(world.launched).toBe(7);
  });
});

describe('pause.disrupt', () => {
  it('stops a roll, and a resume goes on with it', async () => {
    const resumeMs = WORLD_START_MS + 30 * MINUTE;
    const paused = (world: World): Paused => {
      const nowMs = world.timeline.nowMs();
      return nowMs < resumeMs ? { disrupt: Number.POSITIVE_INFINITY } : {};
    };
    const { world } = await run(six, 90, [object(newClass)], { paused });
    const late = ageOfJournal(world, 'launched').filter((at) => at > CHANGE);
    expect(Math.min(...late)).toBeGreaterThanOrEqual(30 * MINUTE);
    expect(world.launched).toBe(12);
    expect(imagesOf(world).size).toBe(1);
  });

  it('in the middle of a replacement leaves the old node where it is', async () => {
    // The first replacement is being launched then.
    const isOn = (nowMs: number) =>
      nowMs > WORLD_START_MS + CHANGE + 30_000 && nowMs < WORLD_START_MS + 40 * MINUTE;
    const paused = (world: World): Paused =>
      isOn(world.timeline.nowMs()) ? { disrupt: Number.POSITIVE_INFINITY } : {};
    const terminatedBy: number[] = [];
    const { world } = await run(six, 90, [object(newClass)], {
      paused,
      watch: (made) => () => {
        if (isOn(made.timeline.nowMs())) terminatedBy.push(made.terminated);
        return [];
      },
    });
    expect(Math.max(...terminatedBy)).toBe(0);
    expect(world.launched).toBe(12);
    expect(imagesOf(world).size).toBe(1);
  });
});

describe('what holds nodes', () => {
  it('a budget of pods is obeyed while the nodes roll', async () => {
    const budget: Json = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { minAvailable: 5, selector: { matchLabels: { app: 'web' } } },
    };
    const all = { budgets: [{ nodes: '100%' }] };
    const manifests = [nodeClass, poolWith({}, all), deployment('web', 6, '1', apart), budget];
    const { world, broken } = await run(manifests, 90, [object(poolWith({ team: 'red' }, all))], {
      watch: (made) => budgetWatch(made, 'web', 5),
    });
    expect(broken).toEqual([]);
    expect(claimsOf(world).map(({ labels }) => labels['team'])).toEqual(Array(6).fill('red'));
    expect(runningPods(world)).toBe(6);
  });

  it('a budget that lets nobody go keeps every node, and says so', async () => {
    const budget: Json = {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'web', namespace: 'default' },
      spec: { maxUnavailable: 0, selector: { matchLabels: { app: 'web' } } },
    };
    const { world } = await run([...six, budget], 20, [object(newClass)]);
    expect(world.launched).toBe(6);
    const said = world.journal.entries.filter(({ message }) =>
      message.includes('PodDisruptionBudget default/web does not allow'),
    );
    expect(said).toHaveLength(6);
  });
});

describe('a static pool', () => {
  it('is replaced one for one, never below its replicas', async () => {
    const pool = (labels: Readonly<Record<string, string>>): Json => {
      const made = poolWith(labels);
      return { ...made, spec: { ...(made['spec'] as Json), replicas: 3 } };
    };
    const { world, broken } = await run(
      [nodeClass, pool({})],
      60,
      [object(pool({ team: 'red' }))],
      {
        watch: (made) => {
          let isUp = false;
          return () => {
            const open = readState(made.store).objects.nodes.filter(
              ({ taints, labels }) =>
                taints.length === 0 && labels['karpenter.sh/initialized'] === 'true',
            ).length;
            isUp ||= open === 3;
            return isUp && open < 2 ? [`${open} nodes are open`] : [];
          };
        },
      },
    );
    expect(broken).toEqual([]);
    expect(claimsOf(world).map(({ labels }) => labels['team'])).toEqual(Array(3).fill('red'));
    expect(world.launched).toBe(6);
  });
});

describe('empty nodes', () => {
  it('that have drifted go without a replacement', async () => {
    const gone = {
      at: CHANGE,
      delete: [{ kind: 'Deployment', name: 'web', namespace: 'default' }],
    };
    const kept = poolWith({}, { consolidateAfter: 'Never' });
    const steps = [gone, { ...object(newClass), at: CHANGE + 1 }];
    const { world } = await run([nodeClass, kept, deployment('web', 6, '1', apart)], 30, steps);
    expect(world.launched).toBe(6);
    expect(claimsOf(world)).toEqual([]);
  });

  it('that are the room of a buffer are replaced, a canary first', async () => {
    const buffer = {
      apiVersion: 'autoscaling.x-k8s.io/v1beta1',
      kind: 'CapacityBuffer',
      metadata: { name: 'room', namespace: 'default' },
      spec: {
        scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'web' },
        replicas: 3,
      },
    };
    const manifests = [
      nodeClass,
      nodePool(['on-demand']),
      deployment('web', 1, '1', apart),
      buffer,
    ];
    const { world, broken } = await run(manifests, 50, [object(newClass)], {
      before: (made) => {
        made.joins = ({ imageId }) => !isNew(imageId, made);
      },
    });
    expect(broken).toEqual([]);
    expect(world.terminated).toBeLessThanOrEqual(1);
    const { nodePools } = readState(world.store).objects;
    expect(nodePools[0]?.annotations['joiner.dev/failed-canaries']).toBeDefined();
  });
});
