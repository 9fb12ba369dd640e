import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { FleetRequest } from '../../shared/ports/cloud.ts';
import { aFleet, aNodeClass, anOverride } from '../builders/launches.ts';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

describe('launch templates', () => {
  const made = (): number => cloud.server.inputsOf('CreateLaunchTemplate').length;

  it('are made once and used again, by another sandbox too', async () => {
    const first = adapterOn(cloud);
    await first.compute.launch(aFleet());
    await first.compute.launch(aFleet({ clientToken: 'second' }));
    expect(made()).toBe(1);
    await adapterOn(cloud).compute.launch(aFleet({ clientToken: 'third' }));
    expect(cloud.account.templates.size).toBe(1);
    expect(cloud.server.calls.at(-2)?.fault).toMatch(/AlreadyExists/);
  });

  it('are one per image, pod limit, EFA count and reservation', async () => {
    const overrides = [
      anOverride('c7g.large', 'a', 1),
      anOverride('c7g.large', 'b', 1),
      anOverride('c7g.4xlarge', 'a', 2),
      anOverride('g5.xlarge', 'a', 3, { imageId: 'ami-0000000000000000b' }),
      anOverride('p5.48xlarge', 'a', 9),
    ];
    const podsMax = { 'c7g.large': 29, 'c7g.4xlarge': 58, 'g5.xlarge': 58, 'p5.48xlarge': 58 };
    const fleet = aFleet({ overrides, podsMax });
    await adapterOn(cloud).compute.launch(fleet);
    expect(cloud.account.templates.size).toBe(3);
    const requests = { 'vpc.amazonaws.com/efa': 1 };
    await adapterOn(cloud).compute.launch({ ...fleet, clientToken: 'efa', requests });
    const counts = [...cloud.account.templates.values()].map(
      ({ data }) => data.NetworkInterfaces?.length,
    );
    expect(counts.sort()).toEqual([1, 1, 1, 32]);
  });

  it('are at most fifty in one fleet, those of the cheapest lines', async () => {
    const overrides = Array.from({ length: 60 }, (_, at) => anOverride(`c7g.size${at}`, 'a', at));
    const podsMax = Object.fromEntries(overrides.map((each, at) => [each.instanceType, at + 10]));
    const { instances } = await adapterOn(cloud).compute.launch(aFleet({ overrides, podsMax }));
    expect(instances).toHaveLength(1);
    expect(cloud.account.templates.size).toBe(50);
  });

  it('that vanished are made again within the same launch', async () => {
    const { compute } = adapterOn(cloud);
    await compute.launch(aFleet());
    cloud.account.templates.clear();
    const { instances } = await compute.launch(aFleet({ clientToken: 'second' }));
    expect(instances).toHaveLength(1);
    expect(cloud.account.templates.size).toBe(1);
  });

  it('that vanished are made again by the next launch where another one launched', async () => {
    const { compute } = adapterOn(cloud);
    const overrides = [anOverride('c7g.large', 'a', 1), anOverride('c7g.4xlarge', 'a', 2)];
    const podsMax = { 'c7g.large': 29, 'c7g.4xlarge': 58 };
    const { templates } = cloud.account;
    const launch = async (clientToken: string) =>
      (await compute.launch(aFleet({ overrides, podsMax, clientToken }))).instances.length;
    expect(await launch('first')).toBe(1);
    const names = [...templates.keys()];
    expect(names).toHaveLength(2);
    templates.delete(names[0] ?? '');
    expect(await launch('second')).toBe(1);
    expect(templates.size).toBe(1);
    expect(await launch('third')).toBe(1);
    expect([...templates.keys()].toSorted()).toEqual(names.toSorted());
  });

  it('are removed when idle for an hour, and all of them with their class', async () => {
    const { compute } = adapterOn(cloud);
    const pods = (max: number): Partial<FleetRequest> => ({
      podsMax: { 'c7g.large': max },
      clientToken: String(max),
    });
    await compute.launch(aFleet(pods(10)));
    await compute.launch(aFleet(pods(20)));
    await compute.removeLaunchTemplates('default', 'used');
    expect(cloud.account.templates.size).toBe(2);
    cloud.account.nowMs += 3_700_000;
    await compute.launch(aFleet({ ...pods(10), clientToken: 'again' }));
    await compute.removeLaunchTemplates('other', 'none');
    await compute.removeLaunchTemplates('default', 'used');
    expect(cloud.account.templates.size).toBe(1);
    await compute.removeLaunchTemplates('default', 'none');
    expect(cloud.account.templates.size).toBe(0);
  });

  it('say what is wrong with a class instead of launching', async () => {
    const kubelet = { registerWithTaints: [] };
    const launch = adapterOn(cloud).compute.launch(aFleet({ nodeClass: aNodeClass({ kubelet }) }));
    await expect(launch).rejects.toMatchObject({
      code: 'InvalidKubeletConfiguration',
      message: expect.stringContaining('spec.kubelet.registerWithTaints'),
    });
    expect(cloud.server.callsOf('CreateFleet')).toEqual([]);
  });
});
