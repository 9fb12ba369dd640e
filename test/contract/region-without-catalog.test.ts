import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { describingCloud } from '../../functions/nodeclass/cloud.ts';
import { readConfig } from '../../functions/runtime/config.ts';
import { openMemory } from '../../functions/runtime/memory.ts';
import { closeSandboxes, openSandbox } from '../../functions/runtime/sandbox.ts';
import { telemetry } from '../../functions/runtime/telemetry.ts';
import { isEmbeddedRegion, loadCatalog } from '../../shared/catalog/catalog.ts';
import { ENV } from '../../shared/contract.ts';
import { aNodeClass } from '../builders/launches.ts';
import { CLUSTER, WireCloud } from '../support/aws/cloud.ts';
import { environmentOf } from '../support/closed-loop/functions.ts';

const REGION = 'eu-central-1';
const cloud = new WireCloud();

beforeAll(async () => {
  await cloud.start();
  const variables = environmentOf(cloud, {
    [ENV.function]: 'nodeclass',
    [ENV.logLevel]: 'CRITICAL',
    AWS_REGION: REGION,
  });
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value);
});
afterAll(async () => {
  await closeSandboxes();
  vi.unstubAllEnvs();
  await cloud.stop();
});

it('a region that is not embedded has the instance types that catalog has written', async () => {
  expect(isEmbeddedRegion(REGION)).toBe(false);
  const config = readConfig(process.env);
  const invocation = {
    config,
    telemetry: telemetry(CLUSTER),
    requestId: 'test',
    remainingMs: () => 60_000,
    publish: () => undefined,
  };
  const { ports, refreshPrices } = await openSandbox(invocation, describingCloud);
  await refreshPrices();
  await expect(ports.catalog.instanceTypes(aNodeClass())).rejects.toThrow(
    'there is no catalog of eu-central-1 yet',
  );
  const { catalogFile } = await openMemory(config, invocation.telemetry);
  const catalog = { ...(await loadCatalog('us-east-1')), region: REGION };
  expect(await catalogFile.write({ catalog, atMs: Date.now() })).toBe(true);
  await refreshPrices();
  const { status, ...nodeClass } = aNodeClass();
  const subnets = [{ id: 'subnet-0000000000000000a', zone: 'us-east-1a', zoneId: 'use1-az1' }];
  const types = await ports.catalog.instanceTypes({
    ...nodeClass,
    status: { ...status, subnets },
  });
  expect(types.map(({ name }) => name)).toContain('m5.large');
});
