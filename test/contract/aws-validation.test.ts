import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ec2Client, eksClient } from '../../shared/aws/access.ts';
import { Ec2Compute } from '../../shared/aws/ec2-compute.ts';
import { describeCluster } from '../../shared/aws/eks-cluster.ts';
import { NodeClassValidation } from '../../shared/aws/node-class-validation.ts';
import type { NodeClassStatus } from '../../shared/core/model/node-class.ts';
import { aNodeClass, IMAGE } from '../builders/launches.ts';
import { accessTo, adapterOn } from '../support/aws/adapter.ts';
import { CLUSTER, WireCloud } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';

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

function validation(dryRun = true): NodeClassValidation {
  const access = accessTo(cloud);
  const { calls, templates } = adapterOn(cloud);
  const cluster = () => describeCluster(eksClient(access), calls, CLUSTER);
  return new NodeClassValidation({ ec2: ec2Client(access), calls, templates, cluster, dryRun });
}

describe('a class is refused', () => {
  const rows = [
    ['InvalidKubeletConfiguration', { kubelet: { evictionSoft: { 'memory.available': '5%' } } }],
    ['InvalidKubeletConfiguration', { kubelet: { maxPods: -1 } }],
    ['UnsupportedKubeletConfiguration', { kubelet: { registerWithTaints: [] } }],
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

  it('not where EC2 has a bad moment', async () => {
    const fault = new WireFault('InternalError', 'no', 500);
    for (let at = 0; at < 6; at += 1) cloud.server.fail('ec2', 'CreateFleet', fault);
    await expect(validation().check(aNodeClass({}, RESOLVED))).resolves.toBeUndefined();
  });

  it.each([
    ['CreateLaunchTemplate', 'UnauthorizedOperation'],
    ['CreateFleet', 'UnauthorizedOperation'],
    ['CreateFleet', 'AuthFailure'],
    ['RunInstances', 'UnauthorizedOperation'],
  ])('where %s is not allowed to the role: %s', async (operation, code) => {
    cloud.server.fail('ec2', operation, new WireFault(code, 'no', 403));
    await expect(validation().check(aNodeClass({}, RESOLVED))).rejects.toMatchObject({
      kind: 'unauthorised',
      code: `${operation}AuthCheckFailed`,
      message: `${code}: ec2:${operation}: no`,
    });
  });

  it.each([
    ['CreateFleet', 'InvalidSubnetID.NotFound'],
    ['CreateFleet', 'SomethingNobodyHasSeen'],
    ['RunInstances', 'Unsupported'],
    ['RunInstances', 'InsufficientInstanceCapacity'],
    ['RunInstances', 'InvalidParameterValue'],
  ])('not where a dry run of %s says of the sample: %s', async (operation, code) => {
    cloud.server.fail('ec2', operation, new WireFault(code, 'not here', 400));
    await expect(validation().check(aNodeClass({}, RESOLVED))).resolves.toBeUndefined();
    expect(cloud.server.callsOf('RunInstances')).toHaveLength(1);
  });

  it('where its launch template cannot be made, by what EC2 says of it', async () => {
    const fault = new WireFault('InvalidBlockDeviceMapping', 'too small', 400);
    cloud.server.fail('ec2', 'CreateLaunchTemplate', fault);
    await expect(validation().check(aNodeClass({}, RESOLVED))).rejects.toMatchObject({
      kind: 'unknown',
      code: 'InvalidBlockDeviceMapping',
      isPassing: false,
    });
    expect(cloud.server.callsOf('CreateFleet')).toEqual([]);
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

describe('a class is accepted', () => {
  it('and EC2 is not asked again for half an hour', async () => {
    const checks = validation();
    await checks.check(aNodeClass({}, RESOLVED));
    await checks.check(aNodeClass({}, RESOLVED));
    expect(cloud.server.callsOf('RunInstances')).toHaveLength(1);
    cloud.account.nowMs += 30 * 60_000;
    await checks.check(aNodeClass({}, RESOLVED));
    expect(cloud.server.callsOf('RunInstances')).toHaveLength(2);
    expect(cloud.account.instances.size).toBe(0);
  });

  it('without asking EC2 where dry runs are off or nothing is resolved yet', async () => {
    await validation(false).check(aNodeClass({}, RESOLVED));
    await validation().check(aNodeClass());
    expect(cloud.server.callsOf('CreateFleet')).toEqual([]);
  });
});
