import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FleetRequest } from '../../shared/ports/cloud.ts';
import { aFleet, aNodeClass, anOverride } from '../builders/launches.ts';
import { adapterOn, callsOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { poolKey } from '../support/aws/model/account.ts';
import { WireFault } from '../support/aws/wire/response.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

const SPOT = { capacityType: 'spot', strategy: 'price-capacity-optimized' } as const;

describe('one fleet', () => {
  it('names the caller to AWS', async () => {
    await adapterOn(cloud).compute.launch(aFleet());
    expect(cloud.server.callsOf('CreateFleet')[0]?.userAgent).toContain('joiner/test');
  });

  it('is one call for all its claims, and the instances are shared out', async () => {
    const { instances } = await adapterOn(cloud).compute.launch(aFleet({ count: 100 }));
    expect(instances).toHaveLength(100);
    expect(cloud.server.inputsOf('CreateFleet')).toMatchObject([
      { TargetCapacitySpecification: { TotalTargetCapacity: 100 }, Type: 'instant' },
    ]);
  });

  it('gets a part where there is not enough for all, and the faults with it', async () => {
    const overrides = [anOverride('c7g.large', 'a', 1), anOverride('c7g.large', 'b', 1)];
    cloud.account.capacity.set(poolKey('c7g.large', 'us-east-1a', 'spot'), 2);
    cloud.account.capacity.set(poolKey('c7g.large', 'us-east-1b', 'spot'), 1);
    const fleet = aFleet({ count: 5, overrides, ...SPOT });
    const { instances, faults } = await adapterOn(cloud).compute.launch(fleet);
    expect(instances.map((each) => each.zone).sort()).toEqual([
      'us-east-1a',
      'us-east-1a',
      'us-east-1b',
    ]);
    expect(faults.map((each) => each.offering?.zone).sort()).toEqual(['us-east-1a', 'us-east-1b']);
  });

  it('that is asked for twice at once goes out once', async () => {
    const { compute } = adapterOn(cloud);
    const [first, second] = await Promise.all([compute.launch(aFleet()), compute.launch(aFleet())]);
    expect(second).toEqual(first);
    expect(cloud.server.inputsOf('CreateFleet')).toHaveLength(1);
  });

  it('goes out beside others, which share its launch template', async () => {
    cloud.server.delay('CreateLaunchTemplate', 50);
    cloud.server.delay('CreateFleet', 200);
    const { compute } = adapterOn(cloud);
    const tokens = Array.from({ length: 6 }, (_, at) => `token-${at}`);
    await Promise.all(tokens.map((clientToken) => compute.launch({ ...aFleet(), clientToken })));
    expect(cloud.server.mostAtOnce('CreateFleet')).toBe(6);
    expect(cloud.server.inputsOf('CreateLaunchTemplate')).toHaveLength(1);
  });

  it('does not stand for others where its launch template cannot be made', async () => {
    const code = 'InternalError';
    cloud.server.fail('ec2', 'CreateLaunchTemplate', new WireFault(code, 'later', 400), 1);
    const { compute } = adapterOn(cloud);
    await expect(compute.launch(aFleet())).rejects.toMatchObject({ code });
    expect((await compute.launch(aFleet())).instances).toHaveLength(1);
  });

  it('a group that changed under the same token launches nothing more', async () => {
    const { compute } = adapterOn(cloud);
    const fleet = aFleet();
    await compute.launch(fleet);
    const other = { ...fleet, overrides: [anOverride('m7g.large', 'b', 1)] };
    await expect(compute.launch(other)).rejects.toMatchObject({
      name: 'PortError',
      code: 'IdempotentParameterMismatch',
    });
    expect((await compute.list()).map((each) => each.tags['joiner.dev/fleet'])).toEqual([
      fleet.clientToken,
    ]);
  });

  it('of which a part was launched before a crash is answered once that part can be seen', async () => {
    cloud.account.capacity.set(poolKey('c7g.large', 'us-east-1a', 'on-demand'), 1);
    const { compute } = adapterOn(cloud);
    const fleet = aFleet({ count: 2 });
    await compute.launch(fleet);
    const rest = { ...fleet, claims: fleet.claims.slice(1) };
    await expect(compute.launch(rest)).rejects.toMatchObject({
      code: 'IdempotentParameterMismatch',
    });
    cloud.account.nowMs += 60_000;
    const { instances, faults } = await compute.launch(rest);
    expect(instances).toEqual([]);
    expect(faults).toMatchObject([{ kind: 'unknown', code: 'IdempotentParameterMismatch' }]);
  });

  it('of which nothing was launched before a crash is answered once something could be seen', async () => {
    cloud.account.capacity.set(poolKey('c7g.large', 'us-east-1a', 'on-demand'), 0);
    const { compute } = adapterOn(cloud);
    const fleet = aFleet();
    await compute.launch(fleet);
    const other = { ...fleet, overrides: [anOverride('m7g.large', 'b', 1)] };
    const used = { code: 'IdempotentParameterMismatch' };
    for (const ms of [0, 30_000, 29_000]) {
      cloud.account.nowMs += ms;
      await expect(compute.launch(other)).rejects.toMatchObject(used);
    }
    cloud.account.nowMs += 1_000;
    expect((await compute.launch(other)).faults).toMatchObject([{ kind: 'unknown', ...used }]);
  });

  it('is cut to what EC2 takes, the cheapest first', async () => {
    const overrides = Array.from({ length: 360 }, (_, at) =>
      anOverride(`c7g.size${at}`, 'abc'[at % 3] ?? 'a', at),
    );
    await adapterOn(cloud).compute.launch(aFleet({ overrides }));
    const [input] = cloud.server.inputsOf('CreateFleet');
    const configs = input?.['LaunchTemplateConfigs'] as { Overrides: { InstanceType: string }[] }[];
    const types = configs.flatMap((each) => each.Overrides.map((one) => one.InstanceType));
    expect(types).toHaveLength(300);
    expect(types).toEqual(overrides.slice(0, 300).map((each) => each.instanceType));
  });

  it('bars all of spot where the account has no role for it', async () => {
    const code = 'AuthFailure.ServiceLinkedRoleCreationNotPermitted';
    cloud.server.fail('ec2', 'CreateFleet', new WireFault(code, 'no role', 403));
    const overrides = [anOverride('c7g.large', 'a', 1), anOverride('c7g.large', 'b', 1)];
    const { faults } = await adapterOn(cloud).compute.launch(aFleet({ overrides, ...SPOT }));
    expect(faults.map(({ kind, offering }) => [kind, offering?.zone])).toEqual([
      ['quota', 'us-east-1a'],
      ['quota', 'us-east-1b'],
    ]);
  });
});

describe('refusals of the whole call', () => {
  const rows = [
    ['UnauthorizedOperation', 'unknown', 1],
    ['InvalidSubnetID.NotFound', 'class', 1],
    ['SomethingNobodyHasSeen', 'unknown', 1],
  ] as const;

  it.each(rows)('%s is an answer of kind %s after %i call', async (code, kind, calls) => {
    cloud.server.fail('ec2', 'CreateFleet', new WireFault(code, 'refused'));
    const { instances, faults } = await adapterOn(cloud).compute.launch(aFleet());
    expect(instances).toEqual([]);
    expect(faults).toMatchObject([{ kind, code, offering: undefined }]);
    expect(faults[0]?.message).toContain('ec2:CreateFleet');
    expect(cloud.server.inputsOf('CreateFleet')).toHaveLength(calls);
  });

  it('for a quota bars what was asked for', async () => {
    cloud.server.fail('ec2', 'CreateFleet', new WireFault('VcpuLimitExceeded', 'quota'));
    const { instances, faults } = await adapterOn(cloud).compute.launch(aFleet());
    expect(instances).toEqual([]);
    expect(faults).toMatchObject([
      { kind: 'quota', offering: { instanceType: 'c7g.large', zone: 'us-east-1a' } },
    ]);
  });

  const unclear = [
    ['RequestLimitExceeded', 503, 'throttled'],
    ['InternalError', 500, 'unknown'],
  ] as const;

  it.each(unclear)('%s is tried once more and then thrown', async (code, status, kind) => {
    const fault = new WireFault(code, 'later', status);
    cloud.server.fail('ec2', 'CreateFleet', fault, 1);
    const { compute } = adapterOn(cloud);
    expect((await compute.launch(aFleet())).instances).toHaveLength(1);
    expect(cloud.server.inputsOf('CreateFleet')).toHaveLength(2);
    cloud.server.fail('ec2', 'CreateFleet', fault);
    const again = compute.launch(aFleet({ clientToken: 'other' }));
    await expect(again).rejects.toMatchObject({ name: 'PortError', kind });
    expect(cloud.server.inputsOf('CreateFleet')).toHaveLength(4);
  });

  it('a broken connection is tried once more with the same token', async () => {
    cloud.server.fail('ec2', 'CreateFleet', 'disconnect', 1);
    const { instances } = await adapterOn(cloud).compute.launch(aFleet());
    expect(instances).toHaveLength(1);
    const tokens = cloud.server.inputsOf('CreateFleet').map((each) => each['ClientToken']);
    expect(tokens).toEqual([aFleet().clientToken, aFleet().clientToken]);
    expect(cloud.account.instances.size).toBe(1);
  });
});

describe('reserved capacity', () => {
  const reservationId = 'cr-0000000000000000a';
  const reservation = {
    id: reservationId,
    instanceType: 'c7g.large',
    zone: 'us-east-1a',
    ownerID: '111122223333',
    instanceMatchCriteria: 'targeted',
    reservationType: 'default',
    interruptible: false,
    state: 'active',
    endsAtMs: undefined,
  } as const;

  function reserved(changes: Partial<FleetRequest> = {}): FleetRequest {
    cloud.account.reservations = [
      { CapacityReservationId: reservationId, AvailableInstanceCount: 1, State: 'active' },
    ];
    return aFleet({
      count: 2,
      capacityType: 'reserved',
      reservationType: 'default',
      nodeClass: aNodeClass({}, { capacityReservations: [reservation] }),
      overrides: [anOverride('c7g.large', 'a', 1, { reservationId })],
      ...changes,
    });
  }

  it('is launched into, and says when it is used up', async () => {
    const { compute } = adapterOn(cloud);
    const { instances, faults } = await compute.launch(reserved());
    expect(instances).toMatchObject([{ capacityType: 'reserved', reservationId }]);
    expect(faults).toMatchObject([{ kind: 'reservation', code: 'ReservationCapacityExceeded' }]);
    expect(await compute.list()).toMatchObject([{ capacityType: 'reserved', reservationId }]);
  });

  it('is bought as a block where it is one', async () => {
    await adapterOn(cloud).compute.launch(reserved({ reservationType: 'capacity-block' }));
    expect(cloud.server.inputsOf('CreateFleet')).toMatchObject([
      { TargetCapacitySpecification: { DefaultTargetCapacityType: 'capacity-block' } },
    ]);
    const [template] = cloud.account.templates.values();
    expect(template?.data.InstanceMarketOptions).toEqual({ MarketType: 'capacity-block' });
  });

  it('is asked for as interruptible where it is', async () => {
    const interruptible = { ...reservation, interruptible: true };
    const nodeClass = aNodeClass({}, { capacityReservations: [interruptible] });
    await adapterOn(cloud).compute.launch(reserved({ nodeClass }));
    expect(cloud.server.inputsOf('CreateFleet')).toMatchObject([
      {
        TargetCapacitySpecification: { DefaultTargetCapacityType: 'reserved-capacity' },
        ReservedCapacityOptions: { ReservationTypes: ['interruptible-capacity-reservation'] },
      },
    ]);
  });
});

describe('instances', () => {
  it('are listed page by page', async () => {
    const { compute } = adapterOn(cloud);
    await compute.launch(aFleet({ count: 25 }));
    cloud.account.pageSize = 10;
    expect(await compute.list()).toHaveLength(25);
    expect(cloud.server.callsOf('DescribeInstances')).toHaveLength(3);
  });

  it('that are not visible yet are left out, without an error', async () => {
    cloud.account.visibleAfterMs = 30_000;
    const { compute } = adapterOn(cloud);
    const { instances } = await compute.launch(aFleet());
    const ids = instances.map(({ id }) => id);
    expect(await compute.describe(ids)).toEqual([]);
    await expect(compute.tag(ids[0] ?? '', { Name: 'x' })).rejects.toMatchObject({
      kind: 'not-found',
    });
    cloud.account.nowMs += 30_000;
    expect(await compute.describe(ids)).toHaveLength(1);
  });

  it('of other clusters are not ours', async () => {
    const { compute } = adapterOn(cloud);
    const fleet = aFleet();
    await compute.launch({ ...fleet, tags: { ...fleet.tags, 'eks:eks-cluster-name': 'other' } });
    expect(await compute.list()).toEqual([]);
  });

  it('are described with what EC2 says of their end, and listed no more', async () => {
    const { compute } = adapterOn(cloud);
    const { instances } = await compute.launch(aFleet({ count: 2 }));
    const [failed = '', ended = ''] = instances.map(({ id }) => id);
    expect((await compute.list()).map((each) => each.stateReason)).toEqual([undefined, undefined]);
    await compute.terminate([ended]);
    const instance = cloud.account.instances.get(failed);
    if (instance === undefined) throw new Error('the account has no such instance');
    instance.state = 'terminated';
    instance.stateReason = { Code: 'Server.InternalError', Message: 'Internal error on launch' };
    const described = await compute.describe([failed, ended]);
    expect(new Map(described.map((each) => [each.id, each.stateReason]))).toEqual(
      new Map([
        [failed, 'Server.InternalError: Internal error on launch'],
        [ended, 'Client.UserInitiatedShutdown: User initiated shutdown'],
      ]),
    );
    expect((await compute.list()).map(({ id }) => id)).toEqual([ended]);
  });

  it('are terminated though one of the ids cannot be', async () => {
    const { compute } = adapterOn(cloud);
    const { instances } = await compute.launch(aFleet({ count: 2 }));
    const ids = instances.map(({ id }) => id);
    await expect(compute.terminate([...ids, 'nonsense'])).rejects.toMatchObject({
      code: 'InvalidInstanceID.Malformed',
    });
    expect((await compute.list()).map((each) => each.state)).toEqual([
      'shutting-down',
      'shutting-down',
    ]);
  });

  it('tell of failed checks and of maintenance that is not over', async () => {
    const since = new Date(cloud.account.nowMs - 200_000);
    const impaired = {
      Status: 'impaired',
      Details: [{ Name: 'reachability', ImpairedSince: since }],
    };
    const event = (Description: string) => ({
      Code: 'system-reboot',
      Description,
      NotBefore: since,
    });
    cloud.account.statuses = [
      { InstanceId: 'i-0000000000000000a', InstanceStatus: impaired, SystemStatus: impaired },
      { InstanceId: 'i-0000000000000000b', Events: [event('[Completed] reboot')] },
      { InstanceId: 'i-0000000000000000c', Events: [event('reboot')] },
    ] as typeof cloud.account.statuses;
    const statuses = await adapterOn(cloud).compute.statuses();
    expect(statuses.map(({ instanceId, kind }) => `${instanceId.slice(-1)} ${kind}`)).toEqual([
      'a instance_status',
      'a system_status',
      'c event_status',
    ]);
    expect(statuses[0]?.sinceMs).toBe(since.getTime());
  });
});

describe('pace', () => {
  it('a burst of fleets waits its turn and none is dropped', async () => {
    const calls = callsOn(cloud);
    const { compute } = adapterOn(cloud, calls);
    await compute.launch(aFleet());
    const startMs = cloud.account.nowMs;
    for (let at = 0; at < 100; at += 1) await compute.launch(aFleet({ clientToken: `t${at}` }));
    const seconds = (cloud.account.nowMs - startMs) / 1000;
    expect(cloud.account.instances.size).toBe(101);
    expect(seconds).toBeGreaterThan(10);
    expect(seconds).toBeLessThan(20);
  });
});
