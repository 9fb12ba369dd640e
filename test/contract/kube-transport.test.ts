import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type HttpRequest, httpTransport, type Transport } from '../../shared/kube/transport.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

const GET: HttpRequest = {
  method: 'GET',
  path: '/api',
  headers: {},
  body: undefined,
  timeoutMs: 1000,
  silenceMsMax: 1000,
};

let answer: Answer = (_, response) => void response.end('{}');
/** A number for each connection, in the order of the requests. */
let connections: number[] = [];
let server: Server;
let transport: Transport;
let port = 0;

beforeEach(async () => {
  connections = [];
  server = createServer((request, response) => {
    connections.push(request.socket.remotePort ?? 0);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  port = typeof address === 'object' ? (address?.port ?? 0) : 0;
  transport = httpTransport({ url: `http://127.0.0.1:${port}/clusters/one/` });
});

afterEach(async () => {
  vi.restoreAllMocks();
  await transport.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

async function text(request: HttpRequest): Promise<string> {
  const { body } = await transport.send(request);
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks).toString('utf8');
}

describe('the wire to the API server', () => {
  it('carries method, path below the endpoint, headers and body', async () => {
    answer = (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { method, url, headers } = request;
        response.writeHead(409, { 'retry-after': '3' });
        response.end(JSON.stringify([method, url, headers['x-a'], `${Buffer.concat(chunks)}`]));
      });
    };
    const asked = { ...GET, method: 'DELETE', headers: { 'x-a': 'b' }, body: 'é' } as const;
    const { status, header } = await transport.send(asked);
    expect([status, header('retry-after'), header('x-b')]).toEqual([409, '3', undefined]);
    expect(await text(asked)).toBe('["DELETE","/clusters/one/api","b","é"]');
  });

  it('keeps connections, but none that idled while nobody looked', async () => {
    answer = (_, response) => void response.end('{}');
    await text(GET);
    await text(GET);
    expect(connections[1]).toBe(connections[0]);
    const later = Date.now() + 61_000;
    vi.spyOn(Date, 'now').mockReturnValue(later);
    await text(GET);
    expect(connections[2]).not.toBe(connections[0]);
  });

  it('waits no longer than it may for the answer, nor for its next piece', async () => {
    answer = () => undefined;
    const hasty = { ...GET, timeoutMs: 30 };
    await expect(transport.send(hasty)).rejects.toThrow('no answer within 0.03 s');
    answer = (_, response) => void response.write('{');
    await expect(text({ ...GET, silenceMsMax: 30 })).rejects.toThrow('silent for 0.03 s');
  });

  it('lets a watch be silent', async () => {
    answer = (_, response) => {
      response.write('{');
      setTimeout(() => response.end('}'), 600);
    };
    expect(await text({ ...GET, timeoutMs: 500, silenceMsMax: 0 })).toBe('{}');
  });

  it('ends the exchange when the reader leaves, or cancels', async () => {
    const ended: Promise<void>[] = [];
    answer = (_, response) => {
      ended.push(new Promise((resolve) => response.on('close', resolve)));
      response.write('a line');
    };
    for await (const _ of (await transport.send(GET)).body) break;
    const { body, cancel } = await transport.send({ ...GET, silenceMsMax: 0 });
    setTimeout(cancel, 20);
    await (async () => {
      for await (const _ of body);
    })().catch(() => undefined);
    await Promise.all(ended);
    expect(ended).toHaveLength(2);
  });

  it('ends the exchange when the signal aborts, before the answer and inside it', async () => {
    const ended: Promise<void>[] = [];
    const over = new AbortController();
    const started = Promise.withResolvers<void>();
    answer = (request, response) => {
      ended.push(new Promise((resolve) => response.on('close', resolve)));
      if (request.url?.endsWith('inside') === true) response.write('a line');
      if (ended.length === 2) started.resolve();
    };
    const { signal } = over;
    const inside = text({ ...GET, path: '/inside', timeoutMs: 60_000, silenceMsMax: 0, signal });
    const before = transport.send({ ...GET, timeoutMs: 60_000, signal });
    const outcomes = Promise.allSettled([inside, before]);
    await started.promise;
    setTimeout(() => over.abort(), 20);
    expect((await outcomes).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    await Promise.all(ended);
    await expect(transport.send({ ...GET, signal })).rejects.toThrow('aborted');
    expect(ended).toHaveLength(2);
  });

  it('leaves the connection to others when the signal aborts after the answer', async () => {
    answer = (_, response) => void response.end('{}');
    const over = new AbortController();
    await text({ ...GET, signal: over.signal });
    over.abort();
    await text(GET);
    expect(connections[1]).toBe(connections[0]);
  });

  it('says when the connection breaks, before and inside the answer', async () => {
    answer = (_, response) => void response.destroy();
    await expect(transport.send(GET)).rejects.toThrow(/socket hang up|ECONNRESET/);
    answer = (_, response) => {
      response.writeHead(200, { 'content-length': '10' });
      response.write('12345');
      setTimeout(() => response.destroy(), 20);
    };
    await expect(text(GET)).rejects.toThrow(/aborted|ECONNRESET/);
    // Nobody reads this one: the break must not end the process.
    await transport.send(GET);
    await new Promise((resolve) => setTimeout(resolve, 60));
    const nobody = httpTransport({ url: 'http://127.0.0.1:1' });
    await expect(nobody.send(GET)).rejects.toThrow('ECONNREFUSED');
  });

  it('gives up when nobody answers the door, as behind a route or security group that drops packets', async () => {
    const taken: Socket[] = [];
    const silent = createTcpServer((socket) => void taken.push(socket));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const end = typeof address === 'object' ? (address?.port ?? 0) : 0;
    const dropped = httpTransport({ url: `https://127.0.0.1:${end}` });
    const patient = { ...GET, timeoutMs: 60_000 };
    await expect(dropped.send(patient)).rejects.toThrow('no connection within 5 s');
    await dropped.close();
    for (const socket of taken) socket.destroy();
    await new Promise((resolve) => silent.close(resolve));
  }, 15_000);
});
