import { describe, expect, it } from 'vitest';
import {
  decodeDaemonSet,
  decodeNode,
  decodePersistentVolumeClaim,
} from '../../shared/api/kubernetes/cluster.ts';
import { PodDecoder } from '../../shared/api/kubernetes/pod.ts';
import { DAEMON_SET, NODE, PERSISTENT_VOLUME_CLAIM, POD } from '../../shared/kube/fields.ts';
import { project } from '../../shared/kube/shape.ts';
import { aReadyNode, aRichPod } from '../contract/kube-objects.ts';

const daemonSet = {
  metadata: {
    namespace: 'kube-system',
    name: 'agent',
    annotations: { 'deprecated.daemonset.template.generation': '2' },
  },
  spec: { template: aRichPod('agent') },
};

const claim = {
  metadata: {
    namespace: 'default',
    name: 'data',
    annotations: {
      'pv.kubernetes.io/bind-completed': 'yes',
      'volume.beta.kubernetes.io/storage-class': 'gp2',
    },
    deletionTimestamp: '2026-01-01T00:00:00Z',
  },
  spec: { volumeName: 'pv', storageClassName: 'gp3' },
  status: { phase: 'Lost' },
};

const mirror = {
  ...aRichPod('mirror'),
  metadata: { name: 'mirror', annotations: { 'kubernetes.io/config.mirror': 'a' } },
};

describe('the fields that are asked for', () => {
  it.each([
    ['DaemonSets', daemonSet, DAEMON_SET, decodeDaemonSet],
    ['PersistentVolumeClaims', claim, PERSISTENT_VOLUME_CLAIM, decodePersistentVolumeClaim],
    ['nodes', aReadyNode('n'), NODE, decodeNode],
    ['static pods', mirror, POD, (object: unknown) => new PodDecoder().decode(object)],
  ] as const)('are all that is read of %s', (_, object, shape, decode) => {
    const read = decode(project(object, shape));
    expect(read.ok).toBe(true);
    expect(read).toEqual(decode(object));
  });
});
