import { expect, it } from 'vitest';
import { disrupt } from '../../../../shared/app/disrupt/disrupt.ts';
import { DO_NOT_DISRUPT, EVICTION_ORDER } from '../../../../shared/core/model/labels.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { ClusterState } from '../../../../shared/ports.ts';
import { runningWorld, settings, spread, withPorts } from '../world.ts';

const GI = 2 ** 30;

/** A pod like that one, of an owner of its own. */
function podLike(pod: Pod, name: string, cpu: number, annotations: Pod['annotations'] = {}): Pod {
  const requests = { cpu, memory: GI, pods: 1 };
  const controller = { kind: 'ReplicaSet', name, uid: name };
  const spec = { ...pod.spec, requests, podAntiAffinity: [] };
  return { ...pod, name, uid: name, labels: {}, annotations, controller, spec };
}

/**
 * The cluster of three nodes with these pods: those of the first one find room on the others, each
 * on a certain one, where kube-scheduler would not put them both by itself.
 */
function tight({ objects, ...state }: ClusterState): ClusterState {
  const [a, b, c] = objects.pods.toSorted((one, two) => (one.name < two.name ? -1 : 1));
  if (a === undefined || b === undefined || c === undefined) throw new Error('three pods run');
  const stays = { [DO_NOT_DISRUPT]: 'true' };
  const pods = [
    podLike(a, 'small', 500),
    podLike(a, 'large', 2000),
    podLike(b, 'other', 2000, stays),
    podLike(c, 'another', 1000, stays),
  ];
  const sizes = new Map([
    [a.nodeName, 4000],
    [b.nodeName, 4000],
    [c.nodeName, 2000],
  ]);
  const nodes = objects.nodes.map((node) => {
    const resources = { cpu: sizes.get(node.name) ?? 0, memory: 8 * GI, pods: 10 };
    return { ...node, allocatable: resources, capacity: resources };
  });
  return { ...state, objects: { ...objects, pods, nodes } };
}

it('a node whose pods find room in one order only is drained in that order', async () => {
  const { ports } = await runningWorld([spread('web', 3)]);
  const written: unknown[] = [];
  const report = await disrupt(
    withPorts(ports, {
      cluster: {
        read: async () => tight(await ports.cluster.read()),
        patchNodeClaim: async (_, { annotations }) => {
          const order = annotations?.[EVICTION_ORDER];
          if (order !== undefined) written.push(order);
          return 'done';
        },
        delete: async ({ kind }) => {
          written.push(`delete ${kind}`);
          return 'done';
        },
      },
    }),
    settings,
  );
  expect(report.failures).toEqual([]);
  expect(written).toEqual(['large,small', 'delete NodeClaim']);
});
