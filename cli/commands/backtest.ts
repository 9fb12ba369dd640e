import { Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import { snapshotFrom } from '../../shared/app/recording/snapshot-json.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import type { Currency } from '../../shared/core/model/currency.ts';
import type { NodePool } from '../../shared/core/model/provisioning.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { type Json, textAt } from '../../shared/sim/json.ts';
import {
  type Backtest,
  backtested,
  type RecordedDecision,
  recordedDecisionOf,
} from '../backtest/backtest.ts';
import { backtestText, METHOD } from '../backtest/render.ts';
import { type Changes, changesOf, type Variant, withPools } from '../backtest/variant.ts';
import { BadInput, Problems, reporting } from '../bad-input.ts';
import { lastMs, madeOfOne, type Written, writtenIn } from '../ledger/files.ts';
import { LedgerRecords } from '../ledger/ledger-records.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { type Progress, type QuietOptions, quietOption, withProgress } from '../progress.ts';
import { loadManifests } from '../simulate/load.ts';
import { collect } from '../simulate/variables.ts';
import { writeErr, writeOut } from '../terminal.ts';
import { issueText } from '../unknown-names.ts';
import { counted } from '../words.ts';

interface Options extends QuietOptions {
  readonly set: readonly string[];
  readonly filename: readonly string[];
  readonly rules: Variant['rules'];
  readonly output: OutputFormat<'text'>;
}

/** `--set key=value`, of which a value may contain `=`. */
function setOf(given: readonly string[], problems: Problems): Variant['set'] {
  const pairs = given.map((text): readonly [string, string] => {
    const at = text.indexOf('=');
    if (at < 1) problems.add(`--set ${text}: expected NAME=VALUE, such as nodePrice=0.01`);
    return [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  });
  return Object.fromEntries(pairs.filter(([name]) => name !== ''));
}

/** EC2NodeClasses that the NodePools of a recording name: files need not contain them. */
function knownClasses({ nodePools }: ClusterSnapshot): readonly Json[] {
  return nodePools.map(({ template }) => ({
    apiVersion: 'karpenter.k8s.aws/v1',
    kind: 'EC2NodeClass',
    metadata: { name: template.nodeClassRef.name },
  }));
}

function poolsOf(files: readonly string[], recorded: ClusterSnapshot): readonly NodePool[] {
  if (files.length === 0) return [];
  const note = (line: string): void => writeErr(`joiner: ${line}\n`);
  const known = knownClasses(recorded);
  const found = loadManifests(files, '', new Map(), note, known, 'live');
  const pools = found.filter((object) => textAt(object, 'kind') === 'NodePool');
  if (pools.length === 0) throw new BadInput([`${files.join(', ')}: no NodePool`]);
  return pools.map((object) => {
    const decoded = decodeNodePool(object);
    if (decoded.ok) return decoded.value;
    throw new BadInput(decoded.issues.map(issueText));
  });
}

function subjectOf({ set, nodePools, rules }: Variant): string {
  const parts = [
    rules === 'karpenter'
      ? "Karpenter's documented first-fit rules"
      : `Joiner ${packageJson.version}`,
    ...Object.entries(set).map(([key, value]) => `${key}=${value}`),
    ...nodePools.map(({ name }) => `NodePool ${name} as given`),
  ];
  return parts.join(', ');
}

function asDocument(
  { launches, ...tested }: Backtest,
  { set, nodePools, rules }: Variant,
  currency: Currency,
  format: DocumentFormat,
): string {
  const variant = { set, nodePools: nodePools.map(({ name }) => name), rules };
  const rows = launches.map(({ atMs, ...each }) => ({ at: new Date(atMs).toISOString(), ...each }));
  const head = { joiner: packageJson.version, currency, with: variant };
  return documentText({ ...head, ...tested, launches: rows, method: METHOD }, format);
}

/** The settings of the options; every problem at once. */
function settingsOf(options: Options) {
  const problems = new Problems();
  const set = setOf(options.set, problems);
  const { changes, faults } = changesOf(set);
  for (const fault of faults) problems.add(fault);
  return problems.checked({ set, changes });
}

async function firstSnapshot(written: Written): Promise<ClusterSnapshot | undefined> {
  for (const { read } of written.recordings) {
    const named = await read();
    const made = named && madeOfOne(named, () => snapshotFrom(named.recording.snapshot), written);
    if (made !== undefined) return made;
  }
  return undefined;
}

/** All moments decided again. */
async function momentsOf(
  written: Written,
  variant: Variant,
  changes: readonly Changes[],
  progress: Progress,
): Promise<{
  readonly moments: readonly RecordedDecision[];
  readonly unknown: ReadonlySet<string>;
}> {
  const moments: RecordedDecision[] = [];
  const unknown = new Set<string>();
  for (const { read } of written.recordings) {
    progress.say(
      () => `${moments.length + 1} of ${counted(written.recordings.length, 'recording')}`,
    );
    const named = await read();
    if (named === undefined) continue;
    const decided = (): RecordedDecision => {
      const snapshot = snapshotFrom(named.recording.snapshot);
      for (const name of withPools(snapshot, variant.nodePools).unknown) unknown.add(name);
      return recordedDecisionOf(named, variant, changes);
    };
    const moment = madeOfOne(named, decided, written);
    if (moment !== undefined) moments.push(moment);
  }
  return { moments, unknown };
}

async function run(folder: string, options: Options): Promise<number> {
  const { output, rules } = options;
  const { set, changes } = settingsOf(options);
  const written = writtenIn(folder);
  const first = await firstSnapshot(written);
  if (first === undefined) throw new BadInput([`${folder}: no recordings`, ...written.notes]);
  const variant: Variant = { set, nodePools: poolsOf(options.filename, first), rules };
  const { moments, unknown } = await withProgress(options, (progress) =>
    momentsOf(written, variant, changes, progress),
  );
  const notes = [...unknown].map(
    (name) => `NodePool ${name} is left out where no recorded NodePool has its EC2NodeClass`,
  );
  for (const note of new Set([...written.notes, ...notes])) {
    writeErr(`warning: ${note}\n`);
  }
  const ledgerRecords = new LedgerRecords(written.records, { fromMs: 0, toMs: lastMs(written) });
  const tested = backtested(ledgerRecords, moments);
  const currency = moments[0]?.facts.currency ?? 'USD';
  writeOut(
    isDocument(output)
      ? asDocument(tested, variant, currency, output)
      : backtestText(tested, subjectOf(variant), currency),
  );
  return 0;
}

/** `joiner backtest`: recorded moments, decided with something else. */
export function backtestCommand(): Command {
  return new Command('backtest')
    .description('decide recorded moments again with other settings, NodePools or rules')
    .argument('<dir>', "the folder of simulate --record, or a copy of the cluster's in the bucket")
    .option('--set <name=value>', 'a setting instead of the recorded one', collect, [])
    .option('-f, --filename <paths...>', 'NodePools instead of the recorded ones', [])
    .addOption(
      new Option('--rules <whose>', "karpenter: Karpenter's documented rules, for launches only")
        .choices(['joiner', 'karpenter'])
        .default('joiner'),
    )
    .addOption(outputOption('text'))
    .addOption(quietOption())
    .addHelpText('after', HELP)
    .action((folder: string, options: Options) => reporting(() => run(folder, options)));
}

const HELP = `
Without options the moments are decided by this version as they were recorded: to compare two
versions, run the same folder with each. How each figure is made:
${pageUrl('tasks/savings.md')}`;
