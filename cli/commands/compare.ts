import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { type Json, textAt } from '../../shared/sim/json.ts';
import { BadInput, Problems, reporting } from '../bad-input.ts';
import { type Comparison, compared, KARPENTER_VERSION, PLANS_MAX } from '../compare/comparison.ts';
import { remarksOn, renderComparison, rulesOf } from '../compare/render.ts';
import { appliedManifests, runningCluster, type Subject } from '../compare/subject.ts';
import { jsonText } from '../json.ts';
import { type PricedClusterOptions, withLiveCluster, withPricedClusterOptions } from '../live.ts';
import { offlineCatalog } from '../offline-catalog.ts';
import { BARE, inEksCluster } from '../simulate/eks-cluster.ts';
import { loadManifests } from '../simulate/load.ts';
import { readSettings } from '../simulate/settings-file.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';

interface Options extends PricedClusterOptions, SettingsOptions {
  readonly filename: readonly string[];
  readonly var: readonly string[];
  readonly plansMax: number;
  readonly bare?: boolean;
  readonly settings?: string;
  readonly output: 'table' | 'json' | 'yaml';
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
  const text = jsonText(result(subject, comparison));
  return output === 'json' ? text : stringify(JSON.parse(text));
}

function note(line: string): void {
  process.stderr.write(`joiner: ${line}\n`);
}

/** Nodes from which on consolidation takes a while. */
const MANY_NODES = 50;

function plans(text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= 1 && value <= 1_000_000) return value;
  throw new InvalidArgumentError('expected a whole number from 1 to 1,000,000.');
}

/** The manifests at the paths; notes go to stderr. */
async function fromPaths(paths: readonly string[], options: Options): Promise<Subject> {
  const problems = new Problems();
  const given = variablesOf(options.var, problems);
  const catalog = await offlineCatalog(options);
  for (const option of ['context', 'kubeconfig'] as const) {
    if (options[option] === undefined) continue;
    problems.add(`--${option}: give either paths or a cluster; joiner plan -f compares both`);
  }
  const loaded = problems.collect(() => loadManifests(paths, catalog.region, given, note));
  const stated = options.settings;
  const stack = stated === undefined ? undefined : problems.collect(() => readSettings(stated));
  const manifests = problems.checked(loaded);
  if (!manifests.some(({ kind }) => kind === 'NodePool')) throw new BadInput([NO_NODE_POOL]);
  const all = options.bare === true ? manifests : inEksCluster(manifests, note);
  return appliedManifests(all, catalog, { stack, added: deploymentsBeside(all, manifests) });
}

const NO_NODE_POOL =
  'there is no NodePool among the manifests: nodes are launched for NodePools. Give the files of ' +
  'yours, with their EC2NodeClass, as further paths; examples/03-eks-guide has one to begin with';

/** `namespace/name` of Deployments that the cluster adds. */
function deploymentsBeside(all: readonly Json[], own: readonly Json[]): ReadonlySet<string> {
  const given = new Set(own);
  const added = all.filter((each) => each['kind'] === 'Deployment' && !given.has(each));
  return new Set(
    added.map(
      (each) => `${textAt(each, 'metadata', 'namespace')}/${textAt(each, 'metadata', 'name')}`,
    ),
  );
}

async function subjectOf(paths: readonly string[], options: Options): Promise<Subject> {
  if (paths.length > 0) return fromPaths(paths, options);
  if (options.var.length > 0) throw new BadInput(['--var: there is no manifest to put it in']);
  if (options.bare === true) throw new BadInput(['--bare: a cluster has what it has']);
  if (options.settings !== undefined) {
    throw new BadInput(['--settings: a cluster states what its stack decides by']);
  }
  return withLiveCluster('joiner-compare', options, (live) => runningCluster(live, options));
}

async function run(paths: readonly string[], options: Options): Promise<number> {
  const subject = await subjectOf([...paths, ...options.filename], options);
  const { length } = subject.snapshot.nodes;
  if (length > MANY_NODES && process.stderr.isTTY) note(`consolidating ${length} nodes both ways`);
  process.stdout.write(textOf(subject, compared(subject, options.plansMax), options.output));
  return 0;
}

/** `joiner compare`: what pods cost now, Karpenter's way, and Joiner's. */
export function compareCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('compare')))
    .description("compare what pods cost now, Karpenter's way and Joiner's; nothing is changed")
    .argument('[paths...]', 'files or folders of manifests, - is standard input; none: the cluster')
    .addHelpText('after', '\ndocs/compare.md says which rules are played, and what is not.')
    .option('-f, --filename <paths...>', 'the same as paths', [])
    .option('--var <name=value>', 'a value for a variable in manifests', collect, [])
    .option(...BARE)
    .option('--settings <file>', 'of manifests: settings as joiner simulate takes them')
    .option('--plans-max <n>', 'of a cluster: plans to find what can go', plans, PLANS_MAX)
    .addOption(
      new Option('-o, --output <format>').choices(['table', 'json', 'yaml']).default('table'),
    )
    .action((paths: readonly string[], options: Options) => reporting(() => run(paths, options)));
}
