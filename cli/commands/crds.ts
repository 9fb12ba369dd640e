import { Command } from 'commander';
import { customResourceDefinitions } from '../../shared/api/crds/definitions.ts';
import { crdFiles } from '../../shared/api/crds/text.ts';
import { formatOption, nameLines } from '../output.ts';
import { writeOut } from '../terminal.ts';

interface Options {
  readonly output: keyof typeof FORMATS;
}

const FORMATS = {
  yaml: () => [...crdFiles().values()].join('---\n'),
  json: jsonList,
  name: () =>
    nameLines(
      customResourceDefinitions().map(
        ({ metadata }) => `customresourcedefinition.apiextensions.k8s.io/${metadata.name}`,
      ),
    ),
} as const;

/** `joiner crds`: the CustomResourceDefinitions, for `kubectl apply -f -`. */
export function crdsCommand(): Command {
  return new Command('crds')
    .description('print the CustomResourceDefinitions')
    .addOption(formatOption('yaml', 'json', 'name'))
    .addHelpText('after', '\njson is one object of kind List.')
    .action(({ output }: Options) => {
      writeOut(FORMATS[output]());
    });
}

function jsonList(): string {
  const list = { apiVersion: 'v1', kind: 'List', items: customResourceDefinitions() };
  return `${JSON.stringify(list, null, 2)}\n`;
}
