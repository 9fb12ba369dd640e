import { createServer } from 'node:http';
import { DescribeClusterCommand } from '@aws-sdk/client-eks';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { readConfig } from '../../functions/runtime/config.ts';
import { Deadline } from '../../functions/runtime/deadline.ts';
import { openMemory } from '../../functions/runtime/memory.ts';
import { noCloud } from '../../functions/runtime/no-cloud.ts';
import { closeSandboxes, openSandbox } from '../../functions/runtime/sandbox.ts';
import { telemetry } from '../../functions/runtime/telemetry.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { eksClient } from '../../shared/aws/access.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import { close, listen } from '../support/loopback.ts';

/** A server that says where it is, as EKS would, and answers nothing else that it is asked. */
const server = createServer((request, response) => {
  if (request.url !== '/clusters/silent') return;
  const certificateAuthority = { data: '' };
  const kubernetesNetworkConfig = { serviceIpv4Cidr: '10.0.0.0/16' };
  const cluster = { endpoint: url, version: '1.35', certificateAuthority, kubernetesNetworkConfig };
  response.end(JSON.stringify({ cluster }));
});
let url = '';
beforeAll(async () => {
  url = await listen(server);
});
afterAll(async () => {
  await closeSandboxes();
  vi.unstubAllEnvs();
  await close(server);
});

/** So long before Lambda's end calls are given up. */
const CLOSING_MS = 5_000;
/** What writing the memory takes. */
const MEMORY_MS = 3_000;

function kubeClient(): KubeClient {
  return new KubeClient({
    transport: httpTransport({ url }),
    tokens: undefined,
    timing: systemTiming,
    name: 'test',
    version: '0',
  });
}

function eks(deadline: Deadline) {
  return eksClient({
    region: 'eu-west-1',
    functionName: 'test',
    endpoint: url,
    credentials: { accessKeyId: 'A', secretAccessKey: 'B' },
    deadline: () => deadline.signal,
  });
}

describe('calls that wait when an invocation is nearly over', () => {
  it('are given up: of the API server', async () => {
    const deadline = new Deadline();
    const client = kubeClient().withDeadline(() => deadline.signal);
    deadline.begin(CLOSING_MS + 50.5);
    const waiting = client.get(RESOURCES.leases, { namespace: 'kube-system', name: 'a' });
    await expect(waiting).rejects.toMatchObject({ fault: { kind: 'unavailable' } });
    await client.close();
  });

  it('are given up: of AWS', async () => {
    const deadline = new Deadline();
    deadline.begin(CLOSING_MS + 50.5);
    const waiting = eks(deadline).send(new DescribeClusterCommand({ name: 'demo' }));
    await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('are not begun after it, and go on in the next invocation', async () => {
    const deadline = new Deadline();
    const client = kubeClient().withDeadline(() => deadline.signal);
    deadline.begin(CLOSING_MS);
    const read = () => client.get(RESOURCES.leases, { namespace: 'kube-system', name: 'a' });
    await expect(read()).rejects.toMatchObject({ fault: { kind: 'unavailable' } });
    deadline.begin(CLOSING_MS + 60_000);
    const isWaiting = Symbol('waiting');
    const next = read();
    next.catch(() => undefined);
    const waited = new Promise((resolve) => setTimeout(resolve, 100, isWaiting));
    expect(await Promise.race([next, waited])).toBe(isWaiting);
    await client.close();
  });
});

/** Of a function; the server's address is not known before it listens. */
const environment = () => ({
  ...{ CLUSTER_NAME: 'silent', AWS_REGION: 'eu-central-1', JOINER_ACCOUNT: '123456789012' },
  ...{ JOINER_FUNCTION: 'lifecycle', JOINER_VERSION: '0', JOINER_BUCKET: 'b' },
  ...{ JOINER_EVENT_BUS: 'b', AWS_ENDPOINT_URL: url },
  ...{ AWS_ACCESS_KEY_ID: 'A', AWS_SECRET_ACCESS_KEY: 'B' },
});

it('a Lease of a server that does not answer is given up while the memory can be written', async () => {
  for (const [name, value] of Object.entries(environment())) vi.stubEnv(name, value);
  const endsAtMs = Date.now() + CLOSING_MS + 500;
  const invocation = {
    config: readConfig(process.env),
    telemetry: telemetry('silent'),
    requestId: 'r',
    remainingMs: () => endsAtMs - Date.now(),
    publish: () => undefined,
  };
  const { leases } = await openSandbox(invocation, noCloud);
  const taking = leases('r').acquire('lifecycle');
  await expect(taking).rejects.toMatchObject({ fault: { kind: 'unavailable' } });
  expect(endsAtMs - Date.now()).toBeGreaterThan(MEMORY_MS - 500);
});

it('nobody waits in line for calls of AWS that would be given up', async () => {
  const over = AbortSignal.abort();
  const { calls } = await openMemory(readConfig(environment()), telemetry('silent'), () => over);
  const startMs = Date.now();
  for (let at = 0; at < 40; at += 1) await calls.run('ec2:CreateTags', async () => at);
  expect(Date.now() - startMs).toBeLessThan(1_000);
});
