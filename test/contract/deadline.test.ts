import { createServer } from 'node:http';
import { DescribeClusterCommand } from '@aws-sdk/client-eks';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Deadline } from '../../functions/runtime/deadline.ts';
import { RESOURCES } from '../../shared/api/resources.ts';
import { eksClient } from '../../shared/aws/access.ts';
import { KubeClient } from '../../shared/kube/client.ts';
import { systemTiming } from '../../shared/kube/time.ts';
import { httpTransport } from '../../shared/kube/transport.ts';
import { close, listen } from '../support/loopback.ts';

/** A server that takes every request and answers none. */
const server = createServer(() => undefined);
let url = '';
beforeAll(async () => {
  url = await listen(server);
});
afterAll(() => close(server));

/** So long before Lambda's end calls are given up. */
const CLOSING_MS = 5_000;

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
