import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { Command } from 'commander';
import { withClusterOptions } from '../connect.ts';
import { mcpServer, runCommand, type ServerOptions } from '../mcp/server.ts';

const EXAMPLE = `
Example of an assistant's settings:
  {"mcpServers": {"joiner": {"command": "joiner", "args": ["mcp", "--context", "prod"]}}}
`;

/** `joiner mcp`: the commands that read, as tools for assistants, on standard input and output. */
export function mcpCommand(): Command {
  return withClusterOptions(new Command('mcp'))
    .description('serve read-only commands as tools for assistants (Model Context Protocol)')
    .option('--region <region>', 'the region of the prices; default: as in joiner plan')
    .option('--bucket <name>', "the stack's bucket; default: the bucket in the stack's settings")
    .addHelpText('after', EXAMPLE)
    .action(async (options: ServerOptions) => {
      await mcpServer(options, runCommand).connect(new StdioServerTransport());
    });
}
