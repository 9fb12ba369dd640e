import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { expect, it } from 'vitest';
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
