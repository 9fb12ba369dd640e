import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Compute, Network, Profiles } from '../../shared/ports/cloud.ts';
import { aFleet, aNodeClass, anOverride } from '../builders/launches.ts';

/** What both clouds, the simulated one and AWS over the wire, give to the suite. */
export interface CloudUnderTest {
  readonly compute: Compute;
  readonly network: Network;
  readonly profiles: Profiles;
  /** Nothing more to be had of that offering. */
  exhaust(instanceType: string, zone: string, capacityType: 'spot' | 'on-demand'): void;
  /** EC2 needs the capacity of a spot instance. */
  takeBack(instanceId: string): void;
  /** Lets what was asked for happen: instances that shut down are gone afterwards. */
  settle(): Promise<void>;
}

/** Prices of the suite's types rise with their size, in every zone alike. */
const CHEAP = 'c7g.large';
const DEAR = 'c7g.4xlarge';

const TWO_TYPES = [anOverride(CHEAP, 'a', 2), anOverride(DEAR, 'b', 1)];

function launching(cloud: () => CloudUnderTest): void {
  it('launches one instance for each claim, of the cheapest offering', async () => {
    const fleet = aFleet({ count: 3, overrides: TWO_TYPES });
    const { instances, faults } = await cloud().compute.launch(fleet);
    expect(faults).toEqual([]);
    expect(instances.map((each) => [each.instanceType, each.zone, each.capacityType])).toEqual(
      Array(3).fill([CHEAP, 'us-east-1a', 'on-demand']),
    );
    expect(new Set(instances.map(({ id }) => id)).size).toBe(3);
    expect(instances[0]?.id).toMatch(/^i-[0-9a-f]{17}$/);
    expect(instances[0]?.imageId).toBe(TWO_TYPES[0]?.imageId);
  });

  it('launches in the order of priorities where the strategy says so', async () => {
    const fleet = aFleet({ overrides: TWO_TYPES, strategy: 'prioritized' });
    const { instances } = await cloud().compute.launch(fleet);
    expect(instances.map((each) => each.instanceType)).toEqual([DEAR]);
  });

  it('falls back where the first choice is used up, and says which', async () => {
    cloud().exhaust(CHEAP, 'us-east-1a', 'on-demand');
    const { instances, faults } = await cloud().compute.launch(aFleet({ overrides: TWO_TYPES }));
    expect(instances.map((each) => each.instanceType)).toEqual([DEAR]);
    const offering = { instanceType: CHEAP, zone: 'us-east-1a', capacityType: 'on-demand' };
    expect(faults).toMatchObject([
      { kind: 'shortage', code: 'InsufficientInstanceCapacity', offering },
    ]);
  });

  it('answers without instances where nothing is to be had', async () => {
    cloud().exhaust(CHEAP, 'us-east-1a', 'spot');
    const overrides = [anOverride(CHEAP, 'a', 1)];
    const fleet = aFleet({ overrides, capacityType: 'spot', strategy: 'price-capacity-optimized' });
    const { instances, faults } = await cloud().compute.launch(fleet);
    expect(instances).toEqual([]);
    expect(faults.map((each) => each.offering?.capacityType)).toEqual(['spot']);
  });

  it('answers the same for the same token and launches nothing more', async () => {
    const fleet = aFleet({ count: 2 });
    const first = await cloud().compute.launch(fleet);
    const second = await cloud().compute.launch(fleet);
    const ids = first.instances.map(({ id }) => id).sort();
    expect(second.instances.map(({ id }) => id).sort()).toEqual(ids);
    expect((await cloud().compute.list()).map(({ id }) => id).sort()).toEqual(ids);
  });
}

function lookingAfter(cloud: () => CloudUnderTest): void {
  it('lists what it launched, with the tags of the fleet', async () => {
    const fleet = aFleet({ capacityType: 'spot', strategy: 'price-capacity-optimized' });
    const { instances } = await cloud().compute.launch(fleet);
    const listed = await cloud().compute.list();
    expect(listed.map(({ id }) => id)).toEqual(instances.map(({ id }) => id));
    expect(listed[0]).toMatchObject({ capacityType: 'spot', tags: fleet.tags });
    expect(['pending', 'running']).toContain(listed[0]?.state);
  });

  it('describes known instances and leaves unknown ids out', async () => {
    const { instances } = await cloud().compute.launch(aFleet());
    const id = instances[0]?.id ?? '';
    const described = await cloud().compute.describe([id, 'i-0ffffffffffffffff']);
    expect(described.map((each) => each.id)).toEqual([id]);
  });

  it('says of spot instances which of them EC2 takes back', async () => {
    const spot = aFleet({ count: 2, capacityType: 'spot', strategy: 'price-capacity-optimized' });
    const { instances } = await cloud().compute.launch(spot);
    const [taken = '', left = ''] = instances.map(({ id }) => id);
    const other = (await cloud().compute.launch(aFleet())).instances[0]?.id ?? '';
    cloud().takeBack(taken);
    cloud().takeBack(other);
    const ids = [left, other, 'i-0ffffffffffffffff', taken, left];
    const requests = await cloud().compute.spotRequests(ids);
    const codes = new Map(requests.map((each) => [each.instanceId, each.statusCode]));
    expect([...codes].sort()).toEqual(
      [
        [left, 'fulfilled'],
        [taken, 'marked-for-termination'],
      ].sort(),
    );
    expect(await cloud().compute.spotRequests([])).toEqual([]);
  });

  it('terminates, again and with unknown ids, until the instances are gone', async () => {
    const { instances } = await cloud().compute.launch(aFleet({ count: 2 }));
    const ids = instances.map(({ id }) => id);
    await cloud().compute.terminate([...ids, 'i-0ffffffffffffffff']);
    await cloud().compute.terminate(ids);
    const states = (await cloud().compute.describe(ids)).map((each) => each.state);
    expect(states).toEqual(['shutting-down', 'shutting-down']);
    await cloud().settle();
    expect(await cloud().compute.list()).toEqual([]);
  });

  it('adds tags to an instance and keeps the others', async () => {
    const { instances } = await cloud().compute.launch(aFleet());
    const id = instances[0]?.id ?? '';
    await cloud().compute.tag(id, { Name: 'node-1' });
    const [described] = await cloud().compute.describe([id]);
    expect(described?.tags).toMatchObject({ Name: 'node-1', 'eks:eks-cluster-name': 'demo' });
  });

  it('has nothing to say of healthy instances', async () => {
    await cloud().compute.launch(aFleet());
    expect(await cloud().compute.statuses()).toEqual([]);
  });

  it('removes launch templates without an error, whether there are any or not', async () => {
    await cloud().compute.launch(aFleet());
    await cloud().compute.removeLaunchTemplates('default', 'none');
    await cloud().compute.removeLaunchTemplates('default', 'used');
  });
}

function surroundings(cloud: () => CloudUnderTest): void {
  const discovery = [{ tags: { 'karpenter.sh/discovery': 'demo' } }];

  it('finds a subnet in each zone, with its free addresses', async () => {
    const subnets = await cloud().network.subnets(discovery);
    expect(subnets.length).toBeGreaterThanOrEqual(3);
    const zones = new Set(subnets.map((each) => each.zone));
    expect(zones.size).toBe(subnets.length);
    expect(subnets.every((each) => each.freeAddresses > 0)).toBe(true);
    expect(subnets.every((each) => each.zoneId?.startsWith('use1-az'))).toBe(true);
  });

  it('finds a security group by tag', async () => {
    const groups = await cloud().network.securityGroups(discovery);
    expect(groups).toMatchObject([{ id: expect.stringMatching(/^sg-/), name: 'demo-nodes' }]);
  });

  it('leaves out reservations asked for by id that are not there', async () => {
    const { network } = cloud();
    expect(await network.reservations([{ id: 'cr-0123456789abcdef0' }])).toEqual([]);
  });

  it('makes one instance profile per class and role, and none again', async () => {
    const { profiles } = cloud();
    const first = await profiles.ensure(aNodeClass());
    expect(await profiles.ensure(aNodeClass())).toBe(first);
    expect(await profiles.ensure({ ...aNodeClass(), name: 'other' })).not.toBe(first);
    expect(await profiles.ensure({ ...aNodeClass(), role: 'other' })).not.toBe(first);
    await profiles.remove(aNodeClass());
    await profiles.remove(aNodeClass());
  });
}

/** The same expectations of every implementation of the cloud's ports. */
export function cloudSuite(
  name: string,
  make: () => Promise<CloudUnderTest>,
  end: () => Promise<void> = async () => {},
): void {
  describe(name, () => {
    let current: CloudUnderTest | undefined;
    const cloud = (): CloudUnderTest => {
      if (current === undefined) throw new Error('no cloud');
      return current;
    };
    beforeEach(async () => {
      current = await make();
    });
    afterAll(end);
    describe('launching', () => launching(cloud));
    describe('looking after instances', () => lookingAfter(cloud));
    describe('surroundings', () => surroundings(cloud));
  });
}
