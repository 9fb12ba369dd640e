import { describe, expect, it } from 'vitest';
import { usageProblem } from './joiner-command.ts';
import { blocksIn, codeSpansOf, PAGES, placeOf } from './pages.ts';
import { commandsIn, joinerWords } from './shell.ts';

const COMMANDS = blocksIn('sh').flatMap((block) =>
  commandsIn(block.text).map((command) => ({ place: placeOf(block), command })),
);
const JOINER = COMMANDS.flatMap(({ place, command }) => {
  const words = joinerWords(command);
  return words === undefined ? [] : [{ place, words, line: words.join(' ') }];
});

describe('commands in the pages', () => {
  it('there are some to look at', () => {
    expect(JOINER.length).toBeGreaterThan(100);
  });

  it.each(JOINER)('$place: joiner $line', async ({ words }) => {
    expect(await usageProblem(words)).toBeUndefined();
  });

  it.each(PAGES)('options that %s names in its text are there', async (file) => {
    const problems: string[] = [];
    for (const span of codeSpansOf(file).filter((each) => /^(\.\/)?joiner \w/.test(each))) {
      const words = commandsIn(span).flatMap((each) => joinerWords(each) ?? []);
      const problem = await usageProblem(words);
      if (problem !== undefined && /unknown|no command/.test(problem)) {
        problems.push(`${span}: ${problem}`);
      }
    }
    expect(problems).toEqual([]);
  });
});
