import { describe, expect, it } from 'vitest';
import type { Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { Crash, WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { claimsWithoutInstance, unclaimedInstances, violations } from './invariants.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

/** Counts the calls of all ports and kills the use case at one of them. */
class Killer {
  calls = 0;
  private readonly at: number;
  private readonly after: boolean;

  constructor(at: number, after: boolean) {
    this.at = at;
    this.after = after;
  }

  readonly wrap = (ports: Ports): Ports => ({
    ...ports,
    cluster: this.guard(ports.cluster),
    compute: this.guard(ports.compute),
    memory: this.guard(ports.memory),
    network: this.guard(ports.network),
  });

  private guard<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        return async (...args: unknown[]) => {
          this.calls += 1;
          const isHit = this.calls === this.at;
          if (isHit && !this.after) throw new Crash('killed before the call');
          const result: unknown = await Reflect.apply(value, target, args);
          if (isHit) throw new Crash('killed after the call');
          return result;
        };
      },
    });
  }
}

const manifests = [nodeClass, nodePool(['spot']), deployment('web', 5, '1')];
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

function nodePoolObject() {
  return {
    ...nodePool(['spot']),
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodePool',
    metadata: { name: 'default' },
  };
}

async function run(killer: Killer): Promise<World> {
  const { world } = await smallWorld(manifests, { scenario, wrap: killer.wrap });
  await world.run(WORLD_START_MS + 14 * MINUTE);
  return world;
}

function runningPods(world: World): number {
  return readState(world.store).objects.pods.filter((pod) => pod.phase === 'Running').length;
}

const baseline = await (async () => {
  const killer = new Killer(-1, false);
  const world = await run(killer);
  return { world, calls: killer.calls };
})();

describe('a crash at any call of a port', () => {
  it('has a baseline in which everything runs and every step was played', () => {
    expect(runningPods(baseline.world)).toBe(7);
    expect(violations(baseline.world)).toEqual([]);
    expect(baseline.world.terminated).toBeGreaterThan(0);
    expect(baseline.calls).toBeGreaterThan(100);
  });

  it('leaks nothing and heals: every second one after the call, the others before', async () => {
    const failures: string[] = [];
    for (let at = 1; at <= baseline.calls; at += 1) {
      const world = await run(new Killer(at, at % 2 === 0));
      const found = [
        ...violations(world),
        ...unclaimedInstances(world),
        ...claimsWithoutInstance(world),
      ];
      if (runningPods(world) !== 7) found.push(`${runningPods(world)} of 7 pods run`);
      if (world.crashes !== 1) found.push(`${world.crashes} crashes`);
      if (world.launched !== baseline.world.launched) found.push(`${world.launched} launches`);
      failures.push(...found.map((each) => `call ${at}: ${each}`));
    }
    expect(failures).toEqual([]);
  }, 240_000);
});
