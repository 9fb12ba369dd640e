import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { progressTo } from '../../cli/progress.ts';
import { ROOT, withRecordings } from './page/made.ts';
import { joiner } from './run.ts';

const PREFER = 'examples/01-prefer-graviton4';
const CLEAR = '\r\u001b[2K';

describe('progress on a terminal', () => {
  function watched() {
    const written: string[] = [];
    let nowMs = 0;
    const progress = progressTo({ write: (text) => written.push(text) }, () => nowMs);
    const pass = (ms: number): void => {
      nowMs += ms;
    };
    return { written, progress, pass };
  }

  it('is said five times a second at most, and made only then', () => {
    const { written, progress, pass } = watched();
    const made = vi.fn(() => 'so far');
    for (let at = 0; at < 100; at += 1) {
      progress.say(made);
      pass(10);
    }
    expect(made).toHaveBeenCalledTimes(4);
    expect(written).toEqual(Array.from({ length: 4 }, () => `${CLEAR}so far`));
  });

  it('has the beginning of each part, and is gone at the end', () => {
    const { written, progress } = watched();
    progress.begin('one');
    progress.begin('two');
    progress.end();
    progress.end();
    expect(written).toEqual([`${CLEAR}one`, `${CLEAR}two`, CLEAR]);
  });

  it('writes nothing where nothing was shown', () => {
    const { written, progress } = watched();
    progress.say(() => 'too early');
    progress.end();
    expect(written).toEqual([]);
  });
});

describe('a long command', () => {
  let files: readonly string[] = [];
  let done = (): void => undefined;
  let kept: Promise<unknown> = Promise.resolve();
  beforeAll(async () => {
    await new Promise<void>((ready) => {
      kept = withRecordings((found) => {
        files = found;
        ready();
        return new Promise<void>((resolve) => {
          done = resolve;
        });
      });
    });
  }, 120_000);
  afterAll(async () => {
    done();
    await kept;
  });

  const terminal = (isTTY: boolean): void => {
    Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true });
  };
  afterEach(() => terminal(false));

  const COMMANDS: readonly (readonly [says: string, ...words: readonly string[]])[] = [
    ['the lower bound: a linear program of', 'solve', 'examples/09-solve/case.json', '--bound'],
    ["Karpenter's rules", 'compare', 'bench/compare/mixed'],
    ['planned anew', 'advise', 'RECORDING'],
    ['', 'replay', 'RECORDING'],
    ['', 'backtest', 'FOLDER'],
    ['', 'savings', '--dir', 'FOLDER'],
    ['simulating 60s in us-east-1, seed 1', 'simulate', PREFER, '--duration', '60s'],
  ];
  const wordsOf = (words: readonly string[]): readonly string[] =>
    words.map((word) => {
      if (word === 'RECORDING') return files[0] ?? '';
      if (word === 'FOLDER') return join(files[0] ?? '', '..', '..');
      return word.includes('/') ? join(ROOT, word) : word;
    });

  it.each(COMMANDS)('says "%s" in a terminal: %s', async (says, ...words) => {
    terminal(true);
    const { exitCode, stdout, stderr } = await joiner(...wordsOf(words));
    expect(exitCode).toBeLessThan(2);
    expect(stderr).toContain(says);
    // The line is gone before the answer is printed, and the answer has no part of it.
    if (says !== '') expect(stderr.lastIndexOf(CLEAR)).toBeGreaterThan(stderr.lastIndexOf(says));
    expect(stdout).not.toContain(CLEAR);
  });

  it.each(COMMANDS)('says nothing with -q, nor in a pipe (%s): %s', async (says, ...words) => {
    const pipe = await joiner(...wordsOf(words));
    terminal(true);
    const quiet = await joiner(...wordsOf(words), '-q');
    expect(pipe.stderr + quiet.stderr).not.toContain(CLEAR);
    if (says !== '') expect(pipe.stderr + quiet.stderr).not.toContain(says);
  });
});
