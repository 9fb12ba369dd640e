import { describe, expect, it } from 'vitest';
import { evictPods } from '../../../../shared/app/lifecycle/drains.ts';
import { lifecycle } from '../../../../shared/app/lifecycle/lifecycle.ts';
import { LifecycleMemory } from '../../../../shared/app/lifecycle/memory.ts';
import { LifecyclePace } from '../../../../shared/app/lifecycle/pace.ts';
import { claimRef } from '../../../../shared/app/writes/references.ts';
import { missing } from '../../../../shared/core/missing.ts';
import { DO_NOT_DISRUPT } from '../../../../shared/core/model/labels.ts';
import { podKey } from '../../../../shared/core/model/pod.ts';
import type { ClusterEvent, ClusterState, Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { withPodAnnotations } from '../../../sim/small-world.ts';
import { MINUTE, reading, runningWorld, settings, spread, withPorts } from '../world.ts';

const CHECKS_MS = 60_000;
const DAY = 24 * 60 * MINUTE;

interface Blocked {
  readonly ports: Ports;
  readonly atMs: () => number;
  readonly pass: () => Promise<number>;
  readonly counts: () => Readonly<Record<string, number>>;
  readonly allow: () => void;
}

/** So many nodes are to go, and a budget keeps the pod of each. */
async function blocked(nodes: number): Promise<Blocked> {
  const world = await runningWorld([spread('web', nodes)]);
  for (const claim of readState(world.store).objects.nodeClaims) {
    await world.ports.cluster.delete(claimRef(claim));
  }
  let nowMs = world.timeline.nowMs();
  let isAllowed = false;
  const counts: Record<string, number> = {};
  const count = (name: string): void => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  const budget = {
    namespace: 'default',
    name: 'web',
    selector: { matchLabels: { app: 'web' }, matchExpressions: [] },
    maxUnavailable: 0,
    minAvailable: undefined,
    unhealthyPodEvictionPolicy: 'IfHealthyBudget',
  } as const;
  const read = reading(world.ports, (state): ClusterState => {
    count('read');
    const podDisruptionBudgets = [{ ...budget, disruptionsAllowed: isAllowed ? 1 : 0 }];
    return { ...state, objects: { ...state.objects, podDisruptionBudgets } };
  });
  const { cluster, compute } = world.ports;
  const ports = withPorts(world.ports, {
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    cluster: {
      read,
      evict: async () => {
        count('evict');
        return isAllowed ? 'done' : 'blocked';
      },
      event: async () => count('event'),
      patchNodeClaimStatus: async (...args) => {
        count('write');
        return await cluster.patchNodeClaimStatus(...args);
      },
    },
    compute: {
      list: async () => {
        count('list');
        return await compute.list();
      },
      statuses: async () => {
        count('statuses');
        return [];
      },
    },
  });
  const memory = new LifecycleMemory(CHECKS_MS);
  const pace = new LifecyclePace();
  return {
    ports,
    atMs: () => nowMs,
    pass: async () => {
      const report = await lifecycle(ports, settings, memory);
      const pauseMs = pace.next(report, nowMs);
      nowMs += pauseMs;
      return pauseMs;
    },
    counts: () => counts,
    allow: () => {
      isAllowed = true;
    },
  };
}

describe('a drain that a budget blocks', () => {
  it.each([1, 50])(
    'is looked at twice a minute for a day, with %i nodes',
    async (nodes) => {
      const { pass, atMs, counts } = await blocked(nodes);
      const begunAtMs = atMs();
      while (atMs() < begunAtMs + 5 * MINUTE) await pass();
      const before = { ...counts() };
      const startMs = atMs();
      while (atMs() < startMs + DAY / 12) await pass();
      const minutes = (atMs() - startMs) / MINUTE;
      const each = (name: string): number =>
        ((counts()[name] ?? 0) - (before[name] ?? 0)) / minutes;
      expect(each('read')).toBeLessThanOrEqual(2);
      expect(each('list')).toBeLessThanOrEqual(1);
      // Three calls of EC2.
      expect(each('statuses')).toBeLessThanOrEqual(1);
      expect(each('evict')).toBeLessThanOrEqual(4);
      // Each is three requests where the event is known.
      expect(each('event')).toBeLessThanOrEqual(Math.min(2, nodes / 30 + 0.1));
      expect(each('write')).toBe(0);
    },
    60_000,
  );

  it('goes on as soon as the budget allows it, with all of its pods', async () => {
    const { pass, counts, allow } = await blocked(6);
    for (let at = 0; at < 12; at += 1) await pass();
    expect(await pass()).toBe(30_000);
    const before = counts()['evict'] ?? 0;
    allow();
    expect(await pass()).toBe(1000);
    expect((counts()['evict'] ?? 0) - before).toBe(6);
  });

  it('is not asked for at full speed from the first', async () => {
    const { pass } = await blocked(1);
    const pauses: number[] = [];
    for (let at = 0; at < 9; at += 1) pauses.push(await pass());
    expect(pauses.slice(-4)).toEqual([16_000, 30_000, 30_000, 30_000]);
  });
});

describe('the pace', () => {
  const quiet = { isQuiet: true, isEnding: false, dueAtMs: undefined, unsettled: ['a'] };

  it('is a second again when something changes, or another claim leaves', () => {
    const pace = new LifecyclePace();
    const next = (more: object = {}) => pace.next({ ...quiet, ...more }, 0);
    for (let at = 0; at < 8; at += 1) next();
    expect(next()).toBe(30_000);
    expect(next({ isQuiet: false })).toBe(1000);
    expect([next(), next(), next()]).toEqual([2000, 4000, 8000]);
    expect(next({ unsettled: ['a', 'b'] })).toBe(1000);
  });

  it('is not slower than instances end, nor than the next deadline', () => {
    const pace = new LifecyclePace();
    for (let at = 0; at < 8; at += 1) pace.next(quiet, 0);
    expect(pace.next({ ...quiet, isEnding: true }, 0)).toBe(5000);
    expect(pace.next({ ...quiet, dueAtMs: 7000 }, 0)).toBe(7000);
    expect(pace.next({ ...quiet, dueAtMs: 10 }, 0)).toBe(1000);
  });
});

it('a pod with do-not-disrupt is told of twice an hour, and slows the pace as others do', async () => {
  const web = withPodAnnotations(spread('web', 1), { [DO_NOT_DISRUPT]: 'true' });
  const world = await runningWorld([web]);
  const [claim] = readState(world.store).objects.nodeClaims;
  await world.ports.cluster.delete(claimRef(claim ?? missing('the NodeClaim')));
  const startMs = world.timeline.nowMs();
  let nowMs = startMs;
  const told: ClusterEvent[] = [];
  const ports = withPorts(world.ports, {
    clock: { nowMs: () => nowMs, sleep: async () => undefined },
    cluster: { event: async (each) => void told.push(each) },
  });
  const [memory, pace] = [new LifecycleMemory(CHECKS_MS), new LifecyclePace()];
  let pauseMs = 0;
  while (nowMs < startMs + 59 * MINUTE) {
    pauseMs = pace.next(await lifecycle(ports, settings, memory), nowMs);
    nowMs += pauseMs;
  }
  expect(pauseMs).toBe(30_000);
  const name = claim?.nodeName;
  const [pod] = readState(world.store).objects.pods.map(podKey);
  const event = {
    regarding: { kind: 'Node', name, uid: name },
    type: 'Warning',
    reason: 'FailedDraining',
    message: `Pod ${pod} has the annotation ${DO_NOT_DISRUPT}`,
    code: 'pod-protected',
  };
  expect(told.filter(({ reason }) => reason === 'FailedDraining')).toEqual([event, event]);
});

it('the event of a pod that stays is one that kubectl describe node shows', async () => {
  const world = await runningWorld([spread('web', 1)]);
  const told: ClusterEvent[] = [];
  const ports = withPorts(world.ports, {
    cluster: { evict: async () => 'blocked', event: async (each) => void told.push(each) },
  });
  const { nodes, pods } = readState(world.store).objects;
  await evictPods(ports, pods);
  const [name] = nodes.map((node) => node.name);
  expect(told.map(({ regarding }) => regarding)).toEqual([{ kind: 'Node', name, uid: name }]);
});
