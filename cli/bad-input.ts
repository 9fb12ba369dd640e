/** Bad input: every problem on a line of its own, exit code 2. */
export class BadInput extends Error {
  override readonly name = 'BadInput';
  readonly problems: readonly string[];

  constructor(problems: readonly string[]) {
    super(problems.join('\n'));
    this.problems = problems;
  }
}

/** Exit codes: 0 done, 1 the thing asked failed, 2 bad usage or bad input. */
export const BAD_INPUT = 2;

/** Runs a command's work; what is wrong with its input goes to stderr, and the exit code says so. */
export async function reporting(work: () => Promise<number>): Promise<void> {
  try {
    process.exitCode = await work();
  } catch (error) {
    if (!(error instanceof BadInput)) throw error;
    for (const problem of error.problems) process.stderr.write(`error: ${problem}\n`);
    process.exitCode = BAD_INPUT;
  }
}
