import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ec2Client, eksClient } from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { describeCluster } from '../../shared/aws/eks-cluster.ts';
import { NodeClassValidation } from '../../shared/aws/node-class-validation.ts';
import type { NodeClassStatus } from '../../shared/core/model/node-class.ts';
import { aNodeClass, IMAGE } from '../builders/launches.ts';
import { accessTo, adapterOn } from '../support/aws/adapter.ts';
import { CLUSTER, WireCloud } from '../support/aws/cloud.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

const RESOLVED: Partial<NodeClassStatus> = {
  images: [{ id: IMAGE, name: 'image', deprecated: false, requirements: [] }],
  subnets: [{ id: 'subnet-0000000000000000a', zone: 'us-east-1a', zoneId: 'use1-az1' }],
};

function validation(): NodeClassValidation {
  const { calls } = adapterOn(cloud);
  return new NodeClassValidation(() => describeCluster(eksClient(accessTo(cloud)), calls, CLUSTER));
}

describe('a class is refused', () => {
  const rows = [
    ['InvalidKubeletConfiguration', { kubelet: { evictionSoft: { 'memory.available': '5%' } } }],
    ['InvalidKubeletConfiguration', { kubelet: { maxPods: -1 } }],
    ['InvalidKubeletConfiguration', { kubelet: { registerWithTaints: [] } }],
    ['KubeletExpressionsDisabled', { kubelet: { maxPods: 'min(110, vcpus * 12)' } }],
    ['Unsupported', { enclaveOptions: { enabled: true } }],
    ['Unsupported', { placementGroupSelector: { name: 'group' } }],
    ['InvalidUserData', { userData: 'MIME-Version: 1.0\nContent-Type: multipart/mixed\n\nx' }],
    ['UserDataSizeLimitExceeded', { userData: `#!/bin/bash\n${'#'.repeat(16_400)}` }],
  ] as const;
  it.each(rows)('%s: %j', async (code, spec) => {
    const check = validation().check(aNodeClass(spec, RESOLVED));
    await expect(check).rejects.toMatchObject({ name: 'PortError', code });
    expect(cloud.server.callsOf('CreateFleet')).toEqual([]);
  });

  it.each(rows)('which never passes by itself: %s', async (_, spec) => {
    const check = validation().check(aNodeClass(spec, RESOLVED));
    await expect(check).rejects.toMatchObject({ kind: 'invalid' });
  });
});

it('the port passes it on, and has nothing to say without one', async () => {
  const { calls, templates, compute } = adapterOn(cloud);
  const nodeClass = aNodeClass({ kubelet: { maxPods: -1 } }, RESOLVED);
  const ec2 = ec2Client(accessTo(cloud));
  const parts = { ec2, calls, templates, cluster: CLUSTER };
  const checking = new Ec2Compute({ ...parts, validation: validation() });
  await expect(checking.check(nodeClass)).rejects.toMatchObject({
    code: 'InvalidKubeletConfiguration',
  });
  await compute.check(nodeClass);
});

it('a class is accepted of which nothing is wrong, or nothing known yet, without asking EC2', async () => {
  const own = validation();
  await own.check(aNodeClass());
  expect(cloud.server.calls).toHaveLength(1);
  await own.check(aNodeClass({}, RESOLVED));
  expect(cloud.server.calls.map(({ operation }) => operation)).toEqual([
    'DescribeCluster',
    'DescribeCluster',
  ]);
});
