import { Command, CommanderError } from 'commander';
import packageJson from '../package.json' with { type: 'json' };
import { budgetsCommand } from './commands/budgets.ts';
import { compareCommand } from './commands/compare.ts';
import { convertCommand } from './commands/convert.ts';
import { costCommand } from './commands/cost.ts';
import { crdsCommand } from './commands/crds.ts';
import { diagnoseCommand } from './commands/diagnose.ts';
import { doctorCommand } from './commands/doctor.ts';
import { explainCommand } from './commands/explain.ts';
import { pauseCommand, resumeCommand } from './commands/pause.ts';
import { planCommand } from './commands/plan.ts';
import { releaseCommand } from './commands/release.ts';
import { replayCommand } from './commands/replay.ts';
import { simulateCommand } from './commands/simulate.ts';
import { solveCommand } from './commands/solve.ts';
import { topCommand } from './commands/top.ts';

/** Exit codes: 0 done, 1 the thing asked failed, 2 bad usage or bad input; `plan`: 3 something to do. */
const USAGE = 2;

/** The whole command line; commander's own errors become exit code 2. */
export function program(): Command {
  const root = new Command('joiner')
    .description('nodes for your pods, and no pod in your cluster')
    .version(packageJson.version)
    .showHelpAfterError('(joiner --help shows what there is)');
  const commands = [
    compareCommand(),
    simulateCommand(),
    replayCommand(),
    solveCommand(),
    planCommand(),
    explainCommand(),
    topCommand(),
    budgetsCommand(),
    diagnoseCommand(),
    convertCommand(),
    crdsCommand(),
    doctorCommand(),
    costCommand(),
    pauseCommand(),
    resumeCommand(),
    releaseCommand(),
  ];
  for (const command of commands) root.addCommand(command.copyInheritedSettings(root));
  for (const command of [root, ...root.commands]) command.exitOverride();
  return root;
}

/** Runs one command line (`argv` as in `process.argv`); sets `process.exitCode`. */
export async function main(argv: readonly string[]): Promise<void> {
  try {
    await program().parseAsync([...argv]);
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? 0 : USAGE;
      return;
    }
    const text = error instanceof Error ? error.message : String(error);
    process.stderr.write(`error: ${text}\n`);
    process.exitCode = 1;
  }
}

process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  // The reader of a pipe may leave early: `joiner crds | head`.
  if (error.code === 'EPIPE') process.exit(0);
  throw error;
});

if (import.meta.main) await main(process.argv);
