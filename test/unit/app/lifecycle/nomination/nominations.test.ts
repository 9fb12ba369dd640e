import { describe, expect, it } from 'vitest';
import { nominatePods } from '../../../../../shared/app/lifecycle/nomination/nominations.ts';
import { provision } from '../../../../../shared/app/provision/provision.ts';
import { plannedPods } from '../../../../../shared/core/nomination/planned-pods.ts';
import { type ObjectRef, PortError, type Ports } from '../../../../../shared/ports.ts';
import { readState } from '../../../../../shared/sim/decode.ts';
import { WORLD_START_MS, type World } from '../../../../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../../../sim/small-world.ts';
import { aNode, aPod } from '../../../launch/builders.ts';
import { MINUTE, settings, waitingWorld, withPorts } from '../../world.ts';

const refuse = async (): Promise<never> => {
  throw new PortError('unauthorised', '403', 'patch pods/status: forbidden');
};

/** Large and small pods, as many as several nodes take. */
const MIXED = [deployment('large', 6, '1500m'), deployment('small', 9, '300m')];

/** A world after three minutes in which the functions' ports are these. */
async function ranWith(wrap: (ports: Ports) => Ports): Promise<World> {
  const pool = nodePool(['on-demand']);
  const { world } = await smallWorld([nodeClass, pool, ...MIXED], { wrap });
  await world.run(WORLD_START_MS + 3 * MINUTE);
  return world;
}

function podsOf(world: World) {
  return readState(world.store).objects.pods;
}

describe('pods of a plan', () => {
  it('are nominated before their node opens, and bound to it', async () => {
    const calls: string[] = [];
    const nominations = new Map<string, string>();
    const world = await ranWith((ports) =>
      withPorts(ports, {
        cluster: {
          nominate: async (pod: ObjectRef, node: string) => {
            calls.push(`nominate ${pod.name} to ${node}`);
            nominations.set(pod.name, node);
            return await ports.cluster.nominate(pod, node);
          },
          patchNode: async (ref, patch) => {
            if (patch.taints !== undefined) calls.push(`open ${ref.name}`);
            return await ports.cluster.patchNode(ref, patch);
          },
        },
      }),
    );
    const bound = new Map(podsOf(world).map(({ name, nodeName }) => [name, nodeName]));
    expect(bound.size).toBe(15);
    expect(nominations).toEqual(bound);
    for (const [pod, node] of nominations) {
      const first = calls.indexOf(`nominate ${pod} to ${node}`);
      expect(first).toBeLessThan(calls.indexOf(`open ${node}`));
    }
  });

  it('are bound, and their nodes open, though nobody may nominate them', async () => {
    const world = await ranWith((ports) => withPorts(ports, { cluster: { nominate: refuse } }));
    expect(podsOf(world).filter(({ phase }) => phase === 'Running')).toHaveLength(15);
    expect(world.crashes).toBe(0);
  });

  it('are not asked for again and again where that is refused', async () => {
    let asked = 0;
    const cluster = {
      nominate: async (): Promise<never> => {
        asked += 1;
        return await refuse();
      },
    };
    const { ports } = await waitingWorld([]);
    const pods = Array.from({ length: 100 }, (_, at) => aPod({ name: `p-${at}`, uid: `u-${at}` }));
    const failures = await nominatePods(withPorts(ports, { cluster }), [{ node: aNode(), pods }]);
    const message = '403: patch pods/status: forbidden';
    expect(failures).toEqual([{ object: 'Node/node-1', message }]);
    expect(asked).toBe(20);
  });

  it('of other nodes are asked for though one is refused', async () => {
    const asked: string[] = [];
    const cluster = {
      nominate: async ({ name }: ObjectRef) => {
        asked.push(name);
        return name === 'p-3' ? await refuse() : ('done' as const);
      },
    };
    const { ports } = await waitingWorld([]);
    const pods = Array.from({ length: 50 }, (_, at) => aPod({ name: `p-${at}`, uid: `u-${at}` }));
    const nominees = [{ node: aNode(), pods }];
    expect(await nominatePods(withPorts(ports, { cluster }), nominees)).toHaveLength(1);
    expect(asked).toHaveLength(50);
  });
});

describe('a claim', () => {
  const uidsOf = async (ports: Ports, prefix: string): Promise<readonly string[]> => {
    const { objects } = await ports.cluster.read();
    return objects.pods.filter(({ name }) => name.startsWith(prefix)).map(({ uid }) => uid);
  };
  const claims = async (ports: Ports) => (await ports.cluster.read()).objects.nodeClaims;

  it('names the pods it was planned for, and those of later plans', async () => {
    const { ports, add } = await waitingWorld([deployment('first', 1, '1')]);
    await provision(ports, settings);
    const [claim] = await claims(ports);
    expect(claim && plannedPods(claim)).toEqual(await uidsOf(ports, 'first'));
    await add([deployment('second', 1, '100m')]);
    expect((await provision(ports, settings)).created).toEqual([]);
    const [later, ...others] = await claims(ports);
    expect(others).toEqual([]);
    const both = [...(await uidsOf(ports, 'first')), ...(await uidsOf(ports, 'second'))];
    expect(later && plannedPods(later)).toEqual(both);
  });

  it('does not name pods that a CapacityBuffer only stands for', async () => {
    const template = {
      apiVersion: 'v1',
      kind: 'PodTemplate',
      metadata: { name: 'spare', namespace: 'default' },
      template: { spec: { containers: [{ resources: { requests: { cpu: '1' } } }] } },
    };
    const buffer = {
      apiVersion: 'autoscaling.x-k8s.io/v1beta1',
      kind: 'CapacityBuffer',
      metadata: { name: 'spare', namespace: 'default' },
      spec: { podTemplateRef: { name: 'spare' }, replicas: 2 },
    };
    const { ports } = await waitingWorld([template, buffer]);
    expect((await provision(ports, settings)).created).toHaveLength(1);
    expect((await claims(ports)).map(plannedPods)).toEqual([[]]);
  });
});
