import { Command, InvalidArgumentError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { SchedulingCase } from '../../shared/api/case/decode.ts';
import { encodeResult, type Timings } from '../../shared/api/case/encode.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import type { Plan } from '../../shared/core/model/plan.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { type OverlayReport, resolveOverlays } from '../../shared/core/overlay/resolve.ts';
import { strandedPods } from '../../shared/core/scheduling/playback/stranded.ts';
import type { SearchState } from '../../shared/core/scheduling/search/search-state.ts';
import { solved } from '../../shared/core/scheduling/solve.ts';
import { reporting } from '../bad-input.ts';
import { lowerBound } from '../bound/bound.ts';
import { caseOf, readJson } from '../case-file.ts';
import { type Effort, effortOption } from '../effort.ts';
import { type DocumentFormat, documentText, formatOption } from '../output.ts';
import { plannedPacking } from '../packing/planned.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { isWatched, type Progress, type QuietOptions, withProgress } from '../progress.ts';
import { summaryText, undone } from '../solve/summary.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends QuietOptions {
  readonly bound?: boolean;
  readonly html?: string;
  readonly effort?: Effort;
  readonly repeat: number;
  readonly output: DocumentFormat;
  readonly strict?: boolean;
}

interface Solved {
  readonly problem: SchedulingCase;
  readonly snapshot: ClusterSnapshot;
  readonly overlays: readonly OverlayReport[];
  readonly plan: Plan;
  readonly world: SearchState;
  readonly setupMs: number;
  readonly solveMs: number;
  readonly cpuMs: number;
}

function overlaid({ snapshot, settings }: SchedulingCase) {
  if (!settings.nodeOverlay) return { snapshot, overlays: [] };
  const { nodePools, instanceTypes, nodeOverlays } = snapshot;
  const resolved = resolveOverlays(nodePools, instanceTypes, nodeOverlays);
  return {
    snapshot: { ...snapshot, instanceTypes: resolved.instanceTypes },
    overlays: resolved.overlays,
  };
}

/** From parsed JSON to the plan, measured. */
function solveOnce(file: string, raw: unknown, effort: Effort | undefined): Solved {
  const cpu = process.cpuUsage();
  const start = performance.now();
  const read = caseOf(file, raw);
  const problem = effort === undefined ? read : { ...read, settings: { ...read.settings, effort } };
  const { snapshot, overlays } = overlaid(problem);
  const ready = performance.now();
  const { plan, state: world } = solved(snapshot, problem.settings);
  const solveMs = performance.now() - ready;
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = (user + system) / 1000;
  return { problem, snapshot, overlays, plan, world, setupMs: ready - start, solveMs, cpuMs };
}

function rounded(value: number): number {
  return Math.round(value * 1000) / 1000;
}

function costs({ setupMs, solveMs, cpuMs }: Solved) {
  return { setupMs: rounded(setupMs), solveMs: rounded(solveMs), cpuMs: rounded(cpuMs) };
}

function timingsOf(first: Solved, last: Solved | undefined, playbackMs: number): Timings {
  const maxRssMiB = rounded(process.resourceUsage().maxRSS / 1024);
  const warm = last === undefined ? {} : { warm: costs(last) };
  return { ...costs(first), playbackMs: rounded(playbackMs), maxRssMiB, ...warm };
}

/** The first and the last time. The file's JSON, as large as all else, ends with this. */
function solveRepeatedly(file: string, options: Options, progress: Progress) {
  const raw = readJson(file);
  progress.begin(`planning ${file}`);
  const first = solveOnce(file, raw, options.effort);
  let last: Solved | undefined;
  for (let each = 1; each < options.repeat; each++) {
    progress.say(() => `planned ${each} of ${options.repeat} times`);
    last = solveOnce(file, raw, options.effort);
  }
  return { first, last };
}

/** The plan as JSON and in a line, and whether it leaves something undone. */
async function solvedCase(file: string, options: Options, progress: Progress) {
  const { first, last } = solveRepeatedly(file, options, progress);
  const { problem, snapshot, plan, world, overlays } = first;
  progress.begin('binding the pods as kube-scheduler does');
  const finished = performance.now();
  const stranded = strandedPods(world);
  const timings = timingsOf(first, last, performance.now() - finished);
  const bound =
    options.bound === true
      ? await lowerBound(snapshot, problem.settings, plan, progress)
      : undefined;
  const { version: joiner } = packageJson;
  const { rejected } = problem;
  const result = {
    ...encodeResult({ joiner, plan, stranded, overlays, rejected, timings, bound }),
    packing: plannedPacking(snapshot, plan),
  };
  const isStrict = options.strict === true;
  const summary = summaryText({ plan, bound, overlays, isStrict });
  return { result, summary, isImperfect: undone({ plan, overlays }).length > 0 };
}

async function run(file: string, options: Options): Promise<number> {
  checkPage(options);
  const { result, summary, isImperfect } = await withProgress(options, (progress) =>
    solvedCase(file, options, progress),
  );
  writeOut(documentText(result, options.output));
  await writePage(options, { command: 'solve', subject: file, json: result });
  // Last, where people look; programs read the document, and scripts expect no text beside it.
  if (isWatched(options)) writeErr(summary);
  return options.strict === true && isImperfect ? 1 : 0;
}

function count(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1000) return value;
  throw new InvalidArgumentError('expected a whole number from 1 to 1000.');
}

/** `joiner solve`: one scheduling problem in, the plan out. */
export function solveCommand(): Command {
  return new Command('solve')
    .description('plan the nodes for the pods of a case file (JSON)')
    .argument('<case.json>', 'the case file; - is standard input')
    .addHelpText(
      'after',
      `\nThe format of case files: ${pageUrl('case.md')}\nAn example: examples/09-solve of joiner export examples`,
    )
    .option('--bound', "also compute a lower bound of the plan's cost")
    .addOption(effortOption())
    .option(
      '--repeat <n>',
      'solve the case n times in one process; timings.warm is the last run',
      count,
      1,
    )
    .addOption(formatOption('json', 'yaml'))
    .option(...HTML_OPTION)
    .option('-q, --quiet', 'show neither progress nor a summary on a terminal')
    .option('--strict', 'exit 1 if pods are unplaced or a NodeOverlay is not ready')
    .action((file: string, options: Options) => reporting(() => run(file, options)));
}
