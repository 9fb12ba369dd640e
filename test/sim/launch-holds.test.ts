import { describe, expect, it } from 'vitest';
import { SIMULATED_DURATION } from '../../shared/core/model/labels.ts';
import { deletePod } from '../../shared/sim/controllers/workloads.ts';
import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';
import { Prng } from '../../shared/sim/prng.ts';
import type { KubeObject } from '../../shared/sim/store.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const SECOND = 1000;
/** Two or three pods of one owner may wait in vain for the blink of an eye. */
const HELD_MS_MAX = 10 * SECOND;
const END_S = 2400;

/** Nodes go as soon as they are empty: pods often come back while the last is on its way out. */
const eager = {
  disruption: { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' },
};

/** For how long a pod was held at most while all this happens, ms. */
async function heldMs(
  manifests: readonly Json[],
  happens: (world: World) => void,
  capacityType = 'on-demand',
): Promise<number> {
  const pool = nodePool([capacityType], eager);
  const { world } = await smallWorld([nodeClass, pool, ...manifests], { seed: 7 });
  happens(world);
  let sinceMs: number | undefined;
  let longestMs = 0;
  world.afterEachStep(() => {
    const nowMs = world.timeline.nowMs();
    const isHeld = [...world.unplaced.values()].some((why) => why.includes('it still waits'));
    sinceMs = isHeld ? (sinceMs ?? nowMs) : undefined;
    longestMs = Math.max(longestMs, nowMs - (sinceMs ?? nowMs));
  });
  await world.run(WORLD_START_MS + END_S * SECOND);
  expect(world.launched).toBeGreaterThan(0);
  return longestMs;
}

function every(world: World, everyS: number, act: (at: number) => void): void {
  for (let at = 0; at * everyS < END_S; at += 1) {
    world.timeline.after((at * everyS + 10) * SECOND, () => act(at));
  }
}

function withSpec(object: KubeObject, more: Json): KubeObject {
  return { ...object, spec: { ...objectAt(object, 'spec'), ...more } };
}

function scale(world: World, replicas: number): void {
  for (const each of world.store.list('Deployment')) {
    world.store.update(each, (now) => withSpec(now, { replicas }));
  }
}

function podsOf(world: World, app: string): readonly KubeObject[] {
  return world.store.list('Pod').filter(({ metadata }) => metadata.labels['app'] === app);
}

describe('a worker that is scaled to zero and back', () => {
  it.each([
    [20, 45, 1],
    [45, 15, 1],
    [45, 45, 1],
    [45, 75, 1],
    [20, 5, 3],
    [45, 30, 3],
    [75, 15, 3],
    [90, 60, 3],
    [120, 30, 3],
    [300, 45, 2],
  ])('is not held: there for %i s, away for %i s, %i pods', async (upS, downS, pods) => {
    const held = await heldMs([deployment('web', 0, '6')], (world) => {
      every(world, upS + downS, () => {
        scale(world, pods);
        world.timeline.after(upS * SECOND, () => scale(world, 0));
      });
    });
    expect(held).toBeLessThan(HELD_MS_MAX);
  });
});

describe('ordinary workloads are not held', () => {
  it.each([40, 100, 250])('rolled out anew every %i s', async (everyS) => {
    const held = await heldMs([deployment('web', 3, '6')], (world) => {
      every(world, everyS, (at) => {
        for (const each of world.store.list('Deployment')) {
          const template = objectAt(each, 'spec', 'template');
          const metadata = { ...objectAt(template, 'metadata'), annotations: { at: `${at}` } };
          world.store.update(each, (now) => withSpec(now, { template: { ...template, metadata } }));
        }
      });
    });
    expect(held).toBeLessThan(HELD_MS_MAX);
  });

  it.each([
    [60, 20],
    [60, 70],
    [120, 45],
  ])('Jobs every %i s that take %i s', async (everyS, takeS) => {
    const containers = [{ name: 'main', image: 'a', resources: { requests: { cpu: '6' } } }];
    const annotations = { [SIMULATED_DURATION]: `${takeS}s` };
    const held = await heldMs([], (world) => {
      every(world, everyS, (at) => {
        const template = { metadata: { annotations }, spec: { containers } };
        world.store.create({
          apiVersion: 'batch/v1',
          kind: 'Job',
          metadata: { name: `run-${at}`, namespace: 'default' },
          spec: { parallelism: 1 + (at % 3), template },
        });
      });
    });
    expect(held).toBeLessThan(HELD_MS_MAX);
  });

  it.each([35, 100, 200])('pods that somebody deletes every %i s', async (everyS) => {
    const held = await heldMs([deployment('web', 3, '6')], (world) => {
      every(world, everyS, (at) => {
        const pods = podsOf(world, 'web');
        const pod = pods[at % Math.max(1, pods.length)];
        if (pod !== undefined) deletePod(world.store, pod);
      });
    });
    expect(held).toBeLessThan(HELD_MS_MAX);
  });

  it.each([70, 150, 400])('on spot instances that go every %i s', async (everyS) => {
    const web = deployment('web', 3, '6');
    const interrupts = (world: World): void => {
      every(world, everyS, async (at) => {
        const machines = [...world.compute.machines.values()];
        const machine = machines[at % Math.max(1, machines.length)];
        if (machine?.state === 'running') await world.interruptInstance(machine.id);
      });
    };
    expect(await heldMs([web], interrupts, 'spot')).toBeLessThan(HELD_MS_MAX);
  });

  it.each([80, 150, 400])('on nodes that somebody drains every %i s', async (everyS) => {
    const held = await heldMs([deployment('web', 3, '6')], (world) => {
      every(world, everyS, (at) => {
        const nodes = world.store.list('Node');
        const node = nodes[at % Math.max(1, nodes.length)];
        if (node === undefined) return;
        const taint = { key: 'node.kubernetes.io/unschedulable', effect: 'NoSchedule' };
        const cordoned = {
          taints: [...listAt(node, 'spec', 'taints'), taint],
          unschedulable: true,
        };
        world.store.update(node, (now) => withSpec(now, cordoned));
        for (const pod of podsOf(world, 'web')) {
          if (textAt(pod, 'spec', 'nodeName') === node.metadata.name) deletePod(world.store, pod);
        }
      });
    });
    expect(held).toBeLessThan(HELD_MS_MAX);
  });

  it.each([1, 2, 3])(
    'that grow and shrink at random, and are consolidated: seed %i',
    async (seed) => {
      const random = new Prng(seed, 'sizes');
      const held = await heldMs([deployment('web', 3, '1500m')], (world) => {
        every(world, 45, () => scale(world, random.between(0, 12)));
      });
      expect(held).toBeLessThan(HELD_MS_MAX);
    },
  );
});
