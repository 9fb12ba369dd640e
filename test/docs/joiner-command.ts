import { type Command, CommanderError } from 'commander';
import { COMMANDS } from '../../cli/command-list.ts';

/** What stands in the pages for a number or a region; other names of people's own may be any text. */
const STANDS_FOR: Readonly<Record<string, string>> = {
  N: '1',
  P: '1',
  MB: '1',
  REGION: 'us-east-1',
};

/** What the command line says against these words, without doing what they ask; or nothing. */
export async function usageProblem(words: readonly string[]): Promise<string | undefined> {
  const [name = '--help', ...rest] = words;
  if (['--help', '--version', 'help'].includes(name)) return undefined;
  const listed = COMMANDS.find((each) => each.name === name);
  if (listed === undefined) return `there is no command ${name}`;
  const command = await listed.load();
  const said: string[] = [];
  const told: Command = command
    .exitOverride()
    .configureOutput({ writeErr: (text) => said.push(text), writeOut: () => {} })
    .action(() => {});
  try {
    const given = rest.map((word) => STANDS_FOR[word] ?? word);
    await told.parseAsync(given, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return undefined;
    return said.join('').trim() || String(error);
  }
  return undefined;
}
