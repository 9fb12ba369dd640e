import { nearest } from './nearest.ts';
import { meant } from './unknown-names.ts';

const INVALID_CHOICE = /(?:argument|value) '([^']*)' is invalid.*Allowed choices are (.*)\.$/m;
const MISSING_OPTION = /required option '(?:-\w, )?(--[\w-]+).*' not specified$/m;

/**
 * An error of commander's with what was probably meant, where commander itself does not say: of a
 * word that is none of the choices, and of a required option that is misspelt among the words.
 */
export function withMeant(error: string, words: readonly string[]): string {
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
