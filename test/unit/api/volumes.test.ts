import { describe, expect, it } from 'vitest';
import type { Decoded } from '../../../shared/api/issue.ts';
import {
  decodePersistentVolume,
  decodeStorageClass,
} from '../../../shared/api/kubernetes/cluster.ts';
import { PodSpecReader } from '../../../shared/api/kubernetes/pod-spec.ts';
import { ZONE } from '../../../shared/core/model/labels.ts';

const inZone = (...values: string[]) => ({ key: ZONE, operator: 'In', values });

function affinityOf(
  labels: Readonly<Record<string, string>>,
  ...terms: readonly (readonly object[])[]
) {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  const spec = terms.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } };
  const decoded = decodePersistentVolume({ metadata: { name: 'pv', labels }, spec });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value.requiredNodeAffinity;
}

it('a volume without node affinity or zone label may be anywhere', () => {
  expect(affinityOf({})).toBeUndefined();
});

it.each([ZONE, 'failure-domain.beta.kubernetes.io/zone'])(
  'a volume is where its label %s says',
  (key) => {
    expect(affinityOf({ [key]: 'zone-a' })).toEqual([
      { matchExpressions: [inZone('zone-a')], matchFields: [] },
    ]);
  },
);

it('a label may name several zones', () => {
  expect(affinityOf({ [ZONE]: 'zone-a__zone-b' })?.[0]?.matchExpressions).toEqual([
    inZone('zone-a', 'zone-b'),
  ]);
});

it('a label narrows every term of the node affinity', () => {
  const arm = { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] };
  const terms = affinityOf({ [ZONE]: 'zone-a' }, [arm], [inZone('zone-b')]);
  expect(terms?.map((each) => each.matchExpressions)).toEqual([
    [arm, inZone('zone-a')],
    [inZone('zone-b'), inZone('zone-a')],
  ]);
});

function decoded<Value>(result: Decoded<Value>): Value {
  if (!result.ok) throw new Error(JSON.stringify(result.issues));
  return result.value;
}

describe('volumes of the in-tree EBS plugin are those of its CSI driver', () => {
  it('in a StorageClass', () => {
    const provisioner = 'kubernetes.io/aws-ebs';
    const gp2 = decoded(decodeStorageClass({ metadata: { name: 'gp2' }, provisioner }));
    expect(gp2.provisioner).toBe('ebs.csi.aws.com');
  });

  it.each(['vol-1', 'aws://zone-a/vol-1', 'aws:///vol-1'])(
    'in a PersistentVolume of %s, with the zone that its old label says',
    (volumeID) => {
      const labels = { 'failure-domain.beta.kubernetes.io/zone': 'zone-a' };
      const spec = { awsElasticBlockStore: { volumeID } };
      const volume = decoded(decodePersistentVolume({ metadata: { name: 'pv', labels }, spec }));
      expect(volume).toMatchObject({ csiDriver: 'ebs.csi.aws.com', csiVolumeHandle: 'vol-1' });
      expect(volume.requiredNodeAffinity?.[0]?.matchExpressions).toEqual([inZone('zone-a')]);
    },
  );

  it.each(['failure-domain.beta.kubernetes.io/zone', 'topology.ebs.csi.aws.com/zone'])(
    'in a PersistentVolume with node affinity for %s',
    (key) => {
      const matchExpressions = [{ key, operator: 'In', values: ['zone-a'] }];
      expect(affinityOf({}, matchExpressions)?.[0]?.matchExpressions).toEqual([inZone('zone-a')]);
    },
  );

  it('in a PersistentVolume that is marked as migrated', () => {
    const annotations = { 'pv.kubernetes.io/migrated-to': 'ebs.csi.aws.com' };
    const volume = decodePersistentVolume({ metadata: { name: 'pv', annotations }, spec: {} });
    expect(decoded(volume).csiDriver).toBe('ebs.csi.aws.com');
  });

  it('in a pod', () => {
    const volumes = ['vol-1', 'vol-2'].map((volumeID) => ({
      name: volumeID,
      awsElasticBlockStore: { volumeID: `aws://zone-a/${volumeID}` },
    }));
    const reader = new PodSpecReader();
    const specs = volumes.map((volume) => reader.read({ volumes: [volume] }, 'spec').spec.volumes);
    expect(specs).toEqual([
      [{ kind: 'attached', driver: 'ebs.csi.aws.com', volume: 'vol-1' }],
      [{ kind: 'attached', driver: 'ebs.csi.aws.com', volume: 'vol-2' }],
    ]);
  });
});
