import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ec2Client, ssmClient } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { Ec2Images } from '../../shared/aws/images.ts';
import type { Ports } from '../../shared/ports.ts';
import { objectAt, textAt } from '../../shared/sim/json.ts';
import { Crash, WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from '../sim/small-world.ts';
import { accessTo, adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { joiningOf } from '../support/aws/joining.ts';
import { type ModelInstance, poolKey } from '../support/aws/model/account.ts';
import { WireFault } from '../support/aws/wire/response.ts';

/** The functions' use cases on the simulated cluster, with AWS over the wire behind them. */

const MINUTE_MS = 60_000;
const JOIN_MS = 40_000;
const IMAGES = '/aws/service/eks/optimized-ami/1.33/amazon-linux-2023';

let cloud: WireCloud;
let world: World;

beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
  for (const [arch, id] of [
    ['x86_64', 'ami-0000000000000000a'],
    ['arm64', 'ami-0000000000000000b'],
  ] as const) {
    cloud.account.parameters.set(`${IMAGES}/${arch}/standard/recommended/image_id`, id);
    cloud.account.images.push({
      ImageId: id,
      Name: `al2023-${arch}`,
      Architecture: arch,
      CreationDate: '2025-12-01T00:00:00Z',
      State: 'available',
      OwnerId: '602401143452',
    });
  }
});
afterEach(() => cloud.stop());

async function start(...replicas: readonly number[]): Promise<void> {
  await startWith((ports) => ports, replicas);
}

async function startWith(
  wrap: (ports: Ports) => Ports,
  replicas: readonly number[],
): Promise<void> {
  // EC2's prices here are not those of the catalog: what it chooses is to stay.
  const disruption = { consolidationPolicy: 'WhenEmpty' };
  const manifests = [nodeClass, nodePool(['on-demand'], { disruption })];
  const workloads = replicas.map((count, at) => deployment(`app-${at}`, count, '900m'));
  let nowMs = (): number => WORLD_START_MS;
  const calls = new Calls({ nowMs: () => nowMs(), sleep: async () => {} });
  const { compute, network, profiles } = adapterOn(cloud, calls);
  const access = accessTo(cloud);
  const images = new Ec2Images({
    ec2: ec2Client(access),
    ssm: ssmClient(access),
    calls,
    cluster: async () => ({ kubernetesVersion: '1.33' }),
  });
  const small = await smallWorld([...manifests, ...workloads], {
    wrap: (ports) => wrap({ ...ports, compute, network, profiles, images }),
  });
  world = small.world;
  nowMs = () => world.timeline.nowMs();
  cloud.account.useClock(nowMs);
  cloud.account.shutdownMs = 10_000;
  cloud.account.onLaunch = (instance) => world.timeline.after(JOIN_MS, () => join(instance));
}

/** Its kubelet registers the node with what the user data says. */
function join(instance: ModelInstance): void {
  const joining = joiningOf(instance);
  if (joining === undefined || instance.state === 'shutting-down') return;
  const claim = world.store
    .list('NodeClaim')
    .find((each) => textAt(each, 'status', 'providerID') === joining.providerId);
  // The cluster knows the capacity of a machine only from its claim: it boots until there is one.
  if (claim === undefined) {
    world.timeline.after(5_000, () => join(instance));
    return;
  }
  const capacity = objectAt(claim, 'status', 'capacity');
  const allocatable = objectAt(claim, 'status', 'allocatable');
  const at = world.timeline.isoNow();
  const ready = { type: 'Ready', status: 'True', reason: 'KubeletReady', lastTransitionTime: at };
  const taints = joining.taints.map((taint) => ({ ...taint }));
  world.store.create({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: {
      name: joining.name,
      labels: { ...joining.labels, 'kubernetes.io/hostname': joining.name },
    },
    spec: { providerID: joining.providerId, taints },
    status: { capacity, allocatable, conditions: [ready] },
  });
}

function alive(): readonly ModelInstance[] {
  return [...cloud.account.instances.values()].filter(({ state }) => !/shut|term/.test(state));
}

function aliveIds(): readonly string[] {
  return alive()
    .map(({ id }) => id)
    .sort();
}

function claimedIds(): readonly string[] {
  const ids = world.store.list('NodeClaim').map((each) => textAt(each, 'status', 'providerID'));
  return ids.map((id) => id?.split('/').at(-1) ?? '').sort();
}

function runningPods(): number {
  const pods = world.store.list('Pod');
  return pods.filter((each) => textAt(each, 'status', 'phase') === 'Running').length;
}

async function runFor(minutes: number): Promise<void> {
  await world.run(world.timeline.nowMs() + minutes * MINUTE_MS);
}

describe('Joiner on AWS over the wire', () => {
  it('gives pending pods nodes on which they run', async () => {
    await start(4, 6);
    await runFor(4);
    expect(runningPods()).toBe(10);
    expect(claimedIds()).toEqual(aliveIds());
    const registered = world.store
      .list('Node')
      .map((each) => each.metadata.labels['karpenter.sh/registered']);
    expect(registered).toEqual(alive().map(() => 'true'));
    expect(alive()[0]?.tags).toContainEqual({ Key: 'eks:eks-cluster-name', Value: 'demo' });
  });

  it('takes the next choice where the first zones are used up', async () => {
    await start(4);
    for (const size of ['large', 'xlarge', '2xlarge']) {
      for (const family of ['c7g', 'm7g', 'c6a']) {
        for (const letter of ['a', 'b', 'c']) {
          const key = poolKey(`${family}.${size}`, `us-east-1${letter}`, 'on-demand');
          cloud.account.capacity.set(key, 0);
        }
      }
    }
    await runFor(4);
    expect(runningPods()).toBe(4);
    expect(alive().every(({ instanceType }) => instanceType.startsWith('m6a.'))).toBe(true);
    expect(claimedIds()).toEqual(aliveIds());
  });

  it('launches once though the answers are lost', async () => {
    await start(4);
    cloud.server.fail('ec2', 'CreateFleet', 'lost', 3);
    await runFor(6);
    expect(runningPods()).toBe(4);
    expect(cloud.account.instances.size).toBe(alive().length);
    expect(claimedIds()).toEqual(aliveIds());
  });

  it('goes on after throttling', async () => {
    await start(4);
    const fault = new WireFault('RequestLimitExceeded', 'later', 503);
    cloud.server.fail('ec2', 'CreateFleet', fault, 4);
    await runFor(6);
    expect(runningPods()).toBe(4);
    expect(claimedIds()).toEqual(aliveIds());
  });

  it('ends the instances of a NodePool that is deleted', async () => {
    await start(4);
    await runFor(4);
    expect(alive().length).toBeGreaterThan(0);
    const [pool] = world.store.list('NodePool');
    if (pool !== undefined) world.store.delete(pool);
    await runFor(6);
    expect(alive()).toEqual([]);
    expect(claimedIds()).toEqual([]);
    expect(world.store.list('Node')).toEqual([]);
  });

  it('replaces what never registers, and ends it', async () => {
    await start(2);
    cloud.account.onLaunch = () => {};
    await runFor(17);
    const states = [...cloud.account.instances.values()].map(({ state }) => state);
    expect(states).toContain('terminated');
    expect(claimedIds()).toEqual(aliveIds());
  });
});

/** Kills the use case once, at the nth call of a port's method. */
function killAt(
  method: keyof Ports['compute'] | keyof Ports['cluster'],
  nth: number,
  after: boolean,
) {
  let calls = 0;
  const guard = <Port extends object>(port: Port): Port =>
    new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function' || name !== method) return value;
        return async (...args: unknown[]) => {
          calls += 1;
          const isHit = calls === nth;
          if (isHit && !after) throw new Crash('killed before the call');
          const result: unknown = await Reflect.apply(value, target, args);
          if (isHit) throw new Crash('killed after the call');
          return result;
        };
      },
    });
  return (ports: Ports): Ports => ({
    ...ports,
    compute: guard(ports.compute),
    cluster: guard(ports.cluster),
  });
}

describe('a crash while launching', () => {
  const places = [
    ['launch', 1],
    ['patchNodeClaim', 1],
    ['patchNodeClaim', 2],
    ['patchNodeClaim', 3],
    ['patchNodeClaim', 4],
    ['patchNodeClaimStatus', 1],
    ['patchNodeClaimStatus', 2],
    ['patchNodeClaimStatus', 3],
    ['createNodeClaim', 2],
  ] as const;
  const rows = places.flatMap(([method, nth]) => [
    [method, nth, 'before'] as const,
    [method, nth, 'after'] as const,
  ]);
  it.each(rows)(
    'at %s number %i, %s it: nothing leaks or comes twice',
    async (method, nth, when) => {
      await startWith(killAt(method, nth, when === 'after'), [10, 22]);
      await runFor(9);
      expect(world.crashes).toBe(1);
      expect(runningPods()).toBe(32);
      expect(claimedIds()).toEqual(aliveIds());
      expect(cloud.account.instances.size).toBe(alive().length);
    },
  );

  it.each(rows)('at %s number %i, %s it, with instances that are seen late', async (...row) => {
    const [method, nth, when] = row;
    cloud.account.visibleAfterMs = 20_000;
    await startWith(killAt(method, nth, when === 'after'), [10, 22]);
    await runFor(9);
    expect(world.crashes).toBe(1);
    expect(runningPods()).toBe(32);
    expect(claimedIds()).toEqual(aliveIds());
    expect(cloud.account.instances.size).toBe(alive().length);
  });
});
