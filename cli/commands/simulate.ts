import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Command } from 'commander';
import { type StackSettings, stackSettings } from '../../shared/app/settings.ts';
import type { Catalog } from '../../shared/catalog/facts.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { DEFAULT_SETTINGS } from '../../shared/contract/settings.ts';
import { parseDurationOrDaysMs } from '../../shared/core/duration.ts';
import type { Ports } from '../../shared/ports.ts';
import { sharedGroupNotes } from '../../shared/preview/dry-group-usages.ts';
import type { FinalState } from '../../shared/sim/report.ts';
import { Problems, reporting } from '../bad-input.ts';
import { type Effort, effortOption } from '../effort.ts';
import {
  type OfflineCatalogOptions,
  offlineCatalog,
  withOfflineCatalog,
} from '../offline-catalog.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { BARE, bareNotes, inEksCluster } from '../simulate/eks-cluster.ts';
import { loadManifests } from '../simulate/load.ts';
import { podCounts } from '../simulate/pod-counts.ts';
import { SimulationProgress } from '../simulate/progress.ts';
import { DECISIONS, FINAL_STATE, makeRecordFolder, recordingTo } from '../simulate/recordings.ts';
import { reservationNotes } from '../simulate/remarks.ts';
import { renderFinalState, type View } from '../simulate/render.ts';
import { prepareSimulation, runUntil, type Simulation } from '../simulate/run.ts';
import { readScenario, scenarioFiles } from '../simulate/scenario-file.ts';
import { readSettings } from '../simulate/settings-file.ts';
import { unknownValueNotes } from '../simulate/unknown-values.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { writeErr, writeOut } from '../terminal.ts';

/** More than a year takes hours, and nobody reads its timeline. */
const DURATION_MAX_MS = 366 * 86_400_000;

interface SimulateOptions extends OfflineCatalogOptions, QuietOptions {
  readonly duration: string;
  readonly seed: string;
  readonly scenario?: string;
  readonly var: readonly string[];
  readonly record?: string;
  readonly output: OutputFormat<'text'>;
  readonly strict?: boolean;
  readonly filename: readonly string[];
  readonly bare?: boolean;
  readonly settings?: string;
  readonly effort?: Effort;
  readonly verbose?: boolean;
  readonly html?: string;
}

function record(folder: string, state: FinalState): void {
  const write = (name: string, value: unknown): void =>
    writeFileSync(join(folder, name), `${JSON.stringify(value, null, 2)}\n`);
  write(FINAL_STATE, state);
  const lines = state.decisions.map((each) => JSON.stringify(each));
  writeFileSync(join(folder, DECISIONS), lines.map((line) => `${line}\n`).join(''));
}

function isImperfect(state: FinalState): boolean {
  return (
    state.pods.pending.length > 0 ||
    [...state.nodeOverlays, ...state.nodePools].some((each) => !each.ready) ||
    Object.keys(state.rejected).length > 0
  );
}

/** The settings with an effort that is given instead of theirs. */
function withEffort(
  stack: StackSettings | undefined,
  effort: Effort | undefined,
): StackSettings | undefined {
  if (effort === undefined) return stack;
  const { useCases, ...rest } = stack ?? stackSettings(DEFAULT_SETTINGS);
  return { ...rest, useCases: { ...useCases, scheduling: { ...useCases.scheduling, effort } } };
}

/** Options and files, read and checked; every problem at once. */
function readInput(paths: readonly string[], options: SimulateOptions, catalog: Catalog) {
  const problems = new Problems();
  const variables = variablesOf(options.var, problems);
  const duration = parseDurationOrDaysMs(options.duration);
  if (duration === undefined || duration <= 0 || duration > DURATION_MAX_MS) {
    const expected = 'a time of at most 366d, such as 90s, 1h30m or 2d';
    problems.add(`--duration ${options.duration}: expected ${expected}`);
  }
  const { region } = catalog;
  if (!/^\d{1,9}$/.test(options.seed)) {
    problems.add(`--seed ${options.seed}: expected a whole number of at most 9 digits`);
  }
  const all = [...paths, ...options.filename];
  if (all.length === 0) problems.add('give at least one file or folder of manifests');
  const manifests = problems.collect(() => loadManifests(all, region, variables, note)) ?? [];
  for (const line of unknownValueNotes(manifests, catalog)) note(line);
  if (options.bare === true) for (const line of bareNotes(manifests)) note(line);
  const load = (path: string) => loadManifests([path], region, variables, note, manifests);
  const file = options.scenario;
  const scenario =
    file === undefined ? undefined : problems.collect(() => readScenario(file, catalog, duration));
  for (const line of reservationNotes(manifests, scenario)) note(line);
  const stated = options.settings;
  const read = stated === undefined ? undefined : problems.collect(() => readSettings(stated));
  const stack = withEffort(read, options.effort);
  const { record: folder } = options;
  if (folder !== undefined) problems.collect(() => makeRecordFolder(folder));
  if (stack !== undefined) for (const line of sharedGroupNotes(stack.useCases)) note(line);
  const files = scenario && problems.collect(() => scenarioFiles(scenario, file ?? '.', load));
  return {
    duration: problems.checked(duration),
    input: {
      catalog,
      seed: Number(options.seed),
      manifests: options.bare === true ? manifests : inEksCluster(manifests, note),
      scenario,
      files: files ?? new Map(),
      ...(stack === undefined ? {} : { stack }),
    },
  };
}

function note(line: string): void {
  writeErr(`joiner: ${line}\n`);
}

function viewOf({ world, source }: Simulation, { verbose }: SimulateOptions): View {
  return { source, pods: podCounts(world), verbose: verbose === true };
}

/** Runs one simulation; the exit code. Progress and notes go to stderr. */
async function simulate(paths: readonly string[], options: SimulateOptions): Promise<number> {
  checkPage(options);
  const { duration, input } = readInput(paths, options, await offlineCatalog(options));
  const { record: folder } = options;
  const wraps = folder === undefined ? [] : [recordingTo(folder)];
  const { simulation, state } = await withProgress(options, async (terminal) => {
    const progress = new SimulationProgress(terminal, options.duration);
    const all = [...wraps, (ports: Ports): Ports => progress.wrap(ports)];
    const wrap = (ports: Ports): Ports => all.reduce((inner, each) => each(inner), ports);
    const prepared = await prepareSimulation({ ...input, wrap });
    const { region } = input.catalog;
    terminal.begin(`simulating ${options.duration} in ${region}, seed ${input.seed}`);
    progress.of(prepared.world);
    return { simulation: prepared, state: await runUntil(prepared, duration) };
  });
  if (folder !== undefined) record(folder, state);
  const { film, source } = simulation;
  const result = { ...state, source, packing: film.packing(), history: film.history() };
  const text = isDocument(options.output)
    ? documentText(result, options.output)
    : renderFinalState(state, viewOf(simulation, options));
  writeOut(text);
  const subject = [...paths, ...options.filename].join(' ');
  await writePage(options, { command: 'simulate', subject, json: result });
  return options.strict === true && isImperfect(state) ? 1 : 0;
}

/** `joiner simulate`: the real use cases on a simulated cluster and cloud. */
export function simulateCommand(): Command {
  return withOfflineCatalog(new Command('simulate'))
    .description('run Joiner on manifests in a simulated cluster and cloud')
    .argument('[paths...]', 'files or folders of manifests; - is standard input')
    .option('-f, --filename <paths...>', 'the same as the arguments', [])
    .option('--duration <time>', 'virtual time to run', '30m')
    .option('--seed <number>', 'the seed of all randomness', '1')
    .option(...BARE)
    .option(
      '--settings <file>',
      "the stack's settings: props of the construct, or the ConfigMap kube-system/joiner-settings",
    )
    .addOption(effortOption())
    .option('--scenario <file>', 'scheduled events, such as scaling or interruptions')
    .option('--var <name=value>', 'the value of a variable in the manifests', collect, [])
    .option(
      '--record <folder>',
      'write the final state, the decisions and their snapshots to this folder',
    )
    .addOption(outputOption('text'))
    .option('-v, --verbose', 'print long lists, such as the timeline, in full')
    .option(...HTML_OPTION)
    .addOption(quietOption())
    .option('--strict', 'exit 1 if pods stay pending, or a NodePool or NodeOverlay is not ready')
    .addHelpText('after', `\nThe format of scenarios: ${pageUrl('scenarios.md')}`)
    .action((paths: readonly string[], options: SimulateOptions) =>
      reporting(() => simulate(paths, options)),
    );
}
