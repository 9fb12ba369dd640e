import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { iamClient } from '../../shared/aws/access.ts';
import { IamProfiles } from '../../shared/aws/profiles.ts';
import { mayHaveRole } from '../../shared/core/launch/profile-roles.ts';
import { aNodeClass } from '../builders/launches.ts';
import { accessTo, adapterOn, callsOn } from '../support/aws/adapter.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';

let cloud: WireCloud;
beforeEach(async () => {
  cloud = new WireCloud();
  await cloud.start();
});
afterEach(() => cloud.stop());

const naming = (instanceProfile: string) => ({ ...aNodeClass(), instanceProfile });

it('the name of a profile that is made for a role tells that its nodes have no other', async () => {
  const name = await adapterOn(cloud).profiles.ensure(aNodeClass());
  expect(mayHaveRole(name, [aNodeClass().role ?? ''])).toBe(true);
  expect(mayHaveRole(name, ['other'])).toBe(false);
});

describe('an instance profile that a class names', () => {
  it('is used as it is', async () => {
    const { profiles } = adapterOn(cloud);
    const name = await profiles.ensure(aNodeClass());
    cloud.server.calls.length = 0;
    expect(await profiles.ensure(naming(name))).toBe(name);
    expect(cloud.server.calls.map(({ operation }) => operation)).toEqual(['GetInstanceProfile']);
  });

  it('is said to be missing where nobody made it', async () => {
    await expect(adapterOn(cloud).profiles.ensure(naming('typo'))).rejects.toMatchObject({
      kind: 'not-found',
      message: 'there is no instance profile "typo"',
      isTransient: false,
    });
  });

  it('is taken to be there where IAM does not say', async () => {
    const parts = { iam: iamClient(accessTo(cloud)), calls: callsOn(cloud), region: 'us-east-1' };
    const isolated = new IamProfiles({ ...parts, cluster: 'demo', isolated: true });
    expect(await isolated.ensure(naming('theirs'))).toBe('theirs');
    expect(cloud.server.calls).toEqual([]);
    const fault = new WireFault('AccessDenied', 'not authorized', 403);
    cloud.server.fail('iam', 'GetInstanceProfile', fault);
    expect(await adapterOn(cloud).profiles.ensure(naming('theirs'))).toBe('theirs');
  });
});
