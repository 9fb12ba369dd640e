import { expect } from 'vitest';
import { RESOURCES } from '../../../shared/api/resources.ts';
import type { KubeClient } from '../../../shared/kube/client.ts';
import { property } from '../../../shared/kube/list.ts';
import type { WireCloud } from '../aws/cloud.ts';
import type { ModelInstance } from '../aws/model/account.ts';
import { joinNode } from '../kubelet.ts';

/** A node of a managed node group that lives in the cluster beside ours. */
export const STRANGER = 'ip-10-0-0-1.ec2.internal';

const INSTANCES: readonly (readonly [id: string, tags: ModelInstance['tags']])[] = [
  ['i-0fffffffffffffff1', [{ Key: 'eks:nodegroup-name', Value: 'system' }]],
  ['i-0fffffffffffffff2', []],
  [
    'i-0fffffffffffffff3',
    [
      { Key: 'kubernetes.io/cluster/other', Value: 'owned' },
      { Key: 'eks:eks-cluster-name', Value: 'other' },
      { Key: 'karpenter.sh/nodepool', Value: 'default' },
      { Key: 'karpenter.k8s.aws/ec2nodeclass', Value: 'default' },
    ],
  ],
];

/** Instances and a node that are not ours: of a node group, of nobody, of another cluster. */
export async function settleStrangers(cloud: WireCloud, admin: KubeClient): Promise<void> {
  for (const [id, tags] of INSTANCES) {
    cloud.account.instances.set(id, {
      id,
      instanceType: 'm6a.large',
      zone: 'us-east-1a',
      subnetId: 'subnet-0000000000000000a',
      imageId: 'ami-0123456789abcdef0',
      market: 'on-demand',
      reservationId: undefined,
      launchedAtMs: 0,
      template: {},
      state: 'running',
      tags: [...tags],
    });
  }
  await joinNode(admin, {
    name: STRANGER,
    providerId: 'aws:///us-east-1a/i-0fffffffffffffff1',
    labels: {
      'eks.amazonaws.com/nodegroup': 'system',
      'topology.kubernetes.io/zone': 'us-east-1a',
    },
    // Its own pods only, so that the plans of the tests do not depend on it.
    taints: [{ key: 'CriticalAddonsOnly', value: 'true', effect: 'NoSchedule' }],
    capacity: { cpu: '2', memory: '8Gi', pods: '29' },
  });
}

export function isStranger({ id }: ModelInstance): boolean {
  return INSTANCES.some(([stranger]) => stranger === id);
}

const BY_THE_CONTROL_PLANE = 'node.kubernetes.io/';

/** Nobody has tainted, labelled, cordoned, deleted or ended what is not ours. */
export async function checkStrangers(cloud: WireCloud, admin: KubeClient): Promise<void> {
  const node = await admin.get(RESOURCES.nodes, { name: STRANGER });
  const metadata = property(node, 'metadata');
  const taints = property(property(node, 'spec'), 'taints');
  const keys = (Array.isArray(taints) ? taints : []).map((each) => String(property(each, 'key')));
  expect(keys.filter((key) => !key.startsWith(BY_THE_CONTROL_PLANE))).toEqual([
    'CriticalAddonsOnly',
  ]);
  expect(property(property(node, 'spec'), 'unschedulable')).toBeUndefined();
  expect(property(metadata, 'deletionTimestamp')).toBeUndefined();
  expect(property(metadata, 'finalizers')).toBeUndefined();
  expect(property(metadata, 'ownerReferences')).toBeUndefined();
  const names = Object.keys({
    ...(property(metadata, 'labels') ?? {}),
    ...(property(metadata, 'annotations') ?? {}),
  });
  expect(names.filter((name) => /karpenter|joiner/.test(name))).toEqual([]);
  for (const [id, tags] of INSTANCES) {
    expect(cloud.account.instances.get(id)).toMatchObject({ state: 'running', tags });
  }
}
