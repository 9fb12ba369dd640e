import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { ENV } from '../../shared/contract.ts';
import { C7G_LARGE } from '../builders/ec2-types.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { WireFault } from '../support/aws/wire/response.ts';
import { contextOf, environmentOf } from '../support/closed-loop/functions.ts';

const cloud = new WireCloud();

beforeAll(async () => {
  await cloud.start();
  cloud.account.instanceTypes = [C7G_LARGE];
  cloud.onDemandPrices.push({ instanceType: 'c7g.large', price: 0.0725 });
  const environment = { [ENV.function]: 'catalog', [ENV.logLevel]: 'SILENT' };
  for (const [name, value] of Object.entries(environmentOf(cloud, environment))) {
    vi.stubEnv(name, value);
  }
});
beforeEach(() => {
  cloud.server.heal();
  cloud.server.calls.length = 0;
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await cloud.stop();
});

async function run(): Promise<unknown> {
  const { handler } = await import('../../functions/catalog/handler.ts');
  return await handler({ detail: { kind: 'installed' } }, contextOf('catalog', 600_000));
}

/** How often AWS has refused to describe types: each try asks twice. */
function refusals(): number {
  const asked = cloud.server.calls.filter(({ operation }) => operation === 'DescribeInstanceTypes');
  return asked.filter(({ fault }) => fault !== undefined).length;
}

const throttling = new WireFault('RequestLimitExceeded', 'later', 503);

describe('the catalog, which a new region has no nodes without, and which runs by the hour', () => {
  it('is read again where AWS throttles a call and its retry', async () => {
    cloud.server.fail('ec2', 'DescribeInstanceTypes', throttling, 2);
    expect(await run()).toEqual({ types: 1 });
    expect(refusals()).toBe(2);
  });

  it('is given up in the end', async () => {
    cloud.server.fail('ec2', 'DescribeInstanceTypes', throttling);
    await expect(run()).rejects.toMatchObject({ kind: 'throttled' });
    expect(refusals()).toBe(6);
  });

  it('is not read again where that is not allowed', async () => {
    const denied = new WireFault('UnauthorizedOperation', 'no', 403);
    cloud.server.fail('ec2', 'DescribeInstanceTypes', denied);
    await expect(run()).rejects.toMatchObject({ kind: 'unauthorised' });
    expect(refusals()).toBe(1);
  });
});
