import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { pageUrl } from '../../shared/contract/pages.ts';
import { type Currency, currencyOf } from '../../shared/core/model/currency.ts';
import { meteredUsage } from '../../shared/kube/pod-metrics.ts';
import type { Advised } from '../advise/advice.ts';
import { type AdviceFound, adviceFor } from '../advise/advise.ts';
import { recordedSubject, recordingAt } from '../advise/recorded.ts';
import { adviceText, METHOD } from '../advise/render.ts';
import { usageOfFile } from '../advise/usage.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { runningCluster } from '../compare/subject.ts';
import { type PricedClusterOptions, withLiveCluster, withPricedClusterOptions } from '../live.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends PricedClusterOptions, SettingsOptions, QuietOptions {
  readonly metrics?: string;
  readonly output: OutputFormat<'text'>;
}

/** What is advised on, and what it is called. */
interface About {
  readonly subject: Advised;
  /** The API server's address, or the recording's file. */
  readonly name: string;
  readonly currency: Currency;
}

const CLUSTER_OPTIONS = [
  'kubeconfig',
  'context',
  'region',
  'bucket',
  'catalog',
  'featureGates',
  'effort',
];

function refuseClusterOptions(command: Command): void {
  const faults = command.options
    .filter((option) => CLUSTER_OPTIONS.includes(option.attributeName()))
    .filter((option) => command.getOptionValue(option.attributeName()) !== undefined)
    .map(({ long }) => `${long}: give either a recording or a cluster`);
  if (faults.length > 0) throw new BadInput(faults);
}

function ofRecording(path: string, options: Options): About {
  const { metrics } = options;
  const usage = metrics === undefined ? undefined : usageOfFile(metrics);
  const named = recordingAt(path);
  const subject = recordedSubject(named, usage);
  return { subject, name: named.file, currency: subject.scheduling.currency };
}

async function ofCluster(options: Options): Promise<About> {
  const { metrics } = options;
  const given = metrics === undefined ? undefined : usageOfFile(metrics);
  return await withLiveCluster('joiner-advise', options, async (live) => {
    const running = await runningCluster(live, options);
    const metered = given ?? (await meteredUsage(live.client));
    const unmetered =
      'missing' in metered ? [`requests are not compared with usage: ${metered.missing}`] : [];
    const usage = 'missing' in metered ? undefined : metered;
    const subject = { ...running, usage, notes: [...running.notes, ...unmetered] };
    return { subject, name: live.url, currency: currencyOf(running.region) };
  });
}

function asDocument(
  { subject, name, currency }: About,
  found: AdviceFound,
  format: DocumentFormat,
) {
  const head = { joiner: packageJson.version, of: name, at: new Date(subject.nowMs).toISOString() };
  return documentText({ ...head, currency, ...found, method: METHOD }, format);
}

async function run(
  recording: string | undefined,
  options: Options,
  command: Command,
): Promise<number> {
  if (recording !== undefined) refuseClusterOptions(command);
  const { about, found } = await withProgress(options, async (progress) => {
    progress.begin(recording === undefined ? 'reading the cluster' : 'reading the recording');
    const read =
      recording === undefined ? await ofCluster(options) : ofRecording(recording, options);
    return { about: read, found: adviceFor(read.subject, progress) };
  });
  const { output } = options;
  if (isDocument(output)) {
    writeOut(asDocument(about, found, output));
    return 0;
  }
  for (const note of found.notes) writeErr(`note: ${note}\n`);
  const { nowMs } = about.subject;
  const subject = `${about.name} at ${new Date(nowMs).toISOString()}`;
  writeOut(adviceText(found, subject, about.currency));
  return 0;
}

/** `joiner advise`: changes that would make a cluster cheaper, from a recording or a live cluster. */
export function adviseCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('advise')))
    .description('list changes that would make a cluster cheaper, by their amount (read-only)')
    .argument(
      '[recording]',
      'a recording, or a folder of them, of which the last counts; default: the live cluster',
    )
    .option(
      '--metrics <file>',
      'usage of pods: the answer of metrics.k8s.io/v1beta1/pods; default: of the live cluster',
    )
    .addOption(outputOption('text'))
    .addOption(quietOption())
    .addHelpText('after', HELP)
    .action((recording: string | undefined, options: Options, command: Command) =>
      reporting(() => run(recording, options, command)),
    );
}

const HELP = `
Each amount is the difference of two plans: ${pageUrl('tasks/savings.md')}
Nothing is changed.`;
