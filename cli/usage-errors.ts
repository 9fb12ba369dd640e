import { meant, nearest } from '../shared/contract/nearest.ts';

const OF_COMMANDER = /\n\(Did you mean (.*)\?\)/;
const INVALID_CHOICE = /(?:argument|value) '([^']*)' is invalid.*Allowed choices are (.*)\.$/m;
const MISSING_OPTION = /required option '(?:-\w, )?(--[\w-]+).*' not specified$/m;

/**
 * An error of commander's with what was probably meant. Commander itself says so of commands and
 * options, on a line of its own: it is written as elsewhere. Added are a word that is none of the
 * choices, and a required option that is misspelt among the words.
 */
export function withMeant(error: string, words: readonly string[]): string {
  if (OF_COMMANDER.test(error)) return error.replace(OF_COMMANDER, ' (did you mean $1?)');
  const [, given = '', choices = ''] = INVALID_CHOICE.exec(error) ?? [];
  if (choices !== '') return error.replace(/\.$/m, `.${meant(given, choices.split(', '))}`);
  const [, option] = MISSING_OPTION.exec(error) ?? [];
  if (option === undefined) return error;
  const options = words.filter((word) => word.startsWith('--')).map(withoutValue);
  const misspelt = nearest(option, options);
  if (misspelt === undefined) return error;
  return error.replace(/specified$/m, `specified (did you mean ${option} by ${misspelt}?)`);
}

function withoutValue(word: string): string {
  return word.replace(/=.*/s, '');
}
