import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Command } from 'commander';
import { afterEach, describe, expect, it } from 'vitest';
import { COMMANDS } from '../../../cli/command-list.ts';
import type { Ran, RunCommand } from '../../../cli/mcp/run-command.ts';
import { mcpServer, type ServerOptions } from '../../../cli/mcp/server.ts';
import { TOOLS } from '../../../cli/mcp/tools.ts';

const close: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const each of close.splice(0)) await each();
});

/** A client of the server, whose commands end so; the words that they were run with. */
async function session(ran: Partial<Ran> = {}, options: ServerOptions = {}, run?: RunCommand) {
  const lines: string[] = [];
  const ending: RunCommand = async (words) => {
    lines.push(words.join(' '));
    return { exitCode: 0, stdout: '{}', stderr: '', ...ran };
  };
  const server = mcpServer(options, run ?? ending);
  const client = new Client({ name: 'test', version: '1' });
  const [here, there] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(there), client.connect(here)]);
  close.push(() => client.close());
  return { client, lines };
}

describe('tools', () => {
  it('are read-only', async () => {
    const { client } = await session();
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(Object.keys(TOOLS));
    for (const { annotations, description } of tools) {
      expect(annotations).toMatchObject({ readOnlyHint: true, destructiveHint: false });
      expect(description).not.toBe('');
    }
  });

  it.each([
    [
      'explain',
      { kind: 'pod', name: 'web', namespace: 'shop' },
      'explain pod web --namespace shop',
    ],
    ['explain', { kind: 'node', name: 'ip-1' }, 'explain node ip-1'],
    ['explain', { kind: 'deployment', name: 'web' }, 'explain deployment web'],
    ['plan', {}, 'plan'],
    ['plan', { manifests: ['a.yaml', 'b.yaml'] }, 'plan --filename a.yaml b.yaml'],
    ['compare', {}, 'compare'],
    ['top', { nodepools: ['general', 'gpu'] }, 'top --nodepool general gpu'],
    ['top', { nodepools: [] }, 'top'],
    ['budgets', { next: '7d' }, 'budgets --next 7d'],
    [
      'decisions',
      { cluster: 'demo', since: '6h', nodepool: 'gpu' },
      'decisions --cluster demo --since 6h --nodepool gpu',
    ],
    ['savings', { cluster: 'demo', since: '7d' }, 'savings --cluster demo --since 7d'],
    [
      'backtest',
      { folder: 'f', settings: ['nodePrice=0.01'], manifests: ['a.yaml', 'b.yaml'] },
      'backtest f --set nodePrice=0.01 --filename a.yaml --filename b.yaml',
    ],
    ['backtest', { folder: 'f', rules: 'karpenter' }, 'backtest f --rules karpenter'],
    ['advise', {}, 'advise'],
    ['replay', { recordings: ['a.json', 'b.json'] }, 'replay a.json b.json'],
  ])('%s %j runs %s', async (name, input, line) => {
    const { client, lines } = await session();
    await client.callTool({ name, arguments: input });
    expect(lines).toEqual([`${line} --output json`]);
  });

  it('make lines that their commands take', async () => {
    const inputs: Readonly<Record<string, object>> = {
      explain: { kind: 'pod', name: 'web', namespace: 'shop' },
      plan: { manifests: ['a.yaml'] },
      top: { nodepools: ['general'] },
      budgets: { next: '7d' },
      decisions: { cluster: 'demo', pod: 'shop/web', node: 'ip-1' },
      savings: { cluster: 'demo' },
      backtest: { folder: 'f', settings: ['nodePrice=0.01', 'evictionPrice=0'] },
      replay: { recordings: ['a.json'] },
    };
    const options = { kubeconfig: 'k', context: 'c', region: 'us-east-1', bucket: 'b' };
    const { client, lines } = await session({}, options);
    for (const name of Object.keys(TOOLS)) {
      await client.callTool({ name, arguments: { ...inputs[name] } });
    }
    expect(lines).toHaveLength(Object.keys(TOOLS).length);
    for (const line of lines) {
      const [name, ...words] = line.split(' ');
      const load = COMMANDS.find((each) => each.name === name)?.load;
      const command = (await load?.()) ?? new Command();
      await command
        .exitOverride()
        .action(() => {})
        .parseAsync(words, { from: 'user' });
      expect(command.opts()['output']).toBe('json');
    }
  });

  it.each([
    ['a kind that is not there', 'explain', { kind: 'service', name: 'web' }],
    ['an option as a name', 'explain', { kind: 'pod', name: '--kubeconfig=/etc/passwd' }],
    ['an option among names', 'top', { nodepools: ['--watch'] }],
    ['an option as a setting', 'backtest', { folder: 'f', settings: ['--rules=x'] }],
    ['no recordings', 'replay', { recordings: [] }],
  ])('refuse %s', async (_, name, input) => {
    const { client, lines } = await session();
    const answer = await client.callTool({ name, arguments: input });
    expect(answer['isError']).toBe(true);
    expect(lines).toEqual([]);
  });

  it.each([
    [{ stdout: '{"a":1}' }, { content: [{ type: 'text', text: '{"a":1}' }] }],
    [{ exitCode: 3, stdout: '{"a":1}' }, { content: [{ type: 'text', text: '{"a":1}' }] }],
    [
      { exitCode: 1, stdout: '', stderr: 'error: there is no Pod web\n' },
      { isError: true, content: [{ type: 'text', text: 'error: there is no Pod web' }] },
    ],
    [
      { stdout: '{"decisions":[]}', stderr: '2 of its records cannot be read\n' },
      {
        content: [
          { type: 'text', text: '{"decisions":[]}' },
          { type: 'text', text: '2 of its records cannot be read' },
        ],
      },
    ],
    [
      { exitCode: 1, stdout: '{"same":false}' },
      {
        content: [
          { type: 'text', text: '{"same":false}' },
          { type: 'text', text: 'The command ended with exit code 1.' },
        ],
      },
    ],
    [
      { stdout: `{${'x'.repeat(1_000_000)}` },
      { isError: true, content: [{ text: expect.stringContaining('1000001 characters') }] },
    ],
    [
      { exitCode: 1, stdout: `{${'x'.repeat(2_000_030)}` },
      { isError: true, content: [{ text: expect.stringContaining('exit code 1') }] },
    ],
  ])('of a command that ends with %j', async (ran, expected) => {
    const { client } = await session(ran);
    const answer = await client.callTool({ name: 'plan', arguments: {} });
    expect(answer).toMatchObject(expected);
    expect(answer['isError'] ?? false).toBe('isError' in expected);
  });

  it.each([
    { exitCode: 1, stderr: 'x'.repeat(2_000_031), stdout: '' },
    { stderr: 'x'.repeat(2_000_031) },
    { stdout: `{${'x'.repeat(990_000)}`, stderr: 'x'.repeat(2_000_031) },
  ])('are never longer than they may be', async (ran) => {
    const { client } = await session(ran);
    const answer = await client.callTool({ name: 'plan', arguments: {} });
    expect(JSON.stringify(answer).length).toBeLessThan(1_000_000);
  });

  it('stop their command when they are cancelled', async () => {
    const stopped = Promise.withResolvers<void>();
    const started = Promise.withResolvers<void>();
    const { client } = await session({}, {}, async (_, signal) => {
      signal.addEventListener('abort', () => stopped.resolve());
      started.resolve();
      await stopped.promise;
      return { exitCode: 1, stdout: '', stderr: '' };
    });
    const cancelling = new AbortController();
    const asked = client
      .callTool({ name: 'plan', arguments: {} }, undefined, { signal: cancelling.signal })
      .catch(() => 'cancelled');
    await started.promise;
    cancelling.abort();
    await stopped.promise;
    expect(await asked).toBe('cancelled');
  });
});
