import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import { type Json, listAt, objectAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { bindGang } from './admission-faults.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const SECOND = 1000;
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const MANY = Number(process.env['JOINER_SIM_WORLDS'] ?? 0) >= 1000;

const whenEmpty = { disruption: { consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s' } };

function agent(name: string, cpu: string, nodeSelector: Json = {}): Json {
  const labels = { app: name };
  const containers = [{ name: 'main', image: name, resources: { requests: { cpu } } }];
  const spec = { priorityClassName: 'system-node-critical', nodeSelector, containers };
  const template = { metadata: { labels }, spec };
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: 'kube-system' },
    spec: { selector: { matchLabels: labels }, template },
  };
}

const podTemplate = {
  spec: {
    restartPolicy: 'Never',
    containers: [{ name: 'main', image: 'a', resources: { requests: { cpu: '1' } } }],
  },
};

/** Another agent labels each node a while after it has joined. */
function labelLate(world: World, afterMs: number): void {
  world.store.onChange(({ kind, object }) => {
    if (kind !== 'created' || object.kind !== 'Node') return;
    world.timeline.after(afterMs, () => {
      world.store.update(object, (node) => {
        const labels = { ...node.metadata.labels, 'feature.node/gpu': 'true' };
        return { ...node, metadata: { ...node.metadata, labels } };
      });
    });
  });
}

/** Kubelets register a taint that nobody has planned. */
function taintNodes(world: World): void {
  world.store.onChange(({ kind, object }) => {
    if (kind !== 'created' || object.kind !== 'Node') return;
    world.store.update(object, (node) => {
      const taints = [...listAt(node, 'spec', 'taints'), { key: 'x/agent', effect: 'NoSchedule' }];
      return { ...node, spec: { ...objectAt(node, 'spec'), taints } };
    });
  });
}

function each(everyMs: number, untilMs: number, world: World, act: (at: number) => void): void {
  for (let at = 0; at * everyMs < untilMs; at += 1) {
    world.timeline.after(at * everyMs + SECOND, () => act(at));
  }
}

function waiting(world: World): readonly string[] {
  return readState(world.store)
    .objects.pods.filter(({ nodeName, unschedulable }) => nodeName === undefined && unschedulable)
    .map(({ name }) => name);
}

async function worldOf(manifests: readonly Json[], pool: Json = whenEmpty): Promise<World> {
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand'], pool), ...manifests]);
  return world;
}

describe('a pod that runs for a while on each node before it loses its place', () => {
  it.each([
    [10, 1],
    [20, 1],
    [45, 1],
    [60, 1],
    [90, 1],
    [150, 1],
    [60, 4],
    [150, 3],
  ])('has three launches, and two tries in two hours: %i s, %i pods', async (late, replicas) => {
    const selector = { 'feature.node/gpu': 'true' };
    const web = deployment('web', replicas, replicas === 1 ? '1500m' : '7');
    const world = await worldOf([agent('agent', '1500m', selector), web]);
    labelLate(world, late * SECOND);
    await world.run(WORLD_START_MS + 2 * HOUR);
    expect(world.launched).toBeLessThanOrEqual(5 * replicas);
    expect(waiting(world).length).toBeGreaterThan(0);
    expect([...world.unplaced.values()].join()).toContain(
      'registered, and the pod is still pending',
    );
  });
});

describe('launches in vain are bounded', () => {
  it('while DaemonSets come and go', async () => {
    const world = await worldOf([deployment('web', 1, '1')]);
    taintNodes(world);
    each(5 * MINUTE, 2 * HOUR, world, (at) => {
      for (const set of world.store.list('DaemonSet')) world.store.delete(set);
      world.store.create(agent(`puller-${at}`, '1m'));
    });
    await world.run(WORLD_START_MS + 2 * HOUR);
    expect(world.launched).toBeLessThanOrEqual(10);
  });

  it('where each pod has an owner of its own, as the Jobs of a CronJob', async () => {
    const world = await worldOf([]);
    taintNodes(world);
    each(MINUTE, HOUR, world, (at) => {
      for (const job of world.store.list('Job')) world.store.delete(job);
      world.store.create({
        apiVersion: 'batch/v1',
        kind: 'Job',
        metadata: { name: `cron-${at}`, namespace: 'default' },
        spec: { template: podTemplate },
      });
    });
    await world.run(WORLD_START_MS + HOUR);
    expect(world.launched).toBeLessThanOrEqual(8);
  });

  it('where pods have no owner', async () => {
    const world = await worldOf([]);
    taintNodes(world);
    each(2 * MINUTE, HOUR, world, (at) => {
      const metadata = { name: `naked-${at}`, namespace: 'default' };
      const status = { phase: 'Pending' };
      world.store.create({ apiVersion: 'v1', kind: 'Pod', metadata, ...podTemplate, status });
    });
    await world.run(WORLD_START_MS + HOUR);
    expect(world.launched).toBeLessThanOrEqual(8);
  });

  it('where the pods say that they are room of a CapacityBuffer', async () => {
    const world = await worldOf([]);
    taintNodes(world);
    const annotations = { 'karpenter.sh/capacity-buffer-fake-pod': 'true' };
    const metadata = { name: 'room', namespace: 'default', annotations };
    const status = { phase: 'Pending' };
    world.store.create({ apiVersion: 'v1', kind: 'Pod', metadata, ...podTemplate, status });
    await world.run(WORLD_START_MS + HOUR);
    expect(world.launched).toBeLessThanOrEqual(3);
    expect([...world.unplaced.keys()]).toEqual(['default/room']);
  });

  it('over a day: three at first, then one at the end of each wait', async () => {
    const world = await worldOf([deployment('web', 1, '1')]);
    taintNodes(world);
    await world.run(WORLD_START_MS + 16 * HOUR);
    // Waits of 1, 2, 4 and 8 hours end in this time.
    expect(world.launched).toBeLessThanOrEqual(3 + 4);
    expect(world.launched).toBeGreaterThanOrEqual(2 + 3);
  });

  // Two minutes of work: with the thousand worlds of test/sim/admission-worlds only.
  it.runIf(MANY)('where 270 groups of pods wait', { timeout: 300_000 }, async () => {
    const groups = 270;
    const pods = Array.from({ length: groups }, (_, at) => deployment(`web-${at}`, 1, '900m'));
    const world = await worldOf(pods);
    taintNodes(world);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    // Seven or eight pods have a node together: three tries of each plan.
    expect(world.launched).toBeLessThanOrEqual(3 * Math.ceil(groups / 7));
    expect(
      [...world.unplaced.values()].filter((why) => why.includes('it still waits')),
    ).toHaveLength(groups);
  });

  it('until somebody asks for a try: one for each value of the annotation', async () => {
    const world = await worldOf([deployment('web', 1, '1')]);
    taintNodes(world);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    const before = world.launched;
    const annotate = (value: string): void => {
      for (const pod of world.store.list('Pod')) {
        world.store.update(pod, (now) => {
          const annotations = { ...now.metadata.annotations, 'joiner.dev/retry-launch': value };
          return { ...now, metadata: { ...now.metadata, annotations } };
        });
      }
    };
    annotate('1');
    await world.run(WORLD_START_MS + 20 * MINUTE);
    expect(world.launched).toBe(before + 1);
    annotate('2');
    await world.run(WORLD_START_MS + 30 * MINUTE);
    expect(world.launched).toBe(before + 2);
  });
});

describe('a gang that waits for its last node', () => {
  it('is not held for the nodes that stand ready', async () => {
    const web = deployment('web', 4, '7', { schedulerName: 'gang' });
    const world = await worldOf([web]);
    const isWhole = (): boolean => readState(world.store).objects.nodes.length >= 4;
    each(5 * SECOND, HOUR, world, () => bindGang(world));
    // The last instance does not join for half an hour; its claim is given up, and made anew.
    let machines = 0;
    world.joins = () => {
      machines += 1;
      return machines !== 4 || world.timeline.nowMs() > WORLD_START_MS + 30 * MINUTE;
    };
    const held: string[] = [];
    world.afterEachStep(() => {
      if (isWhole()) return;
      held.push(...[...world.unplaced.values()].filter((why) => why.includes('it still waits')));
    });
    await world.run(WORLD_START_MS + HOUR);
    expect(held).toEqual([]);
    expect(waiting(world)).toEqual([]);
    expect(world.launched).toBe(5);
  });
});

describe('pods that ask for a label which every node gets once it works', () => {
  it.each(['karpenter.sh/registered', 'karpenter.sh/initialized'])(
    'wait for it on the node that was launched for them: %s',
    async (key) => {
      const web = deployment('web', 2, '500m', { nodeSelector: { [key]: 'true' } });
      const world = await worldOf([web]);
      await world.run(WORLD_START_MS + 10 * MINUTE);
      expect(waiting(world)).toEqual([]);
      expect(world.launched).toBe(1);
    },
  );
});
