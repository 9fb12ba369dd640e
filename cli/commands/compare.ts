import { Command, InvalidArgumentError } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { pageUrl } from '../../shared/contract/pages.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { type Comparison, compared, KARPENTER_VERSION, PLANS_MAX } from '../compare/comparison.ts';
import {
  type ManifestOptions,
  manifestSubject,
  refuseManifestOptions,
  withManifestOptions,
} from '../compare/manifest-subject.ts';
import { remarksOn, renderComparison, rulesOf } from '../compare/render.ts';
import { runningCluster, type Subject } from '../compare/subject.ts';
import { type PricedClusterOptions, withLiveCluster, withPricedClusterOptions } from '../live.ts';
import { documentText, type OutputFormat, outputOption } from '../output.ts';
import { checkPage, HTML_OPTION, writePage } from '../page/write.ts';
import { type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { writeOut } from '../terminal.ts';

interface Options extends PricedClusterOptions, SettingsOptions, ManifestOptions, QuietOptions {
  readonly filename: readonly string[];
  readonly plansMax: number;
  readonly bound?: boolean;
  readonly output: OutputFormat<'table'>;
  readonly html?: string;
}

function result(subject: Subject, comparison: Comparison): object {
  const { region, source, notes, isLive } = subject;
  return {
    joiner: packageJson.version,
    region,
    source,
    karpenter: { version: KARPENTER_VERSION, isPlayedByRules: true, rules: rulesOf(isLive) },
    ...comparison,
    notes: [...notes, ...remarksOn(comparison)],
  };
}

function textOf(subject: Subject, comparison: Comparison, output: Options['output']): string {
  if (output === 'table') return renderComparison(subject, comparison);
  return documentText(result(subject, comparison), output);
}

function plans(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  throw new InvalidArgumentError('expected a whole number from 1 to 1,000,000.');
}

async function subjectOf(paths: readonly string[], options: Options): Promise<Subject> {
  if (paths.length > 0) return manifestSubject(paths, options);
  refuseManifestOptions(options);
  return withLiveCluster('joiner-compare', options, (live) => runningCluster(live, options));
}

async function run(paths: readonly string[], options: Options): Promise<number> {
  checkPage(options);
  const all = [...paths, ...options.filename];
  const { subject, comparison } = await withProgress(options, async (progress) => {
    if (all.length === 0 && options.bound === true) {
      throw new BadInput(['--bound: only with manifests, not with a live cluster']);
    }
    if (all.length === 0) progress.begin('reading the cluster');
    const read = await subjectOf(all, options);
    const { plansMax, bound = false } = options;
    const found = await compared(read, { plansMax, progress, bound });
    return { subject: read, comparison: found };
  });
  writeOut(textOf(subject, comparison, options.output));
  const about = all.length > 0 ? all.join(' ') : 'the cluster';
  await writePage(options, {
    command: 'compare',
    subject: about,
    json: result(subject, comparison),
  });
  return 0;
}

/** `joiner compare`: what pods cost now, under Karpenter's rules, and under Joiner. */
export function compareCommand(): Command {
  return withManifestOptions(withSettingsOptions(withPricedClusterOptions(new Command('compare'))))
    .description("compare the cost of pods under Karpenter's rules and under Joiner (read-only)")
    .argument(
      '[paths...]',
      'files or folders of manifests; - is standard input; default: the live cluster',
    )
    .addHelpText(
      'after',
      `\nThe rules of Karpenter that the comparison follows: ${pageUrl('compare.md')}`,
    )
    .option('-f, --filename <paths...>', 'the same as the arguments', [])
    .option(
      '--plans-max <n>',
      'the maximum number of plans to compute in the search for consolidations of a live cluster',
      plans,
      PLANS_MAX,
    )
    .option('--bound', 'also compute what any plan for the pods must cost at least')
    .option(...HTML_OPTION)
    .addOption(quietOption())
    .addOption(outputOption('table'))
    .action((paths: readonly string[], options: Options) => reporting(() => run(paths, options)));
}
