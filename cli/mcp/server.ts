import { spawn } from 'node:child_process';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import packageJson from '../../package.json' with { type: 'json' };
import { type ServerOption, TOOLS, type Tool } from './tools.ts';

/** Values of the server's options. */
export type ServerOptions = Readonly<Partial<Record<ServerOption, string>>>;

/** What a command of this program wrote, and its exit code. */
export interface Ran {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line of this program. */
export type RunCommand = (words: readonly string[]) => Promise<Ran>;

/** Beyond this an answer helps no assistant: about a quarter of a million tokens. */
const TEXT_MAX = 1_000_000;

/** Done, or something to do: `plan` ends with 3 where there are changes. */
const ANSWERED: readonly number[] = [0, 3];

/** In a process of its own: what it writes is not mixed with the protocol on standard output. */
export const runCommand: RunCommand = (words) =>
  new Promise((resolve, reject) => {
    const [, program = ''] = process.argv;
    const child = spawn(process.execPath, [...process.execArgv, program, ...words], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const written = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'] as const) {
      child[name].setEncoding('utf8').on('data', (chunk: string) => {
        written[name] += chunk;
      });
    }
    child.on('error', reject);
    child.on('close', (exitCode) => resolve({ exitCode: exitCode ?? 1, ...written }));
  });

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text }] };
}

function resultOf({ exitCode, stdout, stderr }: Ran): CallToolResult {
  if (!ANSWERED.includes(exitCode)) return failed(stderr.trim() || stdout.trim());
  if (stdout.length > TEXT_MAX) {
    return failed(
      `the answer has ${stdout.length} characters, more than ${TEXT_MAX}; ask for fewer NodePools, ` +
        'or explain single objects',
    );
  }
  return { content: [{ type: 'text', text: stdout }] };
}

function optionsOf({ takes }: Tool, options: ServerOptions): readonly string[] {
  return takes.flatMap((name) => {
    const value = options[name];
    return value === undefined ? [] : [`--${name}`, value];
  });
}

/**
 * A server of the Model Context Protocol whose tools are commands that read.
 * https://modelcontextprotocol.io/specification/
 */
export function mcpServer(options: ServerOptions, run: RunCommand): McpServer {
  const server = new McpServer(
    { name: 'joiner', version: packageJson.version },
    {
      instructions:
        'Read-only tools about nodes of an Amazon EKS cluster and the decisions of Joiner, its node ' +
        'provisioner. Prices are USD an hour. Answers are JSON.',
    },
  );
  for (const [name, tool] of Object.entries(TOOLS)) {
    const { title, description, input } = tool;
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations },
      async (given) =>
        resultOf(
          await run([...tool.words(given), ...optionsOf(tool, options), '--output', 'json']),
        ),
    );
  }
  return server;
}
