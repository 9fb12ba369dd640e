import { Command } from 'commander';
import { customResourceDefinitions } from '../../shared/api/crds/definitions.ts';
import { crdFiles } from '../../shared/api/crds/text.ts';

interface Options {
  readonly output: 'yaml' | 'json';
}

/** `joiner crds`: the CustomResourceDefinitions, for `kubectl apply -f -`. */
export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions')
    .option('-o, --output <format>', 'yaml, or json (one object of kind List)', 'yaml')
    .action(({ output }: Options, command: Command) => {
      if (output !== 'yaml' && output !== 'json') {
        command.error(`error: --output must be yaml or json, not "${output}"`, { exitCode: 2 });
      }
      process.stdout.write(output === 'json' ? jsonList() : [...crdFiles().values()].join('---\n'));
    });
}

function jsonList(): string {
  const list = { apiVersion: 'v1', kind: 'List', items: customResourceDefinitions() };
  return `${JSON.stringify(list, null, 2)}\n`;
}
