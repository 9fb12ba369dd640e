import { describe, expect, it } from 'vitest';
import { readState } from '../../shared/sim/decode.ts';
import type { Json } from '../../shared/sim/json.ts';
import { WORLD_START_MS } from '../../shared/sim/world.ts';
import { nodeClass, nodePool, smallWorld } from './small-world.ts';

const MINUTE = 60_000;

function storageClass(name: string, more: Json = {}, isDefault = false): Json {
  const annotations = isDefault ? { 'storageclass.kubernetes.io/is-default-class': 'true' } : {};
  return {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    metadata: { name, annotations },
    provisioner: 'ebs.csi.aws.com',
    volumeBindingMode: 'WaitForFirstConsumer',
    ...more,
  };
}

function database(claim: { readonly metadata: Json; readonly spec: Json }): Json {
  const metadata = { ...claim.metadata, name: 'data' };
  const requests = { requests: { cpu: '1', memory: '1Gi' } };
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'default' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'db' } },
      template: {
        metadata: { labels: { app: 'db' } },
        spec: { containers: [{ name: 'main', image: 'db', resources: requests }] },
      },
      volumeClaimTemplates: [{ metadata, spec: claim.spec }],
    },
  };
}

async function runningOf(manifests: readonly Json[]) {
  const { world } = await smallWorld([nodeClass, nodePool(['on-demand']), ...manifests]);
  await world.run(WORLD_START_MS + 10 * MINUTE);
  const { pods, persistentVolumeClaims, persistentVolumes } = readState(world.store).objects;
  return {
    running: pods.filter(({ phase, name }) => phase === 'Running' && name.startsWith('db-')).length,
    classes: [...new Set(persistentVolumeClaims.map((each) => each.storageClassName))],
    volumes: persistentVolumes.length,
  };
}

describe('claims of a StatefulSet', () => {
  const plain = { metadata: {}, spec: { resources: { requests: { storage: '1Gi' } } } };
  const gp3 = storageClass('gp3', {}, true);

  it('that name no class get the default one, also where it comes after them', async () => {
    const expected = { running: 3, classes: ['gp3'], volumes: 3 };
    expect(await runningOf([gp3, database(plain)])).toEqual(expected);
    expect(await runningOf([database(plain), storageClass('slow'), gp3])).toEqual(expected);
  });

  it('that name their class as of old have that one', async () => {
    const metadata = { annotations: { 'volume.beta.kubernetes.io/storage-class': 'slow' } };
    const old = database({ ...plain, metadata });
    const { running, classes } = await runningOf([gp3, storageClass('slow'), old]);
    expect([running, classes]).toEqual([3, ['slow']]);
  });

  it('of a class that does not wait have their volumes at once', async () => {
    const early = storageClass('early', { volumeBindingMode: 'Immediate' }, true);
    expect(await runningOf([early, database(plain)])).toMatchObject({ running: 3, volumes: 3 });
  });

  it('that want no class stay unbound', async () => {
    const none = { ...plain, spec: { ...plain.spec, storageClassName: '' } };
    expect((await runningOf([gp3, database(none)])).running).toBe(0);
  });
});
