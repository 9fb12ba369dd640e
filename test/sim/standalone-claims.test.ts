import { describe, expect, it } from 'vitest';
import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import type { Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { isDeleting } from '../../shared/sim/objects.ts';
import type { Propagation } from '../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { unclaimedInstances, violations } from './invariants.ts';
import { CRASH_EVERY, Killer } from './killer.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const SECOND = 1000;
const MINUTE = 60_000;

/** A NodeClaim as a person or a GitOps tool writes it: of no NodePool, and without a finalizer. */
function claimByHand(spec: Json = {}): Json {
  return {
    apiVersion: 'karpenter.sh/v1',
    kind: 'NodeClaim',
    metadata: { name: 'hand', labels: { by: 'hand' } },
    spec: {
      nodeClassRef: { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'default' },
      requirements: [
        { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m6a.large'] },
      ],
      ...spec,
    },
  };
}

/** Its one pod may not be evicted. */
const budget: Json = {
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name: 'web', namespace: 'default' },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'web' } } },
};

/** What people and EC2 do to a claim, its node, its class and its instance. */
type Blow = Propagation | 'node' | 'class' | 'instance';

function strike(world: World, blow: Blow): void {
  const { store, compute } = world;
  const [claim] = store.list('NodeClaim');
  switch (blow) {
    case 'node':
      for (const node of store.list('Node')) store.delete(node);
      return;
    case 'class':
      for (const each of store.list('EC2NodeClass')) store.delete(each);
      return;
    case 'instance':
      compute.terminate([...compute.machines.keys()]);
      return;
    default:
      if (claim !== undefined) store.delete(claim, 0, blow);
  }
}

interface Play {
  readonly blows: readonly Blow[];
  /** When the first one comes. */
  readonly atMs: number;
  readonly apartMs: number;
  /** When the pod may be evicted; undefined: never. */
  readonly freeAtMs?: number;
  readonly spec?: Json;
  /** When all is deleted at last. @default after 7 minutes */
  readonly lastMs?: number;
  readonly killer?: Killer;
}

/** So much after all was deleted, nothing of it is left. */
const LEFT_MS = 3 * MINUTE;

/** Instances that Joiner ends while a pod runs there that nobody has told to go. */
function watchEnds(ended: string[]): (ports: Ports) => Ports {
  return (ports) => {
    const terminate: Ports['compute']['terminate'] = async (ids) => {
      const { objects } = await ports.cluster.read();
      for (const node of objects.nodes) {
        if (!ids.includes(instanceIdOf(node.providerId) ?? '')) continue;
        const left = objects.pods.filter(
          (pod) =>
            pod.nodeName === node.name && pod.phase === 'Running' && pod.deletedAtMs === undefined,
        );
        ended.push(...left.map((pod) => `${pod.name} ran when its instance was ended`));
      }
      await ports.compute.terminate(ids);
    };
    const compute = new Proxy(ports.compute, {
      get: (target, name) => {
        if (name === 'terminate') return terminate;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
    return { ...ports, compute };
  };
}

interface Played {
  readonly world: World;
  readonly wrong: readonly string[];
  /** When the pod was told to go; undefined: nobody has told it. */
  readonly goneAtMs: number | undefined;
}

async function play(played: Play): Promise<Played> {
  const { blows, atMs, apartMs, freeAtMs, spec, killer, lastMs = 7 * MINUTE } = played;
  const wrong: string[] = [];
  const watched = watchEnds(wrong);
  const wrap = (ports: Ports): Ports => watched(killer?.wrap(ports) ?? ports);
  const pods = deployment('web', 1, '1', { nodeSelector: { by: 'hand' } });
  const { world } = await smallWorld([nodeClass, claimByHand(spec), pods, budget], { wrap });
  const { timeline, store } = world;
  let goneAtMs: number | undefined;
  world.afterEachStep(() => {
    for (const each of unclaimedInstances(world)) if (!wrong.includes(each)) wrong.push(each);
    const isTold = readState(store).objects.pods.some((pod) => pod.deletedAtMs !== undefined);
    if (isTold) goneAtMs ??= timeline.nowMs() - WORLD_START_MS;
  });
  const at = (ms: number, run: () => void): void => timeline.at(WORLD_START_MS + ms, run);
  for (const [index, blow] of blows.entries()) {
    at(atMs + index * apartMs, () => strike(world, blow));
  }
  if (freeAtMs !== undefined) {
    at(freeAtMs, () => {
      for (const each of store.list('PodDisruptionBudget')) store.delete(each);
    });
  }
  for (const blow of ['Background', 'class'] as const) {
    at(lastMs, () => {
      const [claim] = store.list('NodeClaim');
      if (blow === 'class' || (claim !== undefined && !isDeleting(claim))) strike(world, blow);
    });
  }
  await world.run(WORLD_START_MS + lastMs + LEFT_MS);
  return { world, wrong: [...new Set([...wrong, ...violations(world), ...left(world)])], goneAtMs };
}

/** What should have gone with the claim. */
function left(world: World): readonly string[] {
  const kinds = ['NodeClaim', 'Node', 'EC2NodeClass'];
  return [
    ...kinds.flatMap((kind) =>
      world.store
        .list(kind)
        .map(({ metadata }) => `${kind} ${metadata.name} is left: ${metadata.finalizers.join()}`),
    ),
    ...[...world.compute.machines.values()].map(({ id, state }) => `${id} is ${state}`),
  ];
}

/** Every order of some of them. */
function orders<Each>(items: readonly Each[]): readonly (readonly Each[])[] {
  return items.flatMap((first) => {
    const rest = items.filter((each) => each !== first);
    return [[first], ...orders(rest).map((order) => [first, ...order])];
  });
}

const PROPAGATIONS: readonly Propagation[] = ['Background', 'Foreground', 'Orphan'];
const blowsInEveryOrder: readonly (readonly Blow[])[] = [
  ...new Map(
    PROPAGATIONS.flatMap((how) => orders<Blow>([how, 'node', 'class', 'instance'])).map((each) => [
      each.join(),
      each,
    ]),
  ).values(),
];

describe('a NodeClaim written by hand', () => {
  it('has a finalizer before it is launched, its class as a label, and a node with both', async () => {
    const { world } = await smallWorld([nodeClass, claimByHand()]);
    let before: readonly string[] | undefined;
    world.store.onChange(({ object }) => {
      const isLaunching = object.metadata.annotations['joiner.dev/fleet'] !== undefined;
      if (object.kind === 'NodeClaim' && isLaunching) before ??= object.metadata.finalizers;
    });
    await world.run(WORLD_START_MS + 2 * MINUTE);
    expect(before).toEqual(['karpenter.sh/termination']);
    for (const kind of ['NodeClaim', 'Node']) {
      const [object] = world.store.list(kind);
      expect(object?.metadata.finalizers).toEqual(['karpenter.sh/termination']);
      const labels = { by: 'hand', 'karpenter.k8s.aws/ec2nodeclass': 'default' };
      expect(object?.metadata.labels).toMatchObject(labels);
    }
  });

  it('that names no requirements is launched, too', async () => {
    const { world } = await smallWorld([nodeClass, claimByHand({ requirements: [] })]);
    await world.run(WORLD_START_MS + 2 * MINUTE);
    expect(world.launched).toBe(1);
  });

  it.each([
    ['a node that works, blow by blow', 2 * MINUTE, SECOND],
    ['a node that works, with time between', 2 * MINUTE, 50 * SECOND],
    ['an instance that has not joined', 10 * SECOND, SECOND],
  ])(
    'goes, and leaves nothing, in whatever order it is struck: %s',
    async (_, atMs, apartMs) => {
      const found: string[] = [];
      for (const blows of blowsInEveryOrder) {
        const freeAtMs = 5 * MINUTE;
        const { wrong, goneAtMs } = await play({ blows, atMs, apartMs, freeAtMs });
        const isEarly = goneAtMs !== undefined && goneAtMs < freeAtMs;
        // With its instance a pod is gone, whatever its budget says.
        const early = isEarly && !blows.includes('instance') ? ['its pod went too early'] : [];
        found.push(...[...wrong, ...early].map((each) => `${blows.join(', ')}: ${each}`));
      }
      expect(found).toEqual([]);
    },
    600_000,
  );

  it.each<Blow>([...PROPAGATIONS, 'node'])(
    'with a grace period is drained until that is over: %s',
    async (blow) => {
      const spec = { terminationGracePeriod: '3m' };
      const { wrong, goneAtMs } = await play({ blows: [blow], atMs: 2 * MINUTE, apartMs: 0, spec });
      expect(wrong).toEqual([]);
      // The pod has 30 s of its own.
      expect(goneAtMs).toBeGreaterThanOrEqual(4.5 * MINUTE);
      expect(goneAtMs).toBeLessThan(4.6 * MINUTE);
    },
  );

  it.each<readonly [readonly Blow[]]>([
    [['Background']],
    [['Foreground']],
    [['Orphan', 'node']],
    [['node', 'Foreground']],
    [['class', 'Foreground', 'instance']],
    [['instance', 'Background']],
  ])(
    'survives a crash at any call: %s',
    async (blows) => {
      const times = { atMs: 70 * SECOND, apartMs: SECOND, freeAtMs: 80 * SECOND };
      const script = { blows, ...times, lastMs: 2.5 * MINUTE };
      const counting = new Killer(-1, false);
      await play({ ...script, killer: counting });
      const found: string[] = [];
      for (let call = 1; call <= counting.calls; call += CRASH_EVERY) {
        const { wrong, world } = await play({
          ...script,
          killer: new Killer(call, call % 2 === 0),
        });
        const crashes = world.crashes === 1 ? [] : [`${world.crashes} crashes`];
        found.push(...[...wrong, ...crashes].map((each) => `call ${call}: ${each}`));
      }
      expect(found).toEqual([]);
    },
    600_000,
  );
});

describe('pods that wait beside NodeClaims written by hand', () => {
  it('are planned once those are launched, and find their place there', async () => {
    const requirements = [
      { key: 'node.kubernetes.io/instance-type', operator: 'In', values: ['m6a.xlarge'] },
    ];
    const claim = (name: string): Json => ({
      ...claimByHand({ requirements }),
      metadata: { name },
    });
    const manifests = [nodeClass, nodePool(['on-demand']), claim('one'), claim('two')];
    const { world } = await smallWorld([...manifests, deployment('web', 4, '1500m')]);
    await world.run(WORLD_START_MS + 15 * MINUTE);
    const { nodeClaims, pods } = readState(world.store).objects;
    expect(nodeClaims.map(({ name }) => name).sort()).toEqual(['one', 'two']);
    expect(pods.every(({ nodeName }) => nodeName !== undefined)).toBe(true);
    expect(world.launched).toBe(2);
  });
});
