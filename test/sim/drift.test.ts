import { describe, expect, it } from 'vitest';
import { isTrue } from '../../shared/core/lifecycle/conditions.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import type { Brake, ClusterState, Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import type { Scenario } from '../../shared/sim/scenario.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import {
  budgetWatch,
  claimsWithoutInstance,
  unclaimedInstances,
  violations,
} from './invariants.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
/** When the new state is asked for: by then all nodes are up. */
const CHANGE = 3 * MINUTE;

type Paused = Partial<Record<Brake, number>>;

/** The cluster as it is, with brakes on. */
function braked(paused: () => Paused): (ports: Ports) => Ports {
  return (ports) => ({
    ...ports,
    cluster: new Proxy(ports.cluster, {
      get: (target, name) => {
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (name !== 'read') return member.bind(target);
        return async (): Promise<ClusterState> => ({
          ...(await target.read()),
          pausedUntilMs: paused(),
        });
      },
    }),
  });
}

const NEW_IMAGE = 'al2023@v20260101';

function object(json: Json): Scenario['steps'][number] {
  return { at: CHANGE, apply: [json as never] };
}

const newClass: Json = {
  ...nodeClass,
  spec: { ...(nodeClass['spec'] as Json), amiSelectorTerms: [{ alias: NEW_IMAGE }] },
};

/** One pod each, so that as many nodes are there as pods. */
const apart: Json = {
  affinity: {
    podAntiAffinity: {
      requiredDuringSchedulingIgnoredDuringExecution: [
        {
          topologyKey: 'kubernetes.io/hostname',
          labelSelector: { matchLabels: { app: 'web' } },
        },
      ],
    },
  },
};

function poolWith(labels: Readonly<Record<string, string>>, disruption?: Json): Json {
  const pool = nodePool(['on-demand'], disruption === undefined ? {} : { disruption });
  const spec = pool['spec'] as { readonly template: Json };
  return { ...pool, spec: { ...spec, template: { ...spec.template, metadata: { labels } } } };
}

interface Run {
  readonly world: World;
  /** The most nodes at any moment that were kept from new pods. */
  readonly disruptedMost: number;
  /** What must hold at every moment and did not. */
  readonly broken: readonly string[];
}

async function run(
  manifests: readonly Json[],
  minutes: number,
  steps: Scenario['steps'],
  options: {
    readonly paused?: (world: World) => Paused;
    readonly before?: (world: World) => void;
    readonly watch?: (world: World) => () => readonly string[];
  } = {},
): Promise<Run> {
  let world: World | undefined;
  const { paused } = options;
  const made = await smallWorld(manifests, {
    scenario: { steps },
    ...(paused === undefined
      ? {}
      : { wrap: braked(() => (world === undefined ? {} : paused(world))) }),
  });
  world = made.world;
  options.before?.(world);
  const broken: string[] = [];
  const watch = options.watch?.(world);
  const seen = { most: 0 };
  const current = world;
  world.afterEachStep(() => {
    broken.push(...violations(current), ...(watch?.() ?? []));
    const tainted = readState(current.store).objects.nodes.filter((node) =>
      node.taints.some(({ key }) => key === 'karpenter.sh/disrupted'),
    );
    seen.most = Math.max(seen.most, tainted.length);
  });
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return { world, disruptedMost: seen.most, broken };
}

function claimsOf(world: World): readonly NodeClaim[] {
  return readState(world.store).objects.nodeClaims;
}

function runningPods(world: World): number {
  return readState(world.store).objects.pods.filter(({ phase }) => phase === 'Running').length;
}

function imagesOf(world: World): ReadonlySet<string | undefined> {
  return new Set(claimsOf(world).map(({ imageId }) => imageId));
}

function entries(world: World, kind: string) {
  return world.journal.entries.filter((each) => each.kind === kind);
}

function ageOfJournal(world: World, kind: string): readonly number[] {
  return entries(world, kind).map(({ at }) => at * 1000);
}

const six = [nodeClass, nodePool(['on-demand']), deployment('web', 6, '1', apart)];

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

/** Whether the image is none that a node had at first. */
function isNew(image: string, world: World): boolean {
  const first = readState(world.store).objects.nodeClaims.find(
    ({ createdAtMs }) => createdAtMs < WORLD_START_MS + CHANGE,
  );
  return first?.imageId !== undefined && first.imageId !== image;
}

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
      message.includes('PodDisruptionBudget default/web does not let'),
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
    const { world } = await run(six, 30, [gone, { ...object(newClass), at: CHANGE + 1 }]);
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
