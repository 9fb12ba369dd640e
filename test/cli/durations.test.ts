import { describe, expect, it } from 'vitest';
import { COMMANDS } from '../../cli/command-list.ts';
import { inFolder, joiner } from './run.ts';
import { POOL_AND_CLASS } from './usage/row.ts';

/** Options that take a time, by command. */
const OPTIONS = [
  ['simulate', '--duration'],
  ['pause', '--for'],
  ['adopt', '--wait'],
  ['hand-back', '--wait'],
  ['savings', '--since'],
  ['decisions', '--since'],
  ['budgets', '--next'],
] as const;

describe('a time on the command line may be in days', () => {
  it.each(OPTIONS)('joiner %s %s', async (name, option) => {
    const command = await COMMANDS.find((each) => each.name === name)?.load();
    const found = command?.options.find(({ long }) => long === option);
    expect(found).toBeDefined();
    if (found?.parseArg === undefined) expect(name).toBe('simulate');
    else expect(found.parseArg('2d', undefined)).toBe(2 * 86_400_000);
  });

  it('joiner simulate runs for as long', async () => {
    await inFolder({ 'world.yaml': POOL_AND_CLASS }, async (folder) => {
      const run = (time: string) => joiner('simulate', folder, '--duration', time, '-o', 'json');
      const [days, hours] = [await run('1d'), await run('24h')];
      expect(days.exitCode).toBe(0);
      expect(days.stdout).toBe(hours.stdout);
    });
  });
});
