import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { entries, MINUTE, run } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld, spreadOf } from './small-world.ts';

type Steps = Scenario['steps'];

const scaled = (at: number, name: string, replicas: number): Steps[number] => ({
  at,
  scale: { kind: 'Deployment', name, namespace: 'default', replicas },
});

/** Small numbers from a seed. */
function random(seed: number): (most: number) => number {
  let state = seed * 2_654_435_761;
  return (most) => {
    state = (Math.imul(state ^ (state >>> 15), 2_246_822_507) + 0x9e3779b9) >>> 0;
    return state % most;
  };
}

/** More at night. */
const SEEDS = Number(process.env['JOINER_REST_SEEDS'] ?? 30);

const NAMES = ['a', 'b', 'c'] as const;

/** Minutes of a run. */
const END = 60;

/** What a world is made of, and what happens in it. */
interface Play {
  readonly manifests: readonly Json[];
  readonly steps: Steps;
}

const buffer: Json = {
  apiVersion: 'autoscaling.x-k8s.io/v1beta1',
  kind: 'CapacityBuffer',
  metadata: { name: 'room', namespace: 'default' },
  spec: { scalableRef: { apiGroup: 'apps', kind: 'Deployment', name: 'a' }, replicas: 2 },
};

/**
 * Three workloads whose sizes change in the first half hour. Some are spread over zones, some
 * worlds keep room free; `policy` is the NodePool's.
 */
function play(seed: number, consolidationPolicy: string): Play {
  const next = random(seed);
  const cpu = () => ['250m', '500m', '900m', '1500m', '3'][next(5)] ?? '1';
  const nodes = ['100%', '100%', '3', '10%'][next(4)] ?? '100%';
  const consolidateAfter = ['0s', '0s', '2m'][next(3)] ?? '0s';
  const disruption = { budgets: [{ nodes }], consolidateAfter, consolidationPolicy };
  const manifests = [
    nodeClass,
    nodePool([['on-demand'], ['spot'], ['spot', 'on-demand']][next(3)] ?? [], { disruption }),
    ...NAMES.map((name) =>
      deployment(name, 1 + next(12), cpu(), next(4) === 0 ? spreadOf(name) : {}),
    ),
    ...(next(5) === 0 ? [buffer] : []),
  ];
  const steps = Array.from({ length: 6 }, (_, at) =>
    scaled((3 + 4 * at) * MINUTE, NAMES[next(3)] ?? 'a', next(12)),
  );
  return { manifests, steps };
}

/** USD of the whole run. */
function bill(world: World): number {
  const { entries: all } = world.journal;
  return all.reduce((sum, { at, pricePerHour }, n) => {
    const until = all[n + 1]?.at ?? END * 60;
    return sum + (pricePerHour * (until - at)) / 3600;
  }, 0);
}

/** What is not as it should be in the end: pods that wait, and anything in the last 15 minutes. */
function unrest(world: World): readonly string[] {
  const { pods } = readState(world.store).objects;
  const waiting = pods.filter(({ phase }) => phase !== 'Running').map(({ name }) => name);
  const late = ['launched', 'evicted'].flatMap((kind) =>
    entries(world, kind).filter((each) => each.at * 1000 > (END - 15) * MINUTE),
  );
  return [...waiting, ...late.map(({ kind, at, object }) => `${kind} ${object} at ${at}`)];
}

describe('any three workloads that grow and shrink', () => {
  const seeds = Array.from({ length: SEEDS }, (_, at) => at + 1);

  it.each(seeds)('%d: come to rest', async (seed) => {
    const { manifests, steps } = play(seed, 'WhenEmptyOrUnderutilized');
    const { world, broken } = await run(manifests, END, steps);
    expect(broken).toEqual([]);
    expect(unrest(world)).toEqual([]);
  });

  it('cost less than without', async () => {
    const bills = await Promise.all(
      seeds.slice(0, 15).map(async (seed) => {
        const [own, without] = await Promise.all(
          ['WhenEmptyOrUnderutilized', 'WhenEmpty'].map(async (policy) => {
            const { manifests, steps } = play(seed, policy);
            return bill((await run(manifests, END, steps)).world);
          }),
        );
        return { own: own ?? 0, without: without ?? 0 };
      }),
    );
    for (const { own, without } of bills) expect(own).toBeLessThan(1.1 * without);
    const sum = (all: readonly number[]): number => all.reduce((a, b) => a + b, 0);
    const saved = 1 - sum(bills.map(({ own }) => own)) / sum(bills.map((each) => each.without));
    expect(saved).toBeGreaterThan(0.05);
  });

  it('are the same from the same seed', async () => {
    const { manifests, steps } = play(3, 'WhenEmptyOrUnderutilized');
    const texts = await Promise.all(
      [0, 1].map(async () => {
        const { world } = await smallWorld(manifests, { scenario: { steps } });
        await world.run(WORLD_START_MS + 30 * MINUTE);
        return JSON.stringify(world.journal.entries);
      }),
    );
    expect(texts[0]).toBe(texts[1]);
  });
});
