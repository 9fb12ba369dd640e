import { type Json, objectAt } from '../../../shared/sim/json.ts';
import { Prng } from '../../../shared/sim/prng.ts';
import type { World } from '../../../shared/sim/world.ts';
import { one } from './one.ts';
import type { Setting } from './setting.ts';

export const CLASS: Json = {
  apiVersion: 'storage.k8s.io/v1',
  kind: 'StorageClass',
  metadata: { name: 'gp3' },
  provisioner: 'ebs.csi.aws.com',
  volumeBindingMode: 'WaitForFirstConsumer',
};

export const TEMPLATE: Json = {
  metadata: { name: 'data' },
  spec: {
    storageClassName: 'gp3',
    accessModes: ['ReadWriteOnce'],
    resources: { requests: { storage: '10Gi' } },
  },
};

/** Each pod of a StatefulSet has a volume of its own, which keeps it in the zone it came to first. */
export function withVolumes(setting: Setting): Setting {
  const manifests = setting.manifests.map((each) =>
    each['kind'] === 'StatefulSet'
      ? { ...each, spec: { ...objectAt(each, 'spec'), volumeClaimTemplates: [TEMPLATE] } }
      : each,
  );
  return { ...setting, hasVolumes: true, manifests: [CLASS, ...manifests] };
}

/** Volumes stay attached for a while after their pods have gone, some of them for minutes. */
export function detachSlowly({ controlPlane }: World, seed: number, mark: (what: string) => void) {
  const random = new Prng(seed, 'detach');
  controlPlane.detachMs = () => {
    const isSlow = random.next() < 0.2;
    mark(isSlow ? 'slow detach' : 'detach');
    return one(random, [2_000, 8_000, 20_000]) * (isSlow ? 10 : 1);
  };
}

/** In some worlds nodes attach few volumes, and their driver may say so when they have pods. */
export function limitVolumes(world: World, seed: number, mark: (what: string) => void): void {
  const random = new Prng(seed, 'attach limits');
  if (random.next() >= 0.5) return;
  const most = random.between(1, 4);
  const isLate = random.next() < 0.5;
  world.attachLimitOf = () => {
    mark('attach limit');
    const count = random.between(1, most);
    const afterMs = isLate ? random.between(0, 120_000) : 0;
    return { driver: 'ebs.csi.aws.com', count, afterMs };
  };
}
