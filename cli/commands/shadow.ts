import { appendFileSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { Argument, Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { type Observation, observationSchema } from '../../shared/api/observation.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { parsedJson } from '../../shared/core/parsed-json.ts';
import { observationOf } from '../../shared/preview/observation.ts';
import { preview } from '../../shared/preview/preview.ts';
import { BadInput, reporting, unreadable } from '../bad-input.ts';
import { type PricedClusterOptions, withLiveCluster, withPricedClusterOptions } from '../live.ts';
import { marketOf } from '../market.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { previewedOn } from '../plan/basis.ts';
import { shadowText } from '../shadow/render.ts';
import { METHOD, type ShadowReport, shadowReport } from '../shadow/report.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { timeSpan } from '../time-span.ts';

interface Options extends PricedClusterOptions, SettingsOptions {
  readonly every?: number;
  readonly for?: number;
  readonly output: OutputFormat<'text'>;
  readonly html?: string;
}

/** Of `record` alone, and of `report` alone. */
const OWN = {
  record: ['every', 'for', 'kubeconfig', 'context', 'region', 'bucket', 'catalog', 'settings'],
  report: ['html'],
} as const;

async function observe(options: Options): Promise<Observation> {
  return await withLiveCluster('joiner-shadow', options, async (live) => {
    const market = await marketOf(live, options);
    const { stack } = live.settings(options);
    const previewed = await previewedOn(market, live, stack);
    return observationOf(previewed, await preview(previewed), {
      cluster: live.url,
      joiner: packageJson.version,
    });
  });
}

/** Adds one observation; where that fails between others it is a gap, and a line of what failed. */
async function addTo(file: string, options: Options): Promise<void> {
  try {
    const observation = await observe(options);
    appendFileSync(file, `${JSON.stringify(observation)}\n`);
    const { launches, removals, pending } = observation;
    process.stderr.write(
      `${observation.at}: ${pending.length} pending pods, ${launches.length} planned nodes, ` +
        `${removals.length} nodes to remove\n`,
    );
  } catch (error) {
    if (options.every === undefined || error instanceof BadInput) throw error;
    process.stderr.write(`warning: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function record(file: string, options: Options): Promise<number> {
  const { every, for: spanMs = Number.POSITIVE_INFINITY } = options;
  const startedMs = performance.now();
  await addTo(file, options);
  if (every === undefined) return 0;
  for (let at = 1; at * every <= spanMs; at += 1) {
    await setTimeout(Math.max(0, startedMs + at * every - performance.now()));
    await addTo(file, options);
  }
  return 0;
}

/** The observations of a file; a line that is none is refused, with its number. */
function observationsIn(file: string): readonly Observation[] {
  let text = '';
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
  const lines = text.split('\n').map((line, at) => ({ line, at: at + 1 }));
  const read = lines
    .filter(({ line }) => line.trim() !== '')
    .map(({ line, at }) => {
      const { data, error } = observationSchema.safeParse(parsedJson(line));
      if (data === undefined) {
        const [issue] = error.issues;
        throw new BadInput([
          `${file}:${at}: is no observation: ${issue?.path.join('.') ?? ''} ${issue?.message ?? ''}`,
        ]);
      }
      return data;
    });
  const clusters = [...new Set(read.map(({ cluster }) => cluster))];
  if (clusters.length > 1) {
    throw new BadInput([`${file}: has observations of several clusters: ${clusters.join(', ')}`]);
  }
  if (new Set(read.map(({ at }) => at)).size < 2) {
    throw new BadInput([`${file}: a report needs two observations at least`]);
  }
  return read;
}

function resultOf(report: ShadowReport): object {
  return { joiner: packageJson.version, ...report, method: METHOD };
}

async function report(file: string, options: Options): Promise<number> {
  checkPage(options);
  const found = shadowReport(observationsIn(file));
  const { output } = options;
  process.stdout.write(
    isDocument(output) ? documentText(resultOf(found), output) : shadowText(found),
  );
  await writePage(options, { command: 'shadow', subject: file, json: resultOf(found) });
  return 0;
}

/** Options of the other action, which would be ignored. */
function checkOptions(action: 'record' | 'report', command: Command): void {
  const foreign: readonly string[] = OWN[action === 'record' ? 'report' : 'record'];
  const faults = command.options
    .filter((option) => foreign.includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map(({ long }) => `${long}: has no meaning for joiner shadow ${action}`);
  if (faults.length > 0) throw new BadInput(faults);
  if (
    command.getOptionValue('for') !== undefined &&
    command.getOptionValue('every') === undefined
  ) {
    throw new BadInput(['--for: give --every, too']);
  }
}

/** `joiner shadow`: what Joiner would do in a cluster that Karpenter runs, beside what happens. */
export function shadowCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('shadow')))
    .description("record Joiner's plans beside Karpenter in a file, and report on it (read-only)")
    .addArgument(new Argument('<action>', 'what to do').choices(['record', 'report']))
    .argument('<file>', 'observations, a line of JSON each; record appends to it')
    .addOption(
      new Option('--every <time>', 'record again after this time, from 1m on').argParser(timeSpan),
    )
    .addOption(
      new Option('--for <time>', 'stop after this time; default: never').argParser(timeSpan),
    )
    .addOption(outputOption('text'))
    .option(...HTML_OPTION)
    .addHelpText('after', HELP)
    .action((action: 'record' | 'report', file: string, options: Options, command: Command) =>
      reporting(async () => {
        checkOptions(action, command);
        return action === 'record' ? await record(file, options) : await report(file, options);
      }),
    );
}

const HELP = `
Examples:
  joiner shadow record shadow.ndjson --every 1m --for 8h
  joiner shadow report shadow.ndjson --html shadow.html

record reads the cluster and writes to the file alone. joiner schema shadow prints the JSON Schema
of the report's document. How each figure is made: ${pageUrl('migrate/karpenter.md')}`;
