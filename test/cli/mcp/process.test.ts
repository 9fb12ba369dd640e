import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it } from 'vitest';
import { CONFIG } from '../kubeconfig.ts';
import { inFolder, joiner } from '../run.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

it('answers over standard input and output, from commands in processes of their own', async () => {
  await inFolder({}, async (folder) => {
    const example = join(ROOT, 'examples', '08-static-and-buffer');
    await joiner('simulate', example, '--duration', '5m', '--record', folder);
    const snapshots = join(folder, 'snapshots');
    const [recording = ''] = readdirSync(snapshots);
    const client = new Client({ name: 'test', version: '1' });
    const server = { command: process.execPath, args: [join(ROOT, 'cli/bin/joiner.mjs'), 'mcp'] };
    await client.connect(new StdioClientTransport(server));
    try {
      const ask = (recordings: readonly string[]) =>
        client.callTool({ name: 'replay', arguments: { recordings } });
      const { content } = await ask([join(snapshots, recording)]);
      expect(JSON.stringify(content)).toContain('same');
      const refused = await ask([join(folder, 'not-there.json')]);
      expect(refused).toMatchObject({ isError: true });
      expect(JSON.stringify(refused['content'])).toContain('not-there.json');
    } finally {
      await client.close();
    }
  });
});

/** What a client writes to ask a tool, a message a line. */
const QUESTION = [
  {
    id: 1,
    method: 'initialize',
    params: {
      protocolVersion: '2025-06-18',
      capabilities: {},
      clientInfo: { name: 'test', version: '1' },
    },
  },
  { method: 'notifications/initialized' },
  { id: 2, method: 'tools/call', params: { name: 'budgets', arguments: {} } },
].map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

it.each(['SIGTERM', 'end of input'])('stops its commands at %s', async (how) => {
  const asked = Promise.withResolvers<void>();
  const left = Promise.withResolvers<void>();
  // An API server whose answer has no end: by itself a command would not leave.
  const api = createServer((_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    const more = setInterval(() => response.write(' '), 100);
    asked.resolve();
    response.on('close', () => {
      clearInterval(more);
      left.resolve();
    });
  });
  await new Promise<void>((resolve) => api.listen(0, '127.0.0.1', resolve));
  const { port } = api.address() as AddressInfo;
  const cluster = `insecure-skip-tls-verify: true, server: 'http://127.0.0.1:${port}'`;
  const config = CONFIG.replace("server: 'https://127.0.0.1:1'", cluster);
  await inFolder({ config }, async (folder) => {
    const words = ['mcp', '--kubeconfig', join(folder, 'config')];
    const server = spawn(process.execPath, [join(ROOT, 'cli/bin/joiner.mjs'), ...words]);
    const gone = once(server, 'exit');
    for (const each of QUESTION) server.stdin.write(each);
    await asked.promise;
    if (how === 'SIGTERM') server.kill('SIGTERM');
    else server.stdin.end();
    await Promise.all([gone, left.promise]);
  });
  api.close();
});
