import { describe, expect, it } from 'vitest';
import { ZONE } from '../../shared/core/model/labels.ts';
import { type Json, objectAt, textAt, valueAt } from '../../shared/sim/json.ts';
import { WORLD_START_MS, type World } from '../../shared/sim/world.ts';
import { deployment, nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;
const ZONES = ['us-east-1a', 'us-east-1b', 'us-east-1c'];

function storageClass(more: Json = {}): Json {
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name: 'disk' },
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  };
}

function topologies(key: string, ...values: readonly string[]): Json {
  return { allowedTopologies: [{ matchLabelExpressions: [{ key, values }] }] };
}

function claim(name: string): Json {
  return {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { name, namespace: 'default' },
    spec: { storageClassName: 'disk', resources: { requests: { storage: '1Gi' } } },
  };
}

function mounting(name: string, claimName: string, more: Json = {}): Json {
  const volumes = [{ name: 'data', persistentVolumeClaim: { claimName } }];
  return deployment(name, 1, '1', { volumes, ...more });
}

async function ran(manifests: readonly Json[], minutes = 5): Promise<World> {
  const { world } = await smallWorld([nodeClass, nodePool(['spot']), ...manifests]);
  await world.run(WORLD_START_MS + minutes * MINUTE);
  return world;
}

/** The zone of each running pod that a workload of this name has. */
function zonesOf({ store }: World, workload: string): readonly (string | undefined)[] {
  const running = store
    .list('Pod')
    .filter((pod) => textAt(pod, 'status', 'phase') === 'Running')
    .filter(({ metadata }) => metadata.labels['app'] === workload);
  return running.map((pod) => {
    const node = store.get('Node', undefined, textAt(pod, 'spec', 'nodeName') ?? '');
    return node?.metadata.labels[ZONE];
  });
}

/** What the volume of a claim requires of its nodes; undefined: the claim has none. */
function requiredOf({ store }: World, claimName: string): unknown {
  const found = store.get('PersistentVolumeClaim', 'default', claimName);
  const name = textAt(found, 'spec', 'volumeName');
  const volume = name === undefined ? undefined : store.get('PersistentVolume', undefined, name);
  if (volume === undefined || textAt(found, 'status', 'phase') !== 'Bound') return undefined;
  return valueAt(volume, 'spec', 'nodeAffinity', 'required', 'nodeSelectorTerms') ?? 'nothing';
}

const inZone = (zone: string | undefined) => [
  { matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] },
];

describe('a claim that waits for its first consumer', () => {
  it.each(['ebs.csi.aws.com', 'ebs.csi.eks.amazonaws.com', 'kubernetes.io/aws-ebs'])(
    'has its volume of %s in the zone of its pod',
    async (provisioner) => {
      const world = await ran([
        storageClass({ provisioner }),
        claim('data'),
        mounting('db', 'data'),
      ]);
      const [zone] = zonesOf(world, 'db');
      expect(ZONES).toContain(zone);
      expect(requiredOf(world, 'data')).toEqual(inZone(zone));
    },
  );

  it('stays unbound while no pod has it', async () => {
    const world = await ran([storageClass(), claim('data'), deployment('web', 1, '1')]);
    expect(requiredOf(world, 'data')).toBeUndefined();
    expect(world.store.list('PersistentVolume')).toEqual([]);
  });

  it('brings its pod back to the zone when the node goes', async () => {
    const world = await ran([storageClass(), claim('data'), mounting('db', 'data')]);
    const before = zonesOf(world, 'db');
    const shortage = { zone: before[0], instanceType: undefined, capacityType: undefined };
    world.compute.addShortage(shortage);
    const [machine] = [...world.compute.machines.keys()];
    await world.interruptInstance(machine ?? '');
    await world.run(WORLD_START_MS + 15 * MINUTE);
    expect(zonesOf(world, 'db')).toEqual([]);
    world.compute.removeShortage(shortage);
    await world.run(WORLD_START_MS + 30 * MINUTE);
    expect(world.launched).toBeGreaterThan(1);
    expect(before).toHaveLength(1);
    expect(zonesOf(world, 'db')).toEqual(before);
  });

  it('that two pods share brings both to one zone, also where they come at one time', async () => {
    const apart = (name: string, zones: readonly string[]) => {
      const required = { nodeSelectorTerms: [{ matchExpressions: zonesIn(zones) }] };
      const nodeAffinity = { requiredDuringSchedulingIgnoredDuringExecution: required };
      return mounting(name, 'data', { affinity: { nodeAffinity } });
    };
    const one = deployment('one', 1, '100m', { nodeSelector: { [ZONE]: 'us-east-1a' } });
    const two = deployment('two', 1, '100m', { nodeSelector: { [ZONE]: 'us-east-1b' } });
    const { world, script } = await smallWorld([nodeClass, nodePool(['spot']), one, two]);
    await world.run(WORLD_START_MS + 5 * MINUTE);
    const both = ['us-east-1a', 'us-east-1b'];
    script.apply([storageClass(), claim('data')]);
    script.apply([apart('x', both), apart('y', ['us-east-1b', 'us-east-1a'])]);
    await world.run(WORLD_START_MS + 15 * MINUTE);
    const zones = [...zonesOf(world, 'x'), ...zonesOf(world, 'y')];
    expect(zones).toHaveLength(2);
    expect(new Set(zones).size).toBe(1);
    expect(requiredOf(world, 'data')).toEqual(inZone(zones[0]));
  });

  it.each([ZONE, 'topology.ebs.csi.aws.com/zone'])(
    'comes where its class lets it (%s)',
    async (key) => {
      const narrow = storageClass(topologies(key, 'us-east-1b'));
      const world = await ran([narrow, claim('data'), mounting('db', 'data')]);
      expect(zonesOf(world, 'db')).toEqual(['us-east-1b']);
      expect(requiredOf(world, 'data')).toEqual(inZone('us-east-1b'));
    },
  );

  it('of a driver without zones may be used in any', async () => {
    const shared = storageClass({ provisioner: 'efs.csi.aws.com' });
    const world = await ran([shared, claim('data'), mounting('db', 'data')]);
    expect(zonesOf(world, 'db')).toHaveLength(1);
    expect(requiredOf(world, 'data')).toBe('nothing');
  });

  it('keeps its volume when its manifest is applied again', async () => {
    const { world, script } = await smallWorld([nodeClass, nodePool(['spot'])]);
    script.apply([storageClass(), claim('data'), mounting('db', 'data')]);
    await world.run(WORLD_START_MS + 5 * MINUTE);
    const before = requiredOf(world, 'data');
    script.apply([claim('data')]);
    expect(before).toBeDefined();
    expect(requiredOf(world, 'data')).toEqual(before);
  });
});

describe('a claim that does not wait', () => {
  const volume = (name: string, storage: string, zone: string, more: Json = {}): Json => ({
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    metadata: { name },
    spec: {
      storageClassName: 'manual',
      capacity: { storage },
      accessModes: ['ReadWriteOnce'],
      csi: { driver: 'ebs.csi.aws.com', volumeHandle: name },
      nodeAffinity: { required: { nodeSelectorTerms: inZone(zone) } },
      ...more,
    },
  });
  const asked = (more: Json = {}): Json => ({
    ...claim('data'),
    spec: {
      storageClassName: 'manual',
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '5Gi' } },
      ...more,
    },
  });
  const taken = { claimRef: { name: 'other', namespace: 'default' } };

  it('gets the smallest free volume of its class that is large enough', async () => {
    const world = await ran([
      volume('a', '20Gi', 'us-east-1a'),
      volume('b', '10Gi', 'us-east-1b'),
      volume('c', '1Gi', 'us-east-1c'),
      volume('d', '6Gi', 'us-east-1c', taken),
      volume('e', '6Gi', 'us-east-1c', { storageClassName: 'other' }),
      ...[asked(), mounting('db', 'data')],
    ]);
    expect(zonesOf(world, 'db')).toEqual(['us-east-1b']);
  });

  it('gets none that lacks an access mode', async () => {
    const many = asked({ accessModes: ['ReadWriteMany'] });
    const world = await ran([volume('a', '20Gi', 'us-east-1a'), many, mounting('db', 'data')]);
    expect(zonesOf(world, 'db')).toEqual([]);
  });
});

describe('a claim that no volume comes for', () => {
  it.each([
    ['is of no class', { storageClassName: '' }],
    ['is of a class that is not there', { storageClassName: 'none' }],
  ])('keeps its pod from nodes that are there: it %s', async (_, spec) => {
    const lost: Json = { ...claim('data'), spec };
    const world = await ran([deployment('web', 1, '100m'), lost, mounting('db', 'data')], 10);
    expect(zonesOf(world, 'web')).toHaveLength(1);
    expect(zonesOf(world, 'db')).toEqual([]);
    expect(objectAt(world.store.list('PersistentVolume')[0], 'spec')).toEqual({});
  });
});

function zonesIn(values: readonly string[]): readonly Json[] {
  return [{ key: ZONE, operator: 'In', values }];
}
