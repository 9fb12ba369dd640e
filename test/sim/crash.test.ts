import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { claimsWithoutInstance, instancesWithoutClaim, violations } from './invariants.ts';
import { CRASH_EVERY, Killer } from './killer.ts';
import { apart } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

const scenario: Scenario = {
  steps: [
    { at: 2 * MINUTE, interrupt: {} },
    {
      at: 4 * MINUTE,
      scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas: 7 },
    },
    { at: 6 * MINUTE, delete: [{ kind: 'NodePool', name: 'default', namespace: 'default' }] },
    { at: 8 * MINUTE, apply: [nodePoolObject()] },
  ],
};

/** Pods come and go, nodes are taken away, a pool is deleted and comes back. */
const changes: Play = {
  manifests: [nodeClass, nodePool(['spot']), deployment('web', 5, '1')],
  scenario,
  minutes: 14,
};

function nodePoolObject() {
  return {
    ...nodePool(['spot']),
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
  };
}

interface Play {
  readonly manifests: readonly Json[];
  readonly scenario: Scenario;
  readonly minutes: number;
}

interface Played {
  readonly world: World;
  /** What was leaked once the tick after the crash was over; undefined: there was none. */
  readonly afterNextTick: readonly string[] | undefined;
}

async function run(
  killer: Killer,
  { manifests, scenario, minutes }: Play = changes,
): Promise<Played> {
  const { world } = await smallWorld(manifests, { scenario, wrap: killer.wrap });
  let crashedAtMs: number | undefined;
  let afterNextTick: readonly string[] | undefined;
  world.afterEachStep(() => {
    if (world.crashes === 0 || afterNextTick !== undefined) return;
    const nowMs = world.timeline.nowMs();
    crashedAtMs ??= nowMs;
    const isNextTick = nowMs > crashedAtMs && (nowMs - WORLD_START_MS) % MINUTE === 0;
    // What the tick itself has written at its end is launched by whom it wakes.
    if (isNextTick) afterNextTick = leaked(world, nowMs);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return { world, afterNextTick };
}

/** Instances without a NodeClaim, and claims of before that are to stay without an instance. */
function leaked(world: World, beforeMs = Number.POSITIVE_INFINITY): readonly string[] {
  return [...instancesWithoutClaim(world), ...claimsWithoutInstance(world, beforeMs)];
}

function runningPods(world: World): number {
  return readState(world.store).objects.pods.filter((pod) => pod.phase === 'Running').length;
}

const baseline = await (async () => {
  const killer = new Killer(-1, false);
  const { world } = await run(killer);
  return { world, calls: killer.calls };
})();

/** What is not as it is where nothing was killed: leaks, double launches, pods that do not run. */
function wrongAfter(
  { world, afterNextTick }: Played,
  unharmed: World,
  pods: number,
): readonly string[] {
  const found = [...violations(world), ...leaked(world)];
  for (const each of afterNextTick ?? ['no tick']) found.push(`${each} after the next tick`);
  if (runningPods(world) !== pods) found.push(`${runningPods(world)} of ${pods} pods run`);
  if (world.crashes !== 1) found.push(`${world.crashes} crashes`);
  if (world.launched !== unharmed.launched) found.push(`${world.launched} launches`);
  return found;
}

describe('a crash at any call of a port', () => {
  it('has a baseline in which everything runs and every step was played', () => {
    expect(runningPods(baseline.world)).toBe(7);
    expect(violations(baseline.world)).toEqual([]);
    expect(baseline.world.terminated).toBeGreaterThan(0);
    expect(baseline.calls).toBeGreaterThan(100);
  });

  it('leaks nothing and heals: every second one tried is after the call, the others before', async () => {
    const failures: string[] = [];
    for (let at = 1; at <= baseline.calls; at += CRASH_EVERY) {
      const played = await run(new Killer(at, at % 2 === 0), { ...changes, minutes: 15 });
      const found = wrongAfter(played, baseline.world, 7);
      failures.push(...found.map((each) => `call ${at}: ${each}`));
    }
    expect(failures).toEqual([]);
  }, 600_000);
});

/** A node gets another image. */
const roll: Play = {
  manifests: [nodeClass, nodePool(['on-demand']), deployment('web', 1, '1')],
  scenario: {
    steps: [
      {
        at: 1.5 * MINUTE,
        apply: [
          {
            ...nodeClass,
            apiVersion: 'karpenter.k8s.aws/v1',
            kind: 'EC2NodeClass',
            metadata: { name: 'default' },
            spec: { ...objectAt(nodeClass, 'spec'), amiSelectorTerms: [{ alias: 'al2023@v1' }] },
          },
        ],
      },
    ],
  },
  minutes: 6,
};

/** The calls until then. */
async function callsUntil(play: Play, minutes: number): Promise<number> {
  const killer = new Killer(-1, false);
  await run(killer, { ...play, minutes });
  return killer.calls;
}

function leftOver(world: World): readonly string[] {
  const { nodes, nodeClaims } = readState(world.store).objects;
  const images = new Set(nodeClaims.map(({ imageId }) => imageId));
  return [
    ...nodes.filter(({ taints }) => taints.length > 0).map(({ name }) => `${name} has taints`),
    ...nodeClaims
      .filter((claim) => isTrue(claim, 'Drifted') || isTrue(claim, 'DisruptionReason'))
      .map(({ name }) => `${name} is still drifted`),
    ...(images.size === 1 ? [] : [`${images.size} images`]),
    ...(nodeClaims.length === 1 ? [] : [`${nodeClaims.length} claims`]),
  ];
}

const rolled = await (async () => {
  // What comes before the change is in the other play; after 3.5 minutes nothing new is begun.
  const [before, last] = [await callsUntil(roll, 1.4), await callsUntil(roll, 3.5)];
  const { world } = await run(new Killer(-1, false), roll);
  return { world, first: before + 1, last };
})();

describe('a crash at any call of a port while a node is replaced', () => {
  it('has a baseline in which it was', () => {
    expect(rolled.world.launched).toBe(2);
    expect(leftOver(rolled.world)).toEqual([]);
    expect(violations(rolled.world)).toEqual([]);
  });

  it('leaks nothing, launches nothing twice, and the replacement goes on', async () => {
    const failures: string[] = [];
    for (let at = rolled.first; at <= rolled.last; at += CRASH_EVERY) {
      const played = await run(new Killer(at, at % 2 === 0), roll);
      const found = [...wrongAfter(played, rolled.world, 1), ...leftOver(played.world)];
      failures.push(...found.map((each) => `call ${at}: ${each}`));
    }
    expect(failures).toEqual([]);
  }, 600_000);
});

/** Two of three nodes get empty. */
const shrinking: Play = {
  manifests: [
    nodeClass,
    nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } }),
    deployment('web', 3, '1', apart),
  ],
  scenario: {
    steps: [
      {
        at: 1.5 * MINUTE,
        scale: { kind: 'Deployment', name: 'web', namespace: 'default', replicas: 1 },
      },
    ],
  },
  minutes: 6,
};

/** Three nodes that are much too large get one small one for all. */
const merging: Play = {
  manifests: [
    nodeClass,
    nodePool(['on-demand'], { disruption: { budgets: [{ nodes: '100%' }] } }),
    deployment('large', 3, '6'),
    deployment('web', 3, '1200m', { labels: { app: 'large' } }),
  ],
  scenario: {
    steps: [
      {
        at: 1.5 * MINUTE,
        scale: { kind: 'Deployment', name: 'large', namespace: 'default', replicas: 0 },
      },
    ],
  },
  minutes: 9,
};

const merged = await (async () => {
  const [before, last] = [await callsUntil(merging, 1.4), await callsUntil(merging, 4.5)];
  const { world } = await run(new Killer(-1, false), merging);
  return { world, first: before + 1, last };
})();

describe('a crash at any call of a port while three nodes are replaced by one', () => {
  it('has a baseline in which they were', () => {
    expect(merged.world.launched).toBe(4);
    expect(leftOver(merged.world)).toEqual([]);
    expect(violations(merged.world)).toEqual([]);
  });

  it('leaks nothing, and all pods run on as few nodes as else', async () => {
    const failures: string[] = [];
    for (let at = merged.first; at <= merged.last; at += CRASH_EVERY) {
      const played = await run(new Killer(at, at % 2 === 0), merging);
      const found = [...wrongAfter(played, merged.world, 3), ...leftOver(played.world)];
      failures.push(...found.map((each) => `call ${at}: ${each}`));
    }
    expect(failures).toEqual([]);
  }, 600_000);
});

const shrunk = await (async () => {
  const [before, last] = [await callsUntil(shrinking, 1.4), await callsUntil(shrinking, 3.5)];
  const { world } = await run(new Killer(-1, false), shrinking);
  return { world, first: before + 1, last };
})();

describe('a crash at any call of a port while empty nodes are removed', () => {
  it('has a baseline in which they were', () => {
    expect(shrunk.world.launched).toBe(3);
    expect(leftOver(shrunk.world)).toEqual([]);
    expect(violations(shrunk.world)).toEqual([]);
  });

  it('leaks nothing, launches nothing, and they go all the same', async () => {
    const failures: string[] = [];
    for (let at = shrunk.first; at <= shrunk.last; at += CRASH_EVERY) {
      const played = await run(new Killer(at, at % 2 === 0), shrinking);
      const found = [...wrongAfter(played, shrunk.world, 1), ...leftOver(played.world)];
      failures.push(...found.map((each) => `call ${at}: ${each}`));
    }
    expect(failures).toEqual([]);
  }, 600_000);
});
