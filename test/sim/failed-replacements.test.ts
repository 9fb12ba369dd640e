import { describe, expect, it } from 'vitest';
import { conditionOf } from '../../shared/core/lifecycle/conditions.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { violations } from './invariants.ts';
import { claimsOf, entries, MINUTE } from './rolls.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

type Steps = Scenario['steps'];

const eager: Json = { budgets: [{ nodes: '100%' }], consolidateAfter: '0s' };

function poolOf(requirements: readonly Json[]): Json {
  const pool = nodePool(['on-demand'], { disruption: eager });
  const spec = pool['spec'] as { readonly template: { readonly spec: Json } };
  const own = spec.template.spec as { readonly requirements: readonly Json[] };
  const all = { ...own, requirements: [...own.requirements, ...requirements] };
  return { ...pool, spec: { ...spec, template: { spec: all } } };
}

const within = (key: string, values: readonly string[]): Json => ({
  key,
  operator: 'In',
  values: [...values],
});

/** From five minutes on c7g counts as half as dear again, so that c8g is cheaper. */
const overlaid: Steps = [
  {
    at: 5 * MINUTE,
    apply: [
      {
        apiVersion: 'karpenter.sh/v1alpha1',
        kind: 'NodeOverlay',
        metadata: { name: 'c7g' },
        spec: {
          requirements: [within('karpenter.k8s.aws/instance-family', ['c7g'])],
          priceAdjustment: '+50%',
        },
      } as never,
    ],
  },
];

interface Moved {
  readonly world: World;
  readonly broken: readonly string[];
  /** Nodes of the new family that were launched. */
  readonly launched: number;
}

/** Thirty nodes of two pods each; of the new nodes those do not join that the function names. */
async function moveThirty(
  isBad: (number: number) => boolean,
  minutes: number,
  isEnded = false,
): Promise<Moved> {
  const pool = poolOf([
    within('karpenter.k8s.aws/instance-family', ['c7g', 'c8g']),
    within('karpenter.k8s.aws/instance-size', ['xlarge']),
  ]);
  const { world } = await smallWorld([nodeClass, pool, deployment('web', 60, '1500m')], {
    types: /^(c7g|c8g)\.xlarge$/,
    scenario: { steps: overlaid },
  });
  let launched = 0;
  world.joins = ({ instanceType }) => {
    if (!instanceType.startsWith('c8g')) return true;
    launched += 1;
    return !isBad(launched);
  };
  const broken = new Set<string>();
  world.afterEachStep(() => {
    for (const each of violations(world)) broken.add(each);
    if (isEnded) endBooting(world);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return { world, broken: [...broken], launched };
}

/** As EC2 does where a volume's key may not be used. */
function endBooting({ compute }: World): void {
  for (const { id, instanceType, state } of compute.machines.values()) {
    if (state === 'running' && instanceType.startsWith('c8g')) void compute.terminate([id]);
  }
}

function typesOf(world: World): ReadonlyMap<string, number> {
  const types = claimsOf(world).map(({ labels }) => labels['node.kubernetes.io/instance-type']);
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type ?? '', (counts.get(type ?? '') ?? 0) + 1);
  return counts;
}

describe('a move of thirty nodes', () => {
  it('is made of single ones: where one new node in ten does not join, the others stay', async () => {
    const { world, broken, launched } = await moveThirty((number) => number % 10 === 5, 75);
    expect(broken).toEqual([]);
    expect(typesOf(world)).toEqual(new Map([['c8g.xlarge', 30]]));
    expect(launched).toBeLessThanOrEqual(40);
    expect(world.evictions).toBe(60);
    const { pods } = readState(world.store).objects;
    expect(pods.filter(({ phase }) => phase === 'Running')).toHaveLength(60);
  });

  it('is tried ever less often where none joins, and the NodePool says so', async () => {
    const { world, broken, launched } = await moveThirty(() => true, 100);
    expect(broken).toEqual([]);
    expect(typesOf(world).get('c7g.xlarge')).toBe(30);
    expect(world.evictions).toBe(0);
    // At 5, 30 and 70 minutes.
    expect(launched).toBeLessThanOrEqual(90);
    const [pool] = readState(world.store).objects.nodePools;
    const condition = pool && conditionOf(pool, 'ConsolidationHealthy');
    expect(condition?.status).toBe('False');
    expect(condition?.message).toMatch(
      /^Consolidation launches no c8g\.xlarge on-demand before 2026-.*was not ready after 10 minutes/u,
    );
  });

  it('is tried ever less often where EC2 ends each instance while it boots', async () => {
    const { world, launched } = await moveThirty(() => true, 100, true);
    expect(typesOf(world)).toEqual(new Map([['c7g.xlarge', 30]]));
    expect(world.evictions).toBe(0);
    expect(launched).toBeLessThanOrEqual(90);
    const [pool] = readState(world.store).objects.nodePools;
    const condition = pool && conditionOf(pool, 'ConsolidationHealthy');
    expect(condition?.message).toMatch(/^Consolidation launches no c8g\.xlarge on-demand before/u);
  });

  it('says when nodes of the kind become ready again', async () => {
    const { world } = await moveThirty((number) => number === 3, 60);
    const [pool] = readState(world.store).objects.nodePools;
    expect(pool && conditionOf(pool, 'ConsolidationHealthy')?.status).toBe('True');
    expect(typesOf(world)).toEqual(new Map([['c8g.xlarge', 30]]));
  });
});

describe('a shortage of what a move needs', () => {
  it('launches nothing else for pods of nodes that stay', async () => {
    const spread = {
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
    };
    const families = ['c7g', 'm7g', 'c6a', 'm6a'];
    const short = families.flatMap((family) =>
      ['large', 'xlarge'].map((size) => ({
        at: 3 * MINUTE,
        unavailable: { instanceType: `${family}.${size}` },
      })),
    );
    const gone: Steps[number] = {
      at: 3 * MINUTE,
      scale: { kind: 'Deployment', name: 'big', namespace: 'default', replicas: 0 },
    };
    const manifests = [
      nodeClass,
      poolOf([within('karpenter.k8s.aws/instance-size', ['large', 'xlarge', '2xlarge'])]),
      deployment('big', 16, '5'),
      deployment('web', 16, '1', spread),
    ];
    const { world } = await smallWorld(manifests, { scenario: { steps: [gone, ...short] } });
    let most = 0;
    world.afterEachStep(() => {
      most = Math.max(most, world.compute.machines.size);
    });
    await world.run(WORLD_START_MS + 60 * MINUTE);
    expect(world.launched).toBe(16);
    expect(most).toBe(16);
    expect(world.evictions).toBe(0);
    expect(entries(world, 'InsufficientCapacityError').length).toBeGreaterThan(0);
    const { nodes } = readState(world.store).objects;
    expect(nodes.flatMap(({ taints }) => taints)).toEqual([]);
  });
});
