import { GetObjectCommand, ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3';
import { GetParameterCommand } from '@aws-sdk/client-ssm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ReadDecision } from '../../shared/api/decision-record.ts';
import {
  eksClient,
  environmentCredentials,
  iamClient,
  pricingClient,
  s3Client,
  sqsClient,
  ssmClient,
} from '../../shared/aws/access.ts';
import { publishDecisions } from '../../shared/aws/decision-events.ts';
import { cachedCluster, describeCluster } from '../../shared/aws/eks-cluster.ts';
import { eventBridgeClient, WakeBus } from '../../shared/aws/events.ts';
import { IamProfiles } from '../../shared/aws/profiles.ts';
import { queueDepthReader } from '../../shared/aws/queue-depth.ts';
import type { ClusterFacts } from '../../shared/core/launch/cluster-facts.ts';
import { PortError } from '../../shared/ports/fault.ts';
import { aNodeClass } from '../builders/launches.ts';
import { accessTo, adapterOn, callsOn } from '../support/aws/adapter.ts';
import { BUCKET, WireCloud } from '../support/aws/cloud.ts';
import { InterruptionQueue } from '../support/aws/interruption-queue.ts';
import { WireFault } from '../support/aws/wire/response.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

describe('network', () => {
  it('asks for the ids of all terms at once and for each set of tags', async () => {
    const { network } = adapterOn(cloud);
    const terms = [
      { id: 'subnet-0000000000000000a' },
      { id: 'subnet-0000000000000000b' },
      { tags: { 'karpenter.sh/discovery': '*' } },
    ];
    expect((await network.subnets(terms)).map(({ id }) => id.slice(-1))).toEqual(['a', 'b', 'c']);
    expect(cloud.server.inputsOf('DescribeSubnets').map((each) => each['Filters'])).toEqual([
      [
        {
          Name: 'subnet-id',
          Values: ['subnet-0000000000000000a', 'subnet-0000000000000000b'],
        },
      ],
      [{ Name: 'tag-key', Values: ['karpenter.sh/discovery'] }],
    ]);
  });

  it('reads all pages', async () => {
    cloud.account.pageSize = 1;
    const terms = [{ tags: { 'karpenter.sh/discovery': 'demo' } }];
    expect(await adapterOn(cloud).network.subnets(terms)).toHaveLength(3);
  });

  it('finds security groups by name', async () => {
    const { network } = adapterOn(cloud);
    expect(await network.securityGroups([{ name: 'demo-nodes' }])).toHaveLength(1);
    expect(await network.securityGroups([{ name: 'other' }])).toEqual([]);
  });

  it('finds reservations by their criteria; a block that ends soon is expiring', async () => {
    const { account } = cloud;
    const endsAtMs = account.nowMs + 39 * 60_000;
    const block = {
      CapacityReservationId: 'cr-0000000000000000b',
      InstanceType: 'p5.48xlarge',
      AvailabilityZone: 'us-east-1a',
      OwnerId: account.id,
      InstanceMatchCriteria: 'targeted',
      ReservationType: 'capacity-block',
      EndDate: new Date(endsAtMs),
      AvailableInstanceCount: 4,
      State: 'active',
    } as const;
    account.reservations = [block, { ...block, CapacityReservationId: 'cr-1', State: 'expired' }];
    const terms = [{ instanceMatchCriteria: 'targeted', ownerID: account.id }] as const;
    expect(await adapterOn(cloud).network.reservations(terms)).toMatchObject([
      { id: block.CapacityReservationId, state: 'expiring', endsAtMs, available: 4 },
    ]);
  });

  it('finds the reservations that are there where another one is gone', async () => {
    const there = ['cr-0000000000000000a', 'cr-0000000000000000c'];
    cloud.account.reservations = there.map((CapacityReservationId) => ({
      CapacityReservationId,
      InstanceType: 'm5.large',
      AvailabilityZone: 'us-east-1a',
      State: 'active',
    }));
    const { network } = adapterOn(cloud);
    const named = async (ids: readonly string[]) =>
      (await network.reservations(ids.map((id) => ({ id })))).map(({ id }) => id);
    expect(await named([...there, 'cr-0000000000000000b'])).toEqual(there);
    expect(cloud.server.callsOf('DescribeCapacityReservations')).toHaveLength(4);
    expect(await named(there)).toEqual(there);
    expect(cloud.server.callsOf('DescribeCapacityReservations')).toHaveLength(5);
  });

  it('says which action is not allowed', async () => {
    const message = 'not authorised. Encoded authorization failure message: AAAA';
    cloud.server.fail(
      'ec2',
      'DescribeSubnets',
      new WireFault('UnauthorizedOperation', message, 403),
    );
    await expect(adapterOn(cloud).network.subnets([{ id: 'subnet-1' }])).rejects.toMatchObject({
      kind: 'unauthorised',
      message: 'ec2:DescribeSubnets: not authorised.',
    });
  });
});

describe('instance profiles', () => {
  it('carry the role and the tags of the cluster', async () => {
    const name = await adapterOn(cloud).profiles.ensure(aNodeClass());
    const profile = cloud.profiles.profiles.get(name);
    expect(profile?.roles).toEqual(['nodes']);
    expect(profile?.path).toBe('/karpenter/us-east-1/demo/class-uid/');
    expect(profile?.tags).toContainEqual({ Key: 'kubernetes.io/cluster/demo', Value: 'owned' });
  });

  it('keep their role: another one has a profile of its own', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(aNodeClass());
    const second = await profiles.ensure({ ...aNodeClass(), role: 'path/other' });
    expect(await profiles.ensure({ ...aNodeClass(), role: 'other' })).toBe(second);
    expect(second).not.toBe(name);
    expect(cloud.profiles.profiles.get(name)?.roles).toEqual(['nodes']);
    expect(cloud.profiles.profiles.get(second)?.roles).toEqual(['other']);
    expect(cloud.server.callsOf('RemoveRoleFromInstanceProfile')).toEqual([]);
  });

  const refusals = [
    [new WireFault('NoSuchEntity', 'The role cannot be found.', 404), 'not-found'],
    [new WireFault('AccessDenied', 'not authorized to perform: iam:PassRole', 403), 'unauthorised'],
  ] as const;
  it.each(refusals)('keep their role where the new one is refused: %s', async (fault, kind) => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(aNodeClass());
    cloud.server.fail('iam', 'AddRoleToInstanceProfile', fault);
    const changed = profiles.ensure({ ...aNodeClass(), role: 'other' });
    await expect(changed).rejects.toMatchObject({ kind });
    expect(cloud.profiles.profiles.get(name)?.roles).toEqual(['nodes']);
    expect(await profiles.ensure(aNodeClass())).toBe(name);
  });

  it('may have been given their role by a run that IAM does not tell of yet', async () => {
    const { profiles } = adapterOn(cloud);
    const full = new WireFault('LimitExceeded', 'Cannot exceed quota: 1', 409);
    cloud.server.fail('iam', 'AddRoleToInstanceProfile', full);
    const early = profiles.ensure(aNodeClass());
    await expect(early).rejects.toMatchObject({ code: 'LimitExceeded', isTransient: true });
    cloud.server.fail('iam', 'CreateInstanceProfile', full);
    const another = profiles.ensure({ ...aNodeClass(), role: 'other' });
    await expect(another).rejects.toMatchObject({ code: 'LimitExceeded', isTransient: false });
  });

  it('that somebody gave another role are left alone and said to be so', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(aNodeClass());
    cloud.profiles.profiles.get(name)?.roles.splice(0, 1, 'theirs');
    await expect(profiles.ensure(aNodeClass())).rejects.toMatchObject({
      kind: 'invalid',
      code: 'InstanceProfileRoleChanged',
      message: `instance profile ${name} has role "theirs" instead of "nodes": put it back`,
    });
    expect(cloud.profiles.profiles.get(name)?.roles).toEqual(['theirs']);
  });

  it('go with their class, under every role and by the earlier name too', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(aNodeClass());
    await profiles.ensure({ ...aNodeClass(), role: 'other' });
    const kept = await profiles.ensure({ ...aNodeClass(), name: 'other' });
    const model = cloud.profiles;
    const path = '/karpenter/us-east-1/demo/class-uid/';
    const foreign = { path, tags: [], roles: ['nodes'] };
    const before = name.slice(0, name.lastIndexOf('_'));
    model.profiles.set(before, { ...foreign, name: before, roles: ['nodes'] });
    model.profiles.set('demo_123', { ...foreign, name: 'demo_123' });
    model.pageSize = 1;
    await profiles.remove({ ...aNodeClass(), role: undefined });
    expect([...model.profiles.keys()].toSorted()).toEqual([kept, 'demo_123'].toSorted());
  });

  it('have names that IAM takes, however long the cluster is named', async () => {
    const parts = { iam: iamClient(accessTo(cloud)), calls: callsOn(cloud), region: 'us-east-1' };
    const cluster = 'c'.repeat(100);
    const profiles = new IamProfiles({ ...parts, cluster, isolated: false });
    expect((await profiles.ensure(aNodeClass())).length).toBeLessThanOrEqual(128);
    await profiles.remove(aNodeClass());
    expect(cloud.profiles.profiles.size).toBe(0);
  });

  it('say that the role is not there', async () => {
    cloud.profiles.roles = new Set();
    await expect(adapterOn(cloud).profiles.ensure(aNodeClass())).rejects.toMatchObject({
      kind: 'not-found',
      message: 'role "nodes" of EC2NodeClass default is not there (demo in us-east-1)',
    });
  });
});

describe('cluster', () => {
  const describeDemo = (name = 'demo') =>
    describeCluster(eksClient(accessTo(cloud)), callsOn(cloud), name);

  it('is described with what nodes need', async () => {
    expect(await describeDemo()).toEqual({
      name: 'demo',
      endpoint: 'https://ABCDEF.gr7.us-east-1.eks.amazonaws.com',
      certificateAuthority: 'Q0E=',
      serviceCidr: '10.100.0.0/16',
      ipFamily: 'ipv4',
      kubernetesVersion: '1.33',
    });
  });

  it('that is absent or not ready is a fault', async () => {
    await expect(describeDemo('other')).rejects.toMatchObject({ kind: 'not-found' });
    cloud.cluster = { name: 'demo', status: 'CREATING' };
    await expect(describeDemo()).rejects.toMatchObject({ code: 'ClusterNotReady' });
  });

  it('is asked for once in five minutes, and again after a fault', async () => {
    const { account } = cloud;
    const cached = cachedCluster(
      () => describeDemo(),
      () => account.nowMs,
    );
    await Promise.all([cached(), cached()]);
    expect(cloud.server.callsOf('DescribeCluster')).toHaveLength(1);
    account.nowMs += 300_000;
    cloud.cluster = undefined;
    await expect(cached()).rejects.toMatchObject({ kind: 'not-found' });
    cloud.cluster = { name: 'demo' };
    await expect(cached()).rejects.toMatchObject({ code: 'ClusterNotReady' });
  });
});

describe('a cluster that cannot be described again', () => {
  const faults = [
    new PortError('unknown', 'ServerException', 'no'),
    new PortError('throttled', 'ThrottlingException', 'no'),
    new PortError('unknown', 'InvalidRequestException', 'no', { isTransient: false }),
  ];
  it.each(faults)('is what it was, and asked for again soon: $code', async (fault) => {
    const { account } = cloud;
    const said: (() => Promise<ClusterFacts>)[] = [];
    const describeDemo = () => describeCluster(eksClient(accessTo(cloud)), callsOn(cloud), 'demo');
    const cached = cachedCluster(
      () => (said.shift() ?? describeDemo)(),
      () => account.nowMs,
    );
    const before = await cached();
    const refuse = () => Promise.reject(fault);
    said.push(refuse, refuse);
    account.nowMs += 300_000;
    expect(await Promise.all([cached(), cached()])).toEqual([before, before]);
    expect(await cached()).toEqual(before);
    expect(said).toHaveLength(1);
    account.nowMs += 30_000;
    expect(await cached()).toEqual(before);
    expect(said).toHaveLength(0);
    account.nowMs += 30_000;
    cloud.cluster = { name: 'demo', version: '1.34' };
    await expect(cached()).rejects.toMatchObject({ code: 'ClusterNotReady' });
  });
});

describe('queue and bus', () => {
  it('messages are received ten at a time and deleted', async () => {
    const { messages } = cloud;
    for (let at = 0; at < 12; at += 1) {
      messages.push({ id: `m${at}`, body: `{"at":${at}}`, receipt: undefined });
    }
    const sqs = sqsClient(accessTo(cloud));
    const queue = new InterruptionQueue({ sqs, calls: callsOn(cloud), name: 'demo' });
    const first = await queue.receive(0);
    expect(first.map(({ body }) => body)).toHaveLength(10);
    await queue.delete(first);
    expect(messages.map(({ id }) => id)).toEqual(['m10', 'm11']);
    expect(await queue.receive(0)).toHaveLength(2);
  });

  it('the depth of a queue is how many messages nobody has received yet', async () => {
    const { messages, server } = cloud;
    for (let at = 0; at < 12; at += 1) {
      messages.push({ id: `m${at}`, body: '{}', receipt: undefined });
    }
    const sqs = sqsClient(accessTo(cloud));
    const depth = queueDepthReader(sqs, callsOn(cloud), 'demo');
    expect(await depth()).toBe(12);
    await new InterruptionQueue({ sqs, calls: callsOn(cloud), name: 'demo' }).receive(0);
    expect(await depth()).toBe(2);
    expect(server.callsOf('GetQueueAttributes')).toHaveLength(2);
    const fault = new WireFault('QueueDoesNotExist', 'The specified queue does not exist.');
    server.fail('sqs', 'GetQueueAttributes', fault);
    await expect(depth()).rejects.toThrow('sqs:GetQueueAttributes');
  });

  it('wake-ups go out ten at a time, on our own bus', async () => {
    const eventBridge = eventBridgeClient(accessTo(cloud));
    const bus = new WakeBus({ eventBridge, calls: callsOn(cloud), bus: 'joiner-demo' });
    await bus.wake(Array(11).fill({ cluster: 'demo', kind: 'node-joined' }));
    expect(cloud.server.callsOf('PutEvents')).toHaveLength(2);
    expect(cloud.events).toHaveLength(11);
    expect(cloud.events[0]).toMatchObject({
      EventBusName: 'joiner-demo',
      Source: 'joiner',
      DetailType: 'Joiner Wake-up',
      Detail: '{"cluster":"demo","kind":"node-joined"}',
    });
  });
});

describe('decisions', () => {
  const CLUSTER_ARN = 'arn:aws:eks:us-east-1:111122223333:cluster/demo';
  const decision = (at: number, text = ''): ReadDecision => ({
    id: `provision-${at}`,
    atMs: Date.parse('2026-01-01T00:00:00Z'),
    useCase: 'provision',
    object: 'NodeClaim/a',
    action: 'create',
    reasons: [],
    message: text,
    detail: {},
  });

  it.each([
    ['ten a call', Array.from({ length: 21 }, (_, at) => decision(at)), 3],
    ['no more than 256 KB a call', [0, 1, 2].map((at) => decision(at, 'x'.repeat(100_000))), 2],
  ])('go out as events, %s', async (_, records, calls) => {
    const eventBridge = eventBridgeClient(accessTo(cloud));
    await publishDecisions({ eventBridge, calls: callsOn(cloud) }, records, CLUSTER_ARN);
    expect(cloud.server.callsOf('PutEvents')).toHaveLength(calls);
    const ids = cloud.events.map(({ Detail = '' }) => JSON.parse(Detail).id);
    expect(ids).toEqual(records.map(({ id }) => id));
    expect(cloud.events[0]).toMatchObject({
      Source: 'joiner.decisions',
      EventBusName: 'default',
      Resources: [CLUSTER_ARN],
    });
  });
});

describe('the wire itself', () => {
  it('S3 writes are conditional', async () => {
    const s3 = s3Client(accessTo(cloud));
    const put = (Body: string, condition: object) =>
      s3.send(new PutObjectCommand({ Bucket: BUCKET, Key: 'a/b.json', Body, ...condition }));
    const { ETag } = await put('1', { IfNoneMatch: '*' });
    await expect(put('2', { IfNoneMatch: '*' })).rejects.toMatchObject({
      name: 'PreconditionFailed',
    });
    await put('2', { IfMatch: ETag });
    await expect(put('3', { IfMatch: ETag })).rejects.toMatchObject({ name: 'PreconditionFailed' });
    const { Body } = await s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'a/b.json' }));
    expect(await Body?.transformToString()).toBe('2');
    const missing = s3.send(new GetObjectCommand({ Bucket: BUCKET, Key: 'none' }));
    await expect(missing).rejects.toMatchObject({ name: 'NoSuchKey' });
    const listed = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: 'a/' }));
    expect(listed.Contents?.map(({ Key }) => Key)).toEqual(['a/b.json']);
  });

  it('SSM parameters are found or not', async () => {
    cloud.account.parameters.set('/a', 'ami-1');
    const ssm = ssmClient(accessTo(cloud));
    const { Parameter } = await ssm.send(new GetParameterCommand({ Name: '/a' }));
    expect(Parameter?.Value).toBe('ami-1');
    const missing = ssm.send(new GetParameterCommand({ Name: '/b' }));
    await expect(missing).rejects.toMatchObject({ name: 'ParameterNotFound' });
  });
});

describe('access', () => {
  it('takes keys from the environment and asks nobody else', () => {
    const keys = { AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' };
    expect(environmentCredentials(keys)).toEqual({ accessKeyId: 'a', secretAccessKey: 'b' });
    expect(() => environmentCredentials({})).toThrow(/AWS_ACCESS_KEY_ID/);
  });

  const regions = [
    ['us-west-2', 'us-east-1'],
    ['eu-west-1', 'eu-central-1'],
    ['ap-northeast-1', 'ap-south-1'],
    ['cn-north-1', 'cn-northwest-1'],
  ] as const;
  it.each(regions)('prices of %s come from %s', async (region, expected) => {
    const client = pricingClient({ ...accessTo(cloud), region });
    expect(await client.config.region()).toBe(expected);
  });
});
