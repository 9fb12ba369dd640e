import { describe, expect, it } from 'vitest';
import type { ObjectRef, Ports } from '../../shared/ports.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { MINUTE, withPorts } from '../unit/app/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const SIZES = ['250m', '500m', '1', '1500m', '2', '3'];

/** Deployments of every size at once, on nodes that join one after the other. */
async function burst(seed: number, podNomination: boolean) {
  let nominations = 0;
  const wrap = (ports: Ports): Ports => {
    const nominate = async (pod: ObjectRef, node: string) => {
      nominations += 1;
      return await ports.cluster.nominate(pod, node);
    };
    return withPorts(ports, { cluster: { nominate } });
  };
  const workloads = SIZES.map((cpu, at) => deployment(`app-${at}`, 12, cpu));
  const manifests = [nodeClass, nodePool(['on-demand']), ...workloads];
  const { world } = await smallWorld(manifests, { seed, wrap, settings: { podNomination } });
  await world.run(WORLD_START_MS + 4 * MINUTE);
  const pods = world.store.list('Pod');
  const waiting = pods.filter(
    (pod) => (pod['spec'] as Record<string, unknown>)['nodeName'] === undefined,
  );
  return { nominations, waiting: waiting.length, nodes: world.compute.machines.size };
}

describe('the gate PodNomination', () => {
  it.each([1, 2, 3, 4, 5])(
    'saves nodes in a burst; without it every pod runs, too (%i)',
    async (seed) => {
      const [on, off] = [await burst(seed, true), await burst(seed, false)];
      expect([on.waiting, off.waiting]).toEqual([0, 0]);
      expect([on.nominations > 0, off.nominations]).toEqual([true, 0]);
      expect(on.nodes).toBeLessThan(off.nodes);
    },
  );
});
