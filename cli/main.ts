import { Command, CommanderError, Help, type Option } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { meant } from '../shared/contract/nearest.ts';
import { COMMANDS } from './command-list.ts';
import { LOG_IN } from './log-in.ts';
import { writeErr, writeOut } from './terminal.ts';
import { withMeant } from './usage-errors.ts';

/** Exit codes: 0 done, 1 the thing asked failed, 2 bad usage or bad input; `plan`: 3 something to do. */
const USAGE = 2;

/** The command that the line names, also in `joiner help plan`. */
function commandNamed(argv: readonly string[]): string | undefined {
  const [first, second] = argv.slice(2).filter((word) => !word.startsWith('-'));
  return first === 'help' ? second : first;
}

/** Commander answers the help of a command that is not there with the help of all. */
function checkHelp(root: Command, [, , first, named]: readonly string[]): void {
  if (first !== 'help' || named === undefined || named.startsWith('-')) return;
  const names = [...COMMANDS.map(({ name }) => name), 'help'];
  if (!names.includes(named)) {
    root.error(`error: unknown command '${named}'${meant(named, names)}`);
  }
}

/** An option's line in the help; an empty list as the default says nothing. */
function describedOption(option: Option): string {
  const { defaultValue } = option;
  const isEmpty = Array.isArray(defaultValue) && defaultValue.length === 0;
  const shown = isEmpty ? Object.create(option, { defaultValue: { value: undefined } }) : option;
  return new Help().optionDescription(shown);
}

/**
 * The command line that reads these words: the command that is asked for, and the others by their
 * lines in the help only, whose code is not read. Commander's own errors become exit code 2.
 */
async function program(argv: readonly string[]): Promise<Command> {
  const named = commandNamed(argv);
  const usages = new Map(COMMANDS.map(({ name, usage }) => [name, usage]));
  const options = new Set<string>();
  const root = new Command('joiner')
    .description('a serverless, Karpenter-compatible node provisioner for Amazon EKS')
    .version(packageJson.version)
    .showHelpAfterError('(joiner --help lists the commands)')
    .configureOutput({
      writeOut,
      writeErr,
      outputError: (error, write) => write(withMeant(error, argv, options)),
    })
    .configureHelp({
      optionDescription: describedOption,
      subcommandTerm: (each) => `${each.name()} ${usages.get(each.name()) ?? '[command]'}`,
    });
  for (const { name, description, load } of COMMANDS) {
    const command = name === named ? await load() : new Command(name).description(description);
    for (const { long } of command.options) options.add(long ?? '');
    root.addCommand(command.copyInheritedSettings(root));
    command.showHelpAfterError(`(joiner ${name} --help lists the options)`);
  }
  for (const command of [root, ...root.commands]) command.exitOverride();
  return root;
}

/** Runs one command line (`argv` as in `process.argv`); sets `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    // A shell asks with these words, as those of cobra's programs do: joiner complete -- top --so
    const [, , name, dashes, ...words] = argv;
    if (name === 'complete' && dashes === '--') {
      const { completionAnswer } = await import('./completion/complete.ts');
      writeOut(await completionAnswer(words));
      return;
    }
    const root = await program(argv);
    checkHelp(root, argv);
    await root.parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE;
      return;
    }
    const text = error instanceof Error ? error.message : String(error);
    const advice = text.includes('Could not load credentials') ? `; ${LOG_IN}` : '';
    writeErr(`error: ${text}${advice}\n`);
    process.exitCode = 1;
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may leave early: `joiner crds | head`.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

if (import.meta.main) await main(process.argv);
