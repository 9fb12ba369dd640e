import type { ClusterEvent } from '../../shared/ports.ts';
import { isJson, objectAt } from '../../shared/sim/json.ts';
import { smallWorld } from '../sim/small-world.ts';
import type { ClusterWorld } from './cluster-world.ts';
import { clusterSuite } from './kube-cluster-suite.ts';
import { REFUSED_SPEC } from './kube-objects.ts';
import { waitingPodsSuite } from './waiting-pods-suite.ts';

/**
 * Lets no pod of REFUSED_SPEC in. A real API server refuses these for their class, which it does
 * not have; the simulated one knows quotas only.
 */
const REFUSING_QUOTA = {
  apiVersion: 'v1',
  kind: 'ResourceQuota',
  metadata: { name: 'refused', namespace: 'default' },
  spec: {
    hard: { pods: '0' },
    scopeSelector: {
      matchExpressions: [
        {
          scopeName: 'PriorityClass',
          operator: 'In',
          values: [REFUSED_SPEC.priorityClassName],
        },
      ],
    },
  },
};

/** The simulated world, whose control plane comes to rest after every change. */
async function simulatedWorld(): Promise<ClusterWorld> {
  const events: ClusterEvent[] = [];
  const { world, script } = await smallWorld([]);
  script.apply([REFUSING_QUOTA]);
  const { cluster } = world.ports;
  return {
    cluster: new Proxy(cluster, {
      get: (target, name) => {
        if (name === 'event') {
          return async (event: ClusterEvent) => {
            events.push(event);
            await target.event(event);
          };
        }
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    }),
    apply: async (manifest) => {
      if (!isJson(manifest)) throw new Error('a manifest is an object');
      script.apply([manifest]);
      await world.run(world.timeline.nowMs());
    },
    bind: async (name, nodeName) => {
      const pod = world.store.get('Pod', 'default', name);
      if (pod === undefined) throw new Error(`there is no pod ${name}`);
      const spec = { ...objectAt(pod, 'spec'), nodeName };
      world.store.update(pod, (latest) => ({ ...latest, spec }));
    },
    raw: async (kind, namespace, name) => world.store.get(kind, namespace, name),
    events: async ({ kind, name }) =>
      events
        .filter(({ regarding }) => regarding.kind === kind && regarding.name === name)
        .map(({ reason }) => ({ reason, count: 1 })),
  };
}

const world = await simulatedWorld();

clusterSuite('simulated', () => world);
waitingPodsSuite('simulated', () => world);
