import { afterEach, describe, expect, it } from 'vitest';
import { aCase } from './manifests.ts';
import { type Answer, inFolder, joiner } from './run.ts';

const terminal = (isTTY: boolean): void => {
  Object.defineProperty(process.stderr, 'isTTY', { value: isTTY, configurable: true });
};
afterEach(() => terminal(false));

const big = {
  metadata: { name: 'big' },
  spec: { containers: [{ resources: { requests: { cpu: '64' } } }] },
};

async function solved(isTTY: boolean, problem: object, ...options: readonly string[]) {
  terminal(isTTY);
  const files = { 'case.json': JSON.stringify(problem) };
  return inFolder(files, (folder) => joiner('solve', `${folder}/case.json`, ...options));
}

/** The document without what solving cost, which is the same in no two runs. */
function document({ stdout }: Answer): string {
  return stdout.replace(/"timings": \{[^}]*\}/, '');
}

/** What stays on the screen: progress clears its line before anything else is written. */
function left({ stderr }: Answer): string {
  return stderr.slice(stderr.lastIndexOf('\u001b[2K') + '\u001b[2K'.length);
}

describe('joiner solve on a terminal', () => {
  it('ends with a line for people; the document is that of a pipe, byte for byte', async () => {
    const piped = await solved(false, aCase(), '--bound');
    const shown = await solved(true, aCase(), '--bound');
    expect(document(shown)).toBe(document(piped));
    expect(piped.stderr).toBe('');
    expect(left(shown)).toMatch(
      /^1 new node, \$0\.0960\/h, 1 of 1 pod placed, [\d.]+ % above the lower bound \$[\d.]+\/h\n$/,
    );
  });

  it('says nothing of a bound that was not asked for, and nothing at all with -q', async () => {
    expect(left(await solved(true, aCase()))).toBe('1 new node, $0.0960/h, 1 of 1 pod placed\n');
    expect((await solved(true, aCase(), '-q')).stderr).toBe('');
  });

  it('says how many pods are left over, and what --strict makes of it', async () => {
    const problem = { ...aCase(), pods: [big] };
    const first = '0 new nodes, $0.0000/h, 0 of 1 pod placed\n1 pod left unplaced: ';
    const lenient = await solved(true, problem);
    expect(left(lenient)).toBe(`${first}--strict makes this exit code 1\n`);
    const strict = await solved(true, problem, '--strict');
    expect(left(strict)).toBe(`${first}exit code 1 (--strict)\n`);
    expect([lenient.exitCode, strict.exitCode]).toEqual([0, 1]);
  });
});
