import type { Argument, Command, Option } from 'commander';
import { COMMANDS } from '../../../cli/command-list.ts';
import { cell, code, heading, pageOf, table } from './text.ts';

/** Where more is said than the help has room for. */
const MORE: Readonly<Record<string, string>> = {
  compare: '../compare.md',
  simulate: '../manifests.md',
  replay: '../replay.md',
  solve: '../case.md',
  plan: '../plan.md',
  apply: '../plan.md#approve-a-plan',
  explain: '../plan.md#explain',
  top: '../plan.md#top-and-budgets',
  budgets: '../plan.md#top-and-budgets',
  catalog: '../catalog.md#another-region-and-prices-of-today',
  convert: '../convert.md',
  template: '../deploy.md#without-the-cdk',
  export: '../start/install.md#what-a-release-has',
  doctor: '../deploy.md',
  bars: '../deploy.md#unavailable-offerings',
  'dead-letters': '../deploy.md#failed-interruption-messages',
  cost: '../cost.md',
  pause: '../deploy.md#pause',
  resume: '../deploy.md#pause',
  adopt: '../adopt.md',
  'hand-back': '../adopt.md#steps-of-joiner-hand-back',
  release: '../deploy.md#finalizers-after-an-uninstall',
};

function defaultOf({
  defaultValue,
  defaultValueDescription,
  argChoices,
}: Option | Argument): string {
  const said = String(defaultValueDescription ?? defaultValue ?? '');
  const choices = argChoices?.map(code).join(', ') ?? '';
  const standard = said === '' ? '' : `default ${code(said)}`;
  return [choices, standard].filter((each) => each !== '').join('; ');
}

/** What a command's help says below its options. */
function remarkOf(command: Command): string {
  let text = '';
  command.configureOutput({
    writeOut: (part) => {
      text += part;
    },
  });
  command.outputHelp();
  return text.slice(command.helpInformation().length).trim();
}

function section(command: Command): readonly string[] {
  const { options, registeredArguments } = command;
  const rows = [
    ...registeredArguments.map((each) => [
      code(each.required ? `<${each.name()}>` : `[${each.name()}]`),
      cell(each.description),
      defaultOf(each),
    ]),
    ...options
      .filter(({ hidden }) => !hidden)
      .map((each) => [
        code(each.flags),
        cell(each.description) + (each.mandatory ? ' (required)' : ''),
        defaultOf(each),
      ]),
  ];
  const remark = remarkOf(command);
  const more = MORE[command.name()];
  return [
    `## ${command.name()}`,
    '',
    `${cell(command.description())}${more === undefined ? '.' : ` ([more](${more})).`}`,
    '',
    ...(rows.length === 0 ? [] : table(['option', '', 'values'], rows)),
    ...(remark === '' ? [] : ['```text', remark, '```', '']),
  ];
}

const HEAD = [
  'The command is called `joiner`, `eks-joiner` or `kubectl joiner`. Errors are written to',
  'stderr, and nothing is written to stdout then.',
  '',
  '## Exit codes',
  '',
  ...table(
    ['code', 'means'],
    [
      ['0', 'done. Pods that stay pending and NodeOverlays in conflict are no failure'],
      [
        '1',
        'it failed; with `--strict` also where pods stay pending or a NodeOverlay is not ready',
      ],
      [
        '2',
        'bad usage or bad input. All problems are named at once: file, line, object, field, value, and what would be valid',
      ],
      ['3', '`plan` only: there is something to do'],
    ],
  ),
];

/** docs/reference/commands.md. */
export async function commandsPage(): Promise<string> {
  const commands = await Promise.all(COMMANDS.map(({ load }) => load()));
  return pageOf([
    ...heading('Commands', 'cli/commands'),
    ...HEAD,
    ...commands.flatMap((each) => section(each.helpOption('-h, --help'))),
  ]);
}
