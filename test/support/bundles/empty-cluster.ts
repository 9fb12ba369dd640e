import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { close, listen } from '../loopback.ts';

/** An API server on loopback with nothing in it but the Leases that are written. */
export class EmptyCluster {
  private readonly leases = new Map<string, object>();
  private readonly server = createServer((request, response) => void this.serve(request, response));

  async listen(): Promise<string> {
    return await listen(this.server);
  }

  async close(): Promise<void> {
    await close(this.server);
  }

  /** As each process finds it that is the first. */
  forget(): void {
    this.leases.clear();
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://api');
    response.writeHead(200, { 'content-type': 'application/json' });
    if (searchParams.has('watch')) {
      response.flushHeaders();
      return;
    }
    const body = Buffer.concat(chunks).toString('utf8');
    response.end(JSON.stringify(this.answer(request.method ?? 'GET', pathname, body)));
  }

  private answer(method: string, path: string, body: string): object {
    const known = this.leases.get(path);
    if (method === 'GET') return known ?? { metadata: { resourceVersion: '1' }, items: [] };
    const given: unknown = JSON.parse(body);
    if (Array.isArray(given)) return known ?? {};
    const { metadata, spec } = given as { readonly metadata?: object; readonly spec?: object };
    const object = { ...known, metadata: { ...metadata, resourceVersion: '2' }, spec };
    const name = (metadata as { readonly name?: string } | undefined)?.name;
    this.leases.set(method === 'POST' ? `${path}/${name}` : path, object);
    return object;
  }
}
