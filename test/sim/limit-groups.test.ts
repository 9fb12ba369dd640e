import { describe, expect, it } from 'vitest';
import { GroupUsagesInMemory } from '../../shared/app/planning/group-usages-in-memory.ts';
import { limitGroupsOf } from '../../shared/core/limit-groups/limit-groups.ts';
import { NODE_POOL } from '../../shared/core/model/labels.ts';
import type { GroupUsages } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { entries, MINUTE } from './rolls.ts';
import { apartOf, deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const GROUP = { 'joiner.dev/limit-group': 'batch' };

/** A NodePool of the group under another name. */
function pool(name: string, capacityTypes: readonly string[], spec: Json = {}): Json {
  return { ...nodePool(capacityTypes, spec), metadata: { name, annotations: GROUP } };
}

/** What a deployment's pods need to run in the pool alone. */
function only(name: string, app: string): Json {
  return { ...apartOf(app), nodeSelector: { [NODE_POOL]: name } };
}

interface Most {
  nodes: number;
  milliCpu: number;
  perHour: number;
}

/** Runs the world by the second, and returns the most that its instances ever came to. */
async function mostOf(world: World, untilMs: number): Promise<Most> {
  const most: Most = { nodes: 0, milliCpu: 0, perHour: 0 };
  for (let atMs = world.timeline.nowMs(); atMs <= untilMs; atMs += 5000) {
    await world.run(atMs);
    const { nodeClaims } = readState(world.store).objects;
    const prices = nodeClaims.map(({ annotations }) =>
      Number(annotations['joiner.dev/price'] ?? 0),
    );
    const cpus = nodeClaims.map(({ capacity }) => capacity['cpu'] ?? 0);
    most.nodes = Math.max(most.nodes, nodeClaims.length);
    most.milliCpu = Math.max(most.milliCpu, sum(cpus));
    most.perHour = Math.max(most.perHour, sum(prices));
  }
  return most;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}

function worldOf(limitGroups: string, manifests: readonly Json[]) {
  const settings = { limitGroups: limitGroupsOf(limitGroups) ?? [] };
  return smallWorld([nodeClass, ...manifests], { settings });
}

function said(world: World, reason: string): string {
  return entries(world, reason)
    .map(({ message }) => message)
    .join('\n');
}

const two = [pool('first', ['on-demand']), pool('second', ['on-demand'])];
const apart = [
  deployment('one', 4, '1', only('first', 'one')),
  deployment('two', 4, '1', only('second', 'two')),
];

describe('caps on a limit group', () => {
  it.each([
    ['batch nodes=3', { nodes: 3 }, 'batch (0 of 3 nodes left)'],
    ['batch cpu=6', { milliCpu: 6000 }, 'of 6 cpu left'],
    ['batch price=0.3', { perHour: 0.3 }, 'of $0.3000 an hour left'],
    ['all nodes=3; batch nodes=9', { nodes: 3 }, 'limit group all'],
  ])('%s is never exceeded by its NodePools together', async (caps, allowed, left) => {
    const { world } = await worldOf(caps, [...two, ...apart]);
    const most = await mostOf(world, WORLD_START_MS + 20 * MINUTE);
    for (const [name, cap] of Object.entries(allowed)) {
      const reached = Object.entries(most).find(([each]) => each === name)?.[1];
      expect(reached).toBeLessThanOrEqual(cap);
      expect(reached).toBeGreaterThan(cap / 2);
    }
    expect(said(world, 'FailedScheduling')).toContain(left);
    expect(said(world, 'LimitGroupReached')).toContain(left.split(' (')[0]);
  });

  it('hold for the nodes of a static NodePool', async () => {
    const { world } = await worldOf('batch cpu=9', [pool('first', ['on-demand'], { replicas: 5 })]);
    const most = await mostOf(world, WORLD_START_MS + 10 * MINUTE);
    // A node may be one of 8 cpu until it is launched: the second waits for the first.
    expect(most.milliCpu).toBeGreaterThan(0);
    expect(most.milliCpu).toBeLessThanOrEqual(9000);
    expect(said(world, 'InsufficientCapacityError')).toContain('limit group batch allows no other');
  });

  it('change with the clock, and take no node away', async () => {
    // The world begins at midnight.
    const caps = 'batch nodes=6; batch nodes=1 from 0 0 * * * for 30m';
    const { world } = await worldOf(caps, [...two, ...apart]);
    const night = await mostOf(world, WORLD_START_MS + 29 * MINUTE);
    expect(night.nodes).toBe(1);
    const day = await mostOf(world, WORLD_START_MS + 60 * MINUTE);
    expect(day.nodes).toBe(6);
    const next = await mostOf(world, WORLD_START_MS + 24 * 60 * MINUTE + 10 * MINUTE);
    expect(next.nodes).toBe(6);
  });

  it('refuse every launch of a NodePool whose group nobody has defined', async () => {
    const { world } = await worldOf('bach nodes=9', [...two, ...apart]);
    const most = await mostOf(world, WORLD_START_MS + 5 * MINUTE);
    expect(most.nodes).toBe(0);
    const { nodePools } = readState(world.store).objects;
    const conditions = nodePools.flatMap((each) => each.conditions);
    expect(conditions.find(({ type }) => type === 'ValidationSucceeded')).toMatchObject({
      status: 'False',
      message:
        'the annotation joiner.dev/limit-group names "batch", which the setting limitGroups does not have',
    });
  });

  it('leave a drifted node where its replacement would exceed them', async () => {
    const { world, script } = await worldOf('batch nodes=8', [...two, ...apart]);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    const names = () => readState(world.store).objects.nodeClaims.map(({ name }) => name);
    const before = names();
    expect(before.length).toBe(8);
    script.apply([withLabel(pool('first', ['on-demand']))]);
    const most = await mostOf(world, WORLD_START_MS + 40 * MINUTE);
    expect(most.nodes).toBe(8);
    expect(names()).toEqual(before);
    expect(said(world, 'DisruptionBlocked')).toContain('limit group batch');
  });

  it('leave room for one replacement after the other', async () => {
    const { world, script } = await worldOf('batch nodes=9', [...two, ...apart]);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    const names = () => readState(world.store).objects.nodeClaims.map(({ name }) => name);
    const before = new Set(names());
    script.apply([withLabel(pool('first', ['on-demand']))]);
    const most = await mostOf(world, WORLD_START_MS + 120 * MINUTE);
    expect(most.nodes).toBe(9);
    expect(names().filter((name) => !before.has(name)).length).toBe(4);
  });
});

describe('a limit group that clusters share', () => {
  /** The bucket, of which the test says what it answers. */
  class Bucket extends GroupUsagesInMemory {
    asked = 0;
    isReadable = true;
    /** Writes that others are faster than. */
    overtaken = 0;

    override async read(group: string) {
      this.asked += 1;
      const known = await super.read(group);
      // The port says that there is no answer.
      return this.isReadable ? known : (undefined as unknown as typeof known);
    }

    override async write(...args: Parameters<GroupUsages['write']>) {
      this.asked += 1;
      this.overtaken -= 1;
      return this.overtaken >= 0 ? 'conflict' : await super.write(...args);
    }

    async used(cluster = 'demo') {
      return (await super.read('batch')).usage.get(cluster);
    }
  }

  async function sharing(limitGroups: string, bucket: Bucket, manifests = [...two, ...apart]) {
    const settings = { limitGroups: limitGroupsOf(limitGroups) ?? [] };
    return await smallWorld([nodeClass, ...manifests], { settings, groupUsages: bucket });
  }

  it('asks the bucket for nothing where no group is shared', async () => {
    const bucket = new Bucket();
    const { world } = await sharing('batch nodes=3', bucket);
    expect((await mostOf(world, WORLD_START_MS + 5 * MINUTE)).nodes).toBe(3);
    expect(bucket.asked).toBe(0);
  });

  it('launches nothing while the bucket cannot be read, and says so', async () => {
    const bucket = new Bucket();
    bucket.isReadable = false;
    const { world } = await sharing('batch nodes=3 shared', bucket);
    expect((await mostOf(world, WORLD_START_MS + 5 * MINUTE)).nodes).toBe(0);
    const why = 'limit group batch (what other clusters hold of it is not known)';
    expect(said(world, 'FailedScheduling')).toContain(why);
    expect(said(world, 'LimitGroupReached')).toContain('is not known');
    bucket.isReadable = true;
    expect((await mostOf(world, WORLD_START_MS + 8 * MINUTE)).nodes).toBe(3);
    expect(await bucket.used()).toMatchObject({ used: { nodes: 3 }, pending: [] });
  });

  it('launches nothing in a pass in which others are always faster', async () => {
    const bucket = new Bucket();
    bucket.overtaken = 5;
    const { world } = await sharing('batch nodes=3 shared', bucket);
    await world.run(WORLD_START_MS + 100);
    expect(readState(world.store).objects.nodeClaims).toEqual([]);
    expect((await mostOf(world, WORLD_START_MS + 5 * MINUTE)).nodes).toBe(3);
  });

  it('counts what other clusters hold, for static nodes and replacements, too', async () => {
    const bucket = new Bucket();
    const green = { used: { nodes: 4 }, pending: [], caps: 'nodes=7 shared' };
    await bucket.write('batch', new Map([['green', green]]), undefined);
    const fixed = pool('first', ['on-demand'], { replicas: 5 });
    const { world, script } = await sharing('batch nodes=7 shared', bucket, [fixed]);
    expect((await mostOf(world, WORLD_START_MS + 10 * MINUTE)).nodes).toBe(3);
    const left = '(0 of 7 nodes left, 4 nodes in other clusters)';
    expect(said(world, 'InsufficientCapacityError')).toContain(left);
    script.apply([withLabel(fixed)]);
    expect((await mostOf(world, WORLD_START_MS + 40 * MINUTE)).nodes).toBe(3);
    expect(said(world, 'DisruptionBlocked')).toContain(left);
  });

  it('gives up what has gone, and its row once it holds nothing', async () => {
    const bucket = new Bucket();
    const { world, script } = await sharing('batch nodes=7 cpu=99 shared', bucket);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    expect((await bucket.used())?.used['nodes']).toBe(7);
    script.apply([deployment('one', 0, '1', only('first', 'one'))]);
    script.apply([deployment('two', 1, '1', only('second', 'two'))]);
    await world.run(WORLD_START_MS + 40 * MINUTE);
    expect((await bucket.used())?.used['nodes']).toBe(1);
    script.apply([deployment('two', 0, '1', only('second', 'two'))]);
    await world.run(WORLD_START_MS + 70 * MINUTE);
    expect(await bucket.used()).toBeUndefined();
  });

  it('is told of nodes also at times at which it has no cap', async () => {
    const bucket = new Bucket();
    const { world } = await sharing('batch nodes=1 shared from 0 12 * * * for 1h', bucket);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    expect((await bucket.used())?.used).toEqual({ nodes: 8 });
  });

  it('counts the nodes of a NodePool that is gone until they are', async () => {
    const bucket = new Bucket();
    const { world } = await sharing('batch nodes=9 shared', bucket);
    await world.run(WORLD_START_MS + 10 * MINUTE);
    for (const name of ['first', 'second']) {
      const object = world.store.get('NodePool', undefined, name);
      if (object !== undefined) world.store.delete(object);
    }
    for (let second = 601; second < 900; second += 1) {
      await world.run(WORLD_START_MS + second * 1000);
      const { nodeClaims } = readState(world.store).objects;
      const used = (await bucket.used())?.used['nodes'] ?? 0;
      expect(used).toBeGreaterThanOrEqual(nodeClaims.length);
    }
  });
});

function withLabel(made: Json): Json {
  const spec = made['spec'] as { readonly template: Json };
  const template = { ...spec.template, metadata: { labels: { version: 'two' } } };
  return { ...made, spec: { ...spec, template } };
}
