import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { aNodeClass } from '../builders/launches.ts';
import { adapterOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';

const LAG_MS = 10_000;
const nodeClass = { ...aNodeClass(), role: 'nodes' };

let cloud: WireCloud;

beforeEach(async () => {
  cloud = new WireCloud();
  cloud.profiles.nowMs = () => cloud.account.nowMs;
  cloud.profiles.lagMs = LAG_MS;
  await cloud.start();
});

afterEach(async () => {
  await cloud.stop();
});

describe('IAM that tells late of what it has made', () => {
  it('has said so in its answer: the profile is ready at once', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(nodeClass);
    expect(cloud.profiles.profiles.get(name)?.roles).toEqual(['nodes']);
    expect(cloud.server.inputsOf('GetInstanceProfile')).toHaveLength(1);
  });

  it('is asked again where another run has made it', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(nodeClass);
    await expect(adapterOn(cloud).profiles.ensure(nodeClass)).rejects.toMatchObject({
      isTransient: true,
      message: `instance profile ${name} is not visible yet`,
    });
    cloud.account.nowMs += LAG_MS;
    expect(await profiles.ensure(nodeClass)).toBe(name);
  });
});
