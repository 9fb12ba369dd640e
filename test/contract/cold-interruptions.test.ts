import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { closeSandboxes } from '../../functions/runtime/sandbox.ts';
import { contextOf } from '../support/closed-loop/functions.ts';
import { close, listen } from '../support/loopback.ts';

/** What EKS says first, by the status of each answer; then it says where the cluster is. */
let refusals: number[] = [];

const server = createServer((_, response) => {
  const status = refusals.shift();
  if (status !== undefined) {
    response.writeHead(status, { 'x-amzn-errortype': 'Refused' });
    response.end(JSON.stringify({ message: 'not now' }));
    return;
  }
  const certificateAuthority = { data: '' };
  const kubernetesNetworkConfig = { serviceIpv4Cidr: '10.0.0.0/16' };
  const cluster = { endpoint: url, version: '1.35', certificateAuthority, kubernetesNetworkConfig };
  response.end(JSON.stringify({ cluster }));
});
let url = '';

beforeAll(async () => {
  url = await listen(server);
  const environment = {
    ...{ CLUSTER_NAME: 'demo', AWS_REGION: 'eu-central-1', JOINER_ACCOUNT: '123456789012' },
    ...{ JOINER_FUNCTION: 'interrupt', JOINER_VERSION: '0', JOINER_BUCKET: 'b' },
    ...{ JOINER_EVENT_BUS: 'b', AWS_ENDPOINT_URL: url, LOG_LEVEL: 'SILENT' },
    ...{ AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'B' },
  };
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
});
beforeEach(() => closeSandboxes());
afterAll(async () => {
  await closeSandboxes();
  vi.unstubAllEnvs();
  await close(server);
});

/** The first batch of a process, as far as it needs to know where the cluster is. */
async function firstBatch(remainingMs: number): Promise<unknown> {
  const { handler } = await import('../../functions/interrupt/handler.ts');
  return await handler({ Records: [] }, contextOf('interrupt', remainingMs));
}

describe('the first warnings of a process, which come again after six minutes if they fail', () => {
  it('wait until EKS does not throttle any more', async () => {
    refusals = [429, 429, 429];
    expect(await firstBatch(60_000)).toEqual({ batchItemFailures: [] });
  });

  it('fail at once where EKS has refused for good', async () => {
    refusals = [403];
    await expect(firstBatch(60_000)).rejects.toMatchObject({ code: 'Refused' });
  });

  it('fail where no time is left for another try', async () => {
    refusals = [429, 429, 429];
    await expect(firstBatch(20_000)).rejects.toMatchObject({ kind: 'throttled' });
  });
});
