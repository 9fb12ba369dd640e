import { writeFileSync } from 'node:fs';
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { encodeResult, type Timings } from '../../shared/api/case/encode.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { launchWays } from '../../shared/core/launch/pod-groups.ts';
import type { ClusterState } from '../../shared/ports.ts';
import type { Previewed } from '../../shared/preview/copy.ts';
import { sharedGroupNotes } from '../../shared/preview/dry-group-usages.ts';
import { dryRun } from '../../shared/preview/dry-run.ts';
import { type Preview, preview, previewOf } from '../../shared/preview/preview.ts';
import { BadInput, Problems, reporting, unreadable } from '../bad-input.ts';
import { clusterUid } from '../cluster-uid.ts';
import {
  heldBackNotes,
  type LiveCluster,
  noteLines,
  type PricedClusterOptions,
  withLiveCluster,
  withPricedClusterOptions,
} from '../live.ts';
import { marketOf } from '../market.ts';
import { documentText, isDocument, type OutputFormat, outputOption } from '../output.ts';
import { previewPacking } from '../packing/preview.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { previewedOn } from '../plan/basis.ts';
import { withChanges } from '../plan/changes.ts';
import { decisionsOf } from '../plan/decisions.ts';
import { partsTo } from '../plan/parts.ts';
import { type PlanFile, planFileText } from '../plan/plan-file.ts';
import { renderDifference, renderPreview } from '../plan/render.ts';
import { type Progress, type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { loadManifests } from '../simulate/load.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends PricedClusterOptions, SettingsOptions, QuietOptions {
  readonly filename: readonly string[];
  readonly var: readonly string[];
  readonly output: OutputFormat<'table'>;
  readonly strict?: boolean;
  readonly out?: string;
  readonly html?: string;
}

/** As `terraform plan -detailed-exitcode` and `kubectl diff` have a code of their own for it. */
const CHANGES = 3;

/** What was asked, answered. */
interface Answer {
  readonly url: string;
  /** Where the prices come from. */
  readonly source: string;
  readonly now: Preview;
  /** With the manifests; undefined: none were given. */
  readonly changed: Preview | undefined;
  readonly notes: readonly string[];
  readonly timings: Timings;
}

/** The names of what manifests may refer to. */
function knownObjects({ nodeClasses }: ClusterState) {
  return nodeClasses.map(({ name }) => ({ kind: 'EC2NodeClass', metadata: { name } }));
}

/** What nodes are changes, and with it the reason for which nothing is launched for a pod. */
function afterChanges({ backoffs, ...previewed }: Previewed, state: ClusterState): Previewed {
  const ways = ({ objects, nodeClasses }: ClusterState) => launchWays(objects, nodeClasses);
  const isSame = backoffs !== undefined && ways(state) === ways(previewed.state);
  return { ...previewed, state, ...(isSame ? { backoffs } : {}) };
}

async function answer(live: LiveCluster, options: Options, progress: Progress): Promise<Answer> {
  const { url, state, nowMs, unreadable, readMs } = live;
  progress.begin('reading prices');
  const market = await marketOf(live, options);
  const { region } = market.catalog;
  const problems = new Problems();
  const given = variablesOf(options.var, problems);
  const notes: string[] = [];
  const variables = new Map([['AWS_REGION', region], ...given]);
  const note = (line: string): void => void notes.push(line);
  const { filename } = options;
  const manifests = problems.collect(() =>
    filename.length === 0
      ? []
      : loadManifests(filename, region, variables, note, knownObjects(state), 'live'),
  );
  const changes = withChanges(state, problems.checked(manifests), live.namespace);
  const { stack, notes: said } = live.settings(options);
  const previewed = await previewedOn(market, live, stack);
  const [started, cpu] = [performance.now(), process.cpuUsage()];
  const pass = await dryRun(previewed, { onPart: partsTo(progress) });
  const now = await previewOf(pass, previewed);
  const changed =
    filename.length === 0
      ? undefined
      : await preview(afterChanges(previewed, changes.state), {
          onPart: partsTo(progress, 'with the changes: '),
        });
  const timings = timingsOf(readMs, started, cpu);
  notes.unshift(...unreadable);
  notes.push(...changes.notes, ...said, ...market.notes);
  notes.push(...sharedGroupNotes(stack.useCases, market.groupUsages));
  notes.push(...heldBackNotes(state, nowMs));
  const { source } = previewed.catalog;
  if (options.out !== undefined) {
    const decisions = decisionsOf(pass, previewed);
    const about = { region, source, notes, pricePerHour: now.pricePerHour };
    await writePlan(options.out, live, { ...about, decisions: [...decisions] });
  }
  return { url, source, now, changed, notes, timings };
}

/** The file that `joiner apply` reads. */
async function writePlan(
  file: string,
  { client, url, nowMs, place }: LiveCluster,
  plan: Pick<PlanFile, 'region' | 'source' | 'notes' | 'pricePerHour' | 'decisions'>,
): Promise<void> {
  const { version: joiner } = packageJson;
  const cluster = { uid: await clusterUid(client), server: url, name: place.cluster ?? null };
  const text = planFileText({ joiner, madeAt: new Date(nowMs).toISOString(), cluster, ...plan });
  try {
    writeFileSync(file, text);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** Reading the cluster is the set-up; all that was decided, with and without manifests, the rest. */
function timingsOf(readMs: number, startedMs: number, before: NodeJS.CpuUsage): Timings {
  const { user, system } = process.cpuUsage(before);
  return {
    setupMs: Math.round(readMs),
    solveMs: Math.round(performance.now() - startedMs),
    cpuMs: Math.round((user + system) / 1000),
    playbackMs: 0,
    maxRssMiB: Math.round(process.resourceUsage().maxRSS / 1024),
  };
}

/** The shape of `solve`, and what it does not know of. */
function encoded({ timings }: Answer, preview: Preview): object {
  const { plan, overlays, snapshot: _, ...rest } = preview;
  const stranded = { orders: 0, pods: 0 };
  const { version: joiner } = packageJson;
  const parts = { joiner, plan, overlays, rejected: {}, timings, stranded, bound: undefined };
  return { ...encodeResult(parts), ...rest, packing: previewPacking(preview) };
}

function resultOf(answer: Answer): object {
  const { url, source, now, changed, notes } = answer;
  const about = { cluster: url, source, notes };
  return changed === undefined
    ? { ...about, ...encoded(answer, now) }
    : { ...about, ...encoded(answer, changed), before: encoded(answer, now) };
}

function asText({ url, source, now, changed, notes }: Answer): string {
  const head = `${url}\n${source.split(' (')[0] ?? source}`;
  const said = noteLines(notes).trimEnd();
  const parts =
    changed === undefined
      ? [renderPreview(now)]
      : [
          `AS IT IS\n\n${renderPreview(now)}`,
          `WITH THE CHANGES\n\n${renderPreview(changed)}`,
          renderDifference(now, changed),
        ];
  return `${[head, ...(said === '' ? [] : [said]), ...parts].join('\n\n')}\n`;
}

async function run(options: Options): Promise<number> {
  if (options.out !== undefined && options.filename.length > 0) {
    throw new BadInput([
      '--out plans the live cluster and cannot be combined with -f: apply the manifests first',
    ]);
  }
  checkPage(options);
  const found = await withProgress(options, async (progress) => {
    progress.begin('reading the cluster');
    return await withLiveCluster('joiner-plan', options, (live) => answer(live, options, progress));
  });
  writeOut(
    isDocument(options.output) ? documentText(resultOf(found), options.output) : asText(found),
  );
  const { url: subject } = found;
  await writePage(options, { command: 'plan', subject, json: resultOf(found) });
  if (options.out !== undefined) writeErr(`${options.out}: for joiner apply\n`);
  const { launches, removals, plan } = found.changed ?? found.now;
  if (options.strict === true && plan.unplaced.size > 0) return 1;
  return launches.length + removals.length > 0 ? CHANGES : 0;
}

/** `joiner plan`: what would be launched, moved or removed now, and what manifests would change. */
export function planCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('plan')))
    .description('preview the launches and disruptions of a live cluster (read-only)')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing to do, 3 something to do, 1 it failed (with --strict also: pods stay ' +
        `pending),\n2 bad input. What the preview covers: ${pageUrl('plan.md')}`,
    )
    .option(
      '-f, --filename <paths...>',
      'preview the effect of these changed manifests; - is standard input',
      [],
    )
    .option('--var <name=value>', 'the value of a variable in the manifests', collect, [])
    .addOption(outputOption('table'))
    .option('--out <file>', 'write the decisions to a file for joiner apply')
    .option(...HTML_OPTION)
    .addOption(quietOption())
    .option('--strict', 'exit 1 if pods stay pending')
    .action((options: Options) => reporting(() => run(options)));
}
