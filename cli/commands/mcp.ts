import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Command } from 'commander';
import { withClusterOptions } from '../connect.ts';
import { commandsUntil } from '../mcp/run-command.ts';
import { mcpServer, type ServerOptions } from '../mcp/server.ts';

const EXAMPLE = `
Example of an assistant's settings:
  {"mcpServers": {"joiner": {"command": "joiner", "args": ["mcp", "--context", "prod"]}}}
`;

/** Aborted when this process ends, or nobody is left who asks. */
function endOfServer(): AbortSignal {
  const ended = new AbortController();
  const end = (): void => ended.abort();
  process.once('exit', end);
  process.stdin.once('close', end);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => {
      end();
      // Without a listener it ends this process, as it would have.
      process.kill(process.pid, signal);
    });
  }
  return ended.signal;
}

/** `joiner mcp`: the commands that read, as tools for assistants, on standard input and output. */
export function mcpCommand(): Command {
  return withClusterOptions(new Command('mcp'))
    .description('serve read-only commands as tools for assistants (Model Context Protocol)')
    .option('--region <region>', 'the region of the prices; default: as in joiner plan')
    .option('--bucket <name>', "the stack's bucket; default: the bucket in the stack's settings")
    .addHelpText('after', EXAMPLE)
    .action(async (options: ServerOptions) => {
      const run = commandsUntil({ ended: endOfServer() });
      await mcpServer(options, run).connect(new StdioServerTransport());
    });
}
