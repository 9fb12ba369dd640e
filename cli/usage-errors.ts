import { meant, nearest } from '../shared/contract/nearest.ts';

const OF_COMMANDER = /\n\(Did you mean (.*)\?\)/;
const INVALID_OPTION =
  /^error: option '(?:-\w, )?(--[\w-]+)[^']*' argument '(.*)' is invalid\. (.*)$/s;
const INVALID_WORD =
  /^error: command-argument value '(.*)' is invalid for argument '(.*)'\. (.*)$/s;
const UNKNOWN_OPTION = /^error: unknown option '(.*)'/;
const CHOICES = /^Allowed choices are (.*)\.$/s;
const MISSING_OPTION = /required option '(?:-\w, )?(--[\w-]+).*' not specified$/m;

/** What is expected instead of a word, as elsewhere; commander's own list of choices with it. */
function invalid(name: string, given: string, expected: string): string {
  const [, choices] = CHOICES.exec(expected.trimEnd()) ?? [];
  if (choices === undefined) return `error: ${name} ${given}: ${expected.trimEnd()}\n`;
  const near = meant(given, choices.split(', '));
  return `error: ${name} ${given}: expected one of ${choices}${near}\n`;
}

/**
 * An error of commander's as the other errors are written, with what was probably meant. Commander
 * itself says that of commands and options, on a line of its own. Added are a word that is none of
 * the choices, a required option that is misspelt among the words (`process.argv`), and an option
 * before the command. `known` are the options that the command has.
 */
export function withMeant(
  error: string,
  words: readonly string[],
  known: ReadonlySet<string>,
): string {
  const [, early] = UNKNOWN_OPTION.exec(error) ?? [];
  if (early !== undefined && early === words[2]) {
    return `error: ${early}: options come after the command, such as joiner plan ${early}\n`;
  }
  if (OF_COMMANDER.test(error)) return error.replace(OF_COMMANDER, ' (did you mean $1?)');
  const [, name, value = '', wanted = ''] = INVALID_OPTION.exec(error) ?? [];
  if (name !== undefined) return invalid(name, value, wanted);
  const [, word = '', argument, choices = ''] = INVALID_WORD.exec(error) ?? [];
  if (argument !== undefined) return invalid(`<${argument}>`, word, choices);
  const [, option] = MISSING_OPTION.exec(error) ?? [];
  if (option === undefined) return error;
  const options = words.filter((word) => word.startsWith('--')).map(withoutValue);
  const misspelt = nearest(
    option,
    options.filter((each) => !known.has(each)),
  );
  if (misspelt === undefined) return error;
  return error.replace(/specified$/m, `specified (did you mean ${option} by ${misspelt}?)`);
}

function withoutValue(word: string): string {
  return word.replace(/=.*/s, '');
}
