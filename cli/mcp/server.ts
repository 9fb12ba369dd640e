import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import packageJson from '../../package.json' with { type: 'json' };
import type { Ran, RunCommand } from './run-command.ts';
import { type ServerOption, TOOLS, type Tool } from './tools.ts';

/** Values of the server's options. */
export type ServerOptions = Readonly<Partial<Record<ServerOption, string>>>;

/** Beyond this an answer helps no assistant: about a quarter of a million tokens. */
const TEXT_MAX = 1_000_000;

/** Of what stands beside a document, the beginning. */
const NOTES_MAX = 20_000;

/** Done, or something to do: `plan` ends with 3 where there are changes. */
const ENDS_WELL: readonly number[] = [0, 3];

function beginning(text: string, lengthMax: number): string {
  if (text.length <= lengthMax) return text;
  const more = `\n… and ${text.length - lengthMax} more characters`;
  return text.slice(0, lengthMax) + more;
}

function failed(text: string): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: beginning(text, NOTES_MAX) }] };
}

/**
 * A document on standard output is the answer, whatever the exit code: `replay` ends with 1 where a
 * result differs. Beside it stands what the command warned of, such as records that cannot be read.
 */
function resultOf({ exitCode, stdout, stderr }: Ran): CallToolResult {
  const isDocument = /^[[{]/.test(stdout);
  if (!isDocument) return failed(stderr.trim() || stdout.trim() || `exit code ${exitCode}`);
  const ended = ENDS_WELL.includes(exitCode) ? '' : `The command ended with exit code ${exitCode}.`;
  const notes = beginning(`${ended}\n${stderr.trim()}`.trim(), NOTES_MAX);
  const length = stdout.length + notes.length;
  if (length > TEXT_MAX) {
    return failed(
      `the answer has ${length} characters, more than ${TEXT_MAX}; ask for fewer NodePools, ` +
        `for a shorter time, or explain single objects\n${notes}`,
    );
  }
  const texts = notes === '' ? [stdout] : [stdout, notes];
  return { content: texts.map((text) => ({ type: 'text' as const, text })) };
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
        'provisioner. Prices are USD an hour. Answers are JSON; a second text ' +
        'has warnings, and an exit code other than 0 and 3.',
    },
  );
  for (const [name, tool] of Object.entries(TOOLS)) {
    const { title, description, input } = tool;
    const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true };
    server.registerTool(
      name,
      { title, description, inputSchema: input, annotations },
      async (given, { signal }) => {
        const words = [...tool.words(given), ...optionsOf(tool, options), '--output', 'json'];
        return resultOf(await run(words, signal));
      },
    );
  }
  return server;
}
