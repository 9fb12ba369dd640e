import { appSettings } from '../../../shared/app/settings.ts';
import type { ClusterState, Ports } from '../../../shared/ports.ts';
import type { Json } from '../../../shared/sim/json.ts';
import { ACCOUNT, WORLD_START_MS, type World } from '../../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../../sim/small-world.ts';

export const MINUTE = 60_000;

/** One pod a node, so that a world has as many nodes as pods. */
export function spread(name: string, replicas: number, cpu = '1'): Json {
  return deployment(name, replicas, cpu, {
    affinity: {
      podAntiAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: [
          { topologyKey: 'kubernetes.io/hostname', labelSelector: { matchLabels: { app: name } } },
        ],
      },
    },
  });
}

/** A world in which the pods of the deployments run after three minutes. */
export async function runningWorld(
  workloads: readonly Json[],
  capacityType: 'spot' | 'on-demand' = 'on-demand',
): Promise<World> {
  const { world } = await smallWorld([nodeClass, nodePool([capacityType]), ...workloads]);
  await world.run(WORLD_START_MS + 3 * MINUTE);
  return world;
}

export interface WaitingWorld {
  readonly world: World;
  /** Not paused, as the world's own are. */
  readonly ports: Ports;
  /** Applies workloads, whose pods then wait. */
  readonly add: (workloads: readonly Json[]) => Promise<void>;
}

/** A world whose own functions launch nothing, so that its pods wait for the test's. */
export async function waitingWorld(
  workloads: readonly Json[],
  pool: Json = nodePool(['on-demand']),
): Promise<WaitingWorld> {
  const free: Ports[] = [];
  const pausedUntilMs = { launch: Number.POSITIVE_INFINITY };
  const wrap = (ports: Ports): Ports => {
    free.push(ports);
    const read = reading(ports, (state) => ({ ...state, pausedUntilMs }));
    return withPorts(ports, { cluster: { read } });
  };
  const { world, script } = await smallWorld([nodeClass, pool], { wrap });
  const [ports] = free;
  if (ports === undefined) throw new Error('the world has no ports');
  const add = async (more: readonly Json[]): Promise<void> => {
    script.apply(more);
    await world.run(world.timeline.nowMs() + 2000);
  };
  await add(workloads);
  return { world, ports, add };
}

export const settings = appSettings('demo', { accountId: ACCOUNT, region: 'us-east-1' });

/** A clock of the test's own, on which nobody waits. */
export function clockOf(nowMs: () => number): Ports['clock'] {
  return { nowMs, sleep: async () => undefined };
}

/** The ports with some of their members replaced. */
export function withPorts(
  ports: Ports,
  changes: {
    readonly cluster?: Partial<Ports['cluster']>;
    readonly compute?: Partial<Ports['compute']>;
    readonly network?: Partial<Ports['network']>;
    readonly clock?: Ports['clock'];
    readonly memory?: Partial<Ports['memory']>;
  },
): Ports {
  const over = <Port extends object>(port: Port, some: Partial<Port> = {}): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const own: unknown = Reflect.get(some, name);
        if (own !== undefined) return own;
        const value: unknown = Reflect.get(target, name);
        return typeof value === 'function' ? value.bind(target) : value;
      },
    });
  return {
    ...ports,
    cluster: over(ports.cluster, changes.cluster),
    compute: over(ports.compute, changes.compute),
    network: over(ports.network, changes.network),
    clock: changes.clock ?? ports.clock,
    memory: over(ports.memory, changes.memory),
  };
}

/** Calls that change something, of whatever port. */
const WRITES =
  /^(patch|create|delete|evict|nominate|event|launch|terminate|tag|ensure|remove|check)/;

export interface Overtaken {
  readonly ports: Ports;
  /** What was written after Karpenter had come up. */
  readonly writes: string[];
  /** Whether it has. */
  readonly isUp: () => boolean;
}

/** Ports in which Karpenter comes up during the first call of this name, which takes five seconds. */
export function overtaken(ports: Ports, during: string): Overtaken {
  const startMs = ports.clock.nowMs();
  const writes: string[] = [];
  let upAtMs: number | undefined;
  const watched = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        if (name === 'karpenterRenewedAtMs') return async () => upAtMs;
        const member: unknown = Reflect.get(target, name);
        if (typeof member !== 'function') return member;
        if (name === 'read') {
          const read: () => Promise<ClusterState> = member.bind(target);
          return async () => ({ ...(await read()), karpenterRenewedAtMs: upAtMs });
        }
        const isWrite = WRITES.test(String(name));
        if (!isWrite && name !== during) return member.bind(target);
        return async (...args: readonly unknown[]) => {
          if (isWrite && upAtMs !== undefined) writes.push(String(name));
          if (name === during) upAtMs ??= startMs + 5_000;
          return await Reflect.apply(member, target, args);
        };
      },
    });
  const { cluster, compute, network, images, profiles, catalog } = ports;
  return {
    writes,
    isUp: () => upAtMs !== undefined,
    ports: {
      ...ports,
      clock: clockOf(() => upAtMs ?? startMs),
      cluster: watched(cluster),
      compute: watched(compute),
      network: watched(network),
      images: watched(images),
      profiles: watched(profiles),
      catalog: watched(catalog),
    },
  };
}

/** The cluster as it is read, changed. */
export function reading(
  ports: Ports,
  change: (state: ClusterState) => ClusterState,
): () => Promise<ClusterState> {
  return async () => change(await ports.cluster.read());
}
