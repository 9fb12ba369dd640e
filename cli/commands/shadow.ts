import { setTimeout } from 'node:timers/promises';
import { Argument, Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { Observation } from '../../shared/api/observation.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { observationOf } from '../../shared/preview/observation.ts';
import { preview } from '../../shared/preview/preview.ts';
import { callersAccess } from '../aws-access.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { type PricedClusterOptions, withLiveCluster, withPricedClusterOptions } from '../live.ts';
import { marketOf } from '../market.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { previewedOn } from '../plan/basis.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { recordedObservations } from '../shadow/bucket.ts';
import { observationsIn, recorderTo } from '../shadow/file.ts';
import type { ShadowReport } from '../shadow/model.ts';
import { shadowText } from '../shadow/render.ts';
import { METHOD, shadowReport } from '../shadow/report.ts';
import { givenRegion, stackBucket } from '../stack-bucket.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { timeSpan } from '../time-span.ts';

interface Options extends PricedClusterOptions, SettingsOptions, QuietOptions {
  readonly every?: number;
  readonly for?: number;
  readonly cluster?: string;
  readonly since: number;
  readonly output: OutputFormat<'text'>;
  readonly html?: string;
}

/** Of `record` alone, of `report` alone, and of a report from the bucket alone. */
const OWN = {
  record: ['every', 'for', 'kubeconfig', 'context', 'catalog', 'featureGates', 'effort'],
  report: ['html', 'cluster', 'since', 'quiet'],
} as const;
const OF_BUCKET = ['cluster', 'region', 'bucket', 'since'];
const DAY_MS = 24 * 3_600_000;

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
async function addTo(add: ReturnType<typeof recorderTo>, options: Options): Promise<void> {
  try {
    const observation = await observe(options);
    add(observation);
    const { launches, removals, pending } = observation;
    writeErr(
      `${observation.at}: ${pending.length} pending pods, ${launches.length} planned nodes, ` +
        `${removals.length} nodes to remove\n`,
    );
  } catch (error) {
    if (options.every === undefined || error instanceof BadInput) throw error;
    writeErr(`warning: ${error instanceof Error ? error.message : String(error)}\n`);
  }
}

async function record(file: string, options: Options): Promise<number> {
  const { every, for: spanMs = Number.POSITIVE_INFINITY } = options;
  const startedMs = performance.now();
  const add = recorderTo(file);
  await addTo(add, options);
  if (every === undefined) return 0;
  for (let at = 1; at * every <= spanMs; at += 1) {
    await setTimeout(Math.max(0, startedMs + at * every - performance.now()));
    await addTo(add, options);
  }
  return 0;
}

/** What a report is made from. */
interface Source {
  /** Where from, for people. */
  readonly name: string;
  readonly observations: readonly Observation[];
  /** What could not be read, a line each. */
  readonly notes: readonly string[];
}

/** From the bucket of a stack with `shadow`. */
async function fromBucket(cluster: string, options: Options): Promise<Source> {
  const region = givenRegion(options.region);
  if (region === undefined) throw new BadInput(['give --region, or set AWS_REGION']);
  const access = callersAccess(region, 'shadow');
  const bucket = options.bucket ?? (await stackBucket(access, cluster));
  const found = await withProgress(options, (progress) =>
    recordedObservations(access, { bucket, cluster }, options.since, progress),
  );
  return { name: `bucket ${bucket}, cluster ${cluster}`, ...found };
}

/** A report is of one cluster, between two times. */
function checkSource({ name, observations }: Source): void {
  const clusters = [...new Set(observations.map(({ cluster }) => cluster))];
  if (clusters.length > 1) {
    throw new BadInput([`${name}: has observations of several clusters: ${clusters.join(', ')}`]);
  }
  const times = new Set(observations.map(({ at }) => at)).size;
  if (times < 2) {
    throw new BadInput([`${name}: a report needs two observations at least, there are ${times}`]);
  }
}

function resultOf(report: ShadowReport): object {
  return { joiner: packageJson.version, ...report, method: METHOD };
}

/** A word of a command line, as a shell reads it. */
function word(text: string): string {
  return /^[\w./:@%+=,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** The options that name the bucket, as they were given. */
function bucketWords({ cluster = '', region, bucket, since }: Options): string {
  const named = Object.entries({ region, bucket }).flatMap(([name, value]) =>
    value === undefined ? [] : [`--${name} ${word(value)}`],
  );
  const minutes = Math.round(since / 60_000);
  const span = since === DAY_MS ? [] : [`--since ${minutes}m`];
  return [`--cluster ${word(cluster)}`, ...named, ...span].join(' ');
}

async function report(file: string | undefined, options: Options): Promise<number> {
  checkPage(options);
  const source =
    file === undefined
      ? await fromBucket(options.cluster ?? '', options)
      : { name: file, ...observationsIn(file) };
  for (const note of source.notes) writeErr(`warning: ${note}\n`);
  checkSource(source);
  const found = shadowReport(source.observations);
  const { output } = options;
  writeOut(isDocument(output) ? documentText(resultOf(found), output) : shadowText(found));
  const subject = `report ${file === undefined ? bucketWords(options) : word(file)}`;
  await writePage(options, { command: 'shadow', subject, json: resultOf(found) });
  return 0;
}

/** Options of the other action or of another source, which would be ignored, and what is missing. */
function checkOptions(
  action: 'record' | 'report',
  file: string | undefined,
  command: Command,
): void {
  const foreign: readonly string[] = OWN[action === 'record' ? 'report' : 'record'];
  const isGiven = (name: string): boolean => command.getOptionValueSource(name) === 'cli';
  const given = command.options.filter((option) => isGiven(option.attributeName()));
  const faults = given
    .filter((option) => foreign.includes(option.attributeName()))
    .map(({ long }) => `${long}: has no meaning for joiner shadow ${action}`);
  const isOfFile = action === 'report' && file !== undefined;
  const ofBucket = given.filter((option) => OF_BUCKET.includes(option.attributeName()));
  if (isOfFile && ofBucket.length > 0) {
    faults.push(`${ofBucket.map(({ long }) => long).join(', ')}: has no meaning with a file`);
  }
  if (action === 'record' && file === undefined) faults.push('record: give a file');
  if (action === 'report' && file === undefined && !isGiven('cluster')) {
    faults.push('report: give a file, or --cluster of a stack with shadow');
  }
  if (isGiven('for') && !isGiven('every')) faults.push('--for: give --every, too');
  if (faults.length > 0) throw new BadInput(faults);
}

/** `joiner shadow`: what Joiner would do in a cluster that Karpenter runs, beside what happens. */
export function shadowCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('shadow')))
    .description(
      'report what Joiner would have done beside Karpenter, or record it in a file (read-only)',
    )
    .addArgument(new Argument('<action>', 'what to do').choices(['record', 'report']))
    .argument('[file]', 'observations, a line of JSON each: record appends, report reads it')
    .option('--cluster <name>', "report from the bucket of the EKS cluster's stack with shadow")
    .addOption(
      new Option('--since <time>', 'how far back the report from the bucket goes')
        .argParser(timeSpan)
        .default(DAY_MS, '24h'),
    )
    .addOption(
      new Option('--every <time>', 'record again after this time, from 1m on').argParser(timeSpan),
    )
    .addOption(
      new Option('--for <time>', 'stop after this time; default: never').argParser(timeSpan),
    )
    .addOption(outputOption('text'))
    .addOption(quietOption())
    .option(...HTML_OPTION)
    .addHelpText('after', HELP)
    .action(
      (action: 'record' | 'report', file: string | undefined, options: Options, command: Command) =>
        reporting(async () => {
          checkOptions(action, file, command);
          return action === 'record'
            ? await record(file ?? '', options)
            : await report(file, options);
        }),
    );
}

const HELP = `
Examples:
  joiner shadow report --cluster production --since 7d --html shadow.html
  joiner shadow record shadow.ndjson --every 1m --for 8h
  joiner shadow report shadow.ndjson

A stack that is deployed with -c shadow=true records once a minute in its bucket. --region and
--bucket find the bucket as for joiner decisions; it needs s3:ListBucket and s3:GetObject, and
lambda:GetFunctionConfiguration without --bucket.

record needs no stack: it reads the cluster and writes to the file alone. joiner schema shadow
prints the JSON Schema of the report's document. How each figure is made:
${pageUrl('migrate/karpenter.md')}`;
