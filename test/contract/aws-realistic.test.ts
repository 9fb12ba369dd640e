import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aFleet, anOverride } from '../builders/launches.ts';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { Throttling } from '../support/aws/model/throttling.ts';
import { LAGS, makeRealistic } from '../support/aws/realism.ts';

let cloud: WireCloud;

beforeEach(async () => {
  cloud = new WireCloud();
  makeRealistic(cloud);
  cloud.server.latencyMs = () => 0;
  await cloud.start();
});

afterEach(async () => {
  await cloud.stop();
});

const overrides = [anOverride('c7g.large', 'a', 1), anOverride('c7g.large', 'b', 2)];

describe('AWS as it is', () => {
  it('refuses line by line what is above the quota of vCPUs, until an instance has ended', async () => {
    cloud.account.standardVcpus.set('on-demand', 4);
    cloud.account.shutdownMs = 0;
    const { compute } = adapterOn(cloud);
    const { instances, faults } = await compute.launch(aFleet({ count: 3, overrides }));
    expect(instances).toHaveLength(2);
    expect(faults.map(({ kind, code, offering }) => [kind, code, offering?.zone])).toEqual([
      ['quota', 'VcpuLimitExceeded', 'us-east-1a'],
      ['quota', 'VcpuLimitExceeded', 'us-east-1b'],
    ]);
    cloud.account.nowMs += LAGS.instancesMs;
    await compute.terminate(instances.slice(0, 1).map(({ id }) => id));
    const again = await compute.launch(aFleet({ count: 1, overrides, clientToken: 'b' }));
    expect(again.instances).toHaveLength(1);
  });

  it('knows late of a new instance profile, and says so of every line', async () => {
    const fleet = aFleet({ overrides });
    const profile = fleet.nodeClass.status.instanceProfile ?? '';
    const madeAtMs = cloud.account.nowMs;
    cloud.profiles.profiles.set(profile, {
      name: profile,
      path: '/',
      tags: [],
      roles: [],
      madeAtMs,
    });
    const { compute } = adapterOn(cloud);
    const early = await compute.launch(fleet);
    expect(early.instances).toEqual([]);
    expect(early.faults).toMatchObject([{ kind: 'transient', offering: undefined }]);
    cloud.account.nowMs += LAGS.profileMs;
    // The same token has the same answer.
    expect(await compute.launch(fleet)).toEqual(early);
    const { instances } = await compute.launch({ ...fleet, clientToken: 'next' });
    expect(instances).toHaveLength(1);
  });

  it('tells late of instances, tags and spot requests', async () => {
    const { compute } = adapterOn(cloud);
    const launched = await compute.launch(aFleet({ overrides, capacityType: 'spot' }));
    const [{ id } = { id: '' }] = launched.instances;
    expect(await compute.describe([id])).toEqual([]);
    cloud.account.nowMs += LAGS.instancesMs;
    expect(await compute.describe([id])).toHaveLength(1);
    expect(await compute.spotRequests([id])).toEqual([]);
    cloud.account.nowMs += LAGS.spotRequestsMs;
    expect(await compute.spotRequests([id])).toHaveLength(1);
    await compute.tag(id, { Name: 'node' });
    const nameOf = async () => (await compute.describe([id]))[0]?.tags['Name'];
    expect(await nameOf()).toBeUndefined();
    cloud.account.nowMs += LAGS.tagsMs;
    expect(await nameOf()).toBe('node');
  });

  it.each([
    ['DescribeInstances', { Filters: [{}] }, 100, 20],
    ['DescribeInstances', {}, 50, 10],
    ['CreateFleet', { ClientToken: 'a' }, 50, 5],
    ['TerminateInstances', { InstanceIds: ['i-1'] }, 100, 5],
  ])('throttles %s %j after %i calls, and grants %i a second', (operation, input, size, rate) => {
    let nowMs = 0;
    const throttling = new Throttling(() => nowMs);
    const granted = (): number => {
      let count = 0;
      while (throttling.refusal(operation, input) === undefined) count += 1;
      return count;
    };
    expect(granted()).toBe(size);
    nowMs += 1_000;
    expect(granted()).toBe(rate);
  });
});
