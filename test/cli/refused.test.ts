import { createServer } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { close, listen } from '../support/loopback.ts';
import { CONFIG } from './kubeconfig.ts';
import { inFolder, joiner } from './run.ts';

/** The part of the path that the user may not read. */
let refused = '';

/** A cluster in which nothing is, and whose user may not read everything. */
const server = createServer(({ url = '', headers }, response) => {
  const isRefused = url.includes(refused);
  const status = isRefused ? 403 : 200;
  const body = isRefused
    ? { kind: 'Status', reason: 'Forbidden', message: `${refused} is forbidden` }
    : { kind: 'List', metadata: { resourceVersion: '1' }, items: [] };
  expect(headers.accept).toContain('json');
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(url === '/version' ? { gitVersion: 'v1.35.0' } : body));
});
let url = '';
beforeAll(async () => {
  url = await listen(server);
});
afterAll(() => close(server));

describe('who may not read all that a command needs', () => {
  it.each(['configmaps', 'nodepools', 'pods'])('learns which role to ask for: %s', async (what) => {
    refused = what;
    const config = CONFIG.replace('https://127.0.0.1:1', url);
    await inFolder({ config }, async (folder) => {
      const answer = await joiner('top', '--kubeconfig', `${folder}/config`);
      expect(answer).toMatchObject({ exitCode: 1, stdout: '' });
      expect(answer.stderr).toContain(`${what} is forbidden`);
      expect(answer.stderr).toContain('viewer-role.yaml of joiner export roles');
    });
  });
});
