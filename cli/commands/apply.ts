import { randomInt, randomUUID } from 'node:crypto';
import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { kindDecoders } from '../../shared/api/kinds.ts';
import { isPaused } from '../../shared/app/settings.ts';
import { idsBy } from '../../shared/app/writes/claim-names.ts';
import {
  type WriteLeases,
  withoutLeases,
  writeLeases,
} from '../../shared/app/writes/write-leases.ts';
import { pageUrl } from '../../shared/contract/pages.ts';
import { kubeCluster } from '../../shared/kube/cluster.ts';
import { kubeLeases } from '../../shared/kube/leases.ts';
import { whenFree } from '../../shared/kube/when-free.ts';
import type { Ports } from '../../shared/ports.ts';
import type { PlanBasis } from '../../shared/preview/basis.ts';
import { rememberedBy, unused } from '../../shared/preview/copy.ts';
import { type Applied, applyPlan } from '../apply/apply.ts';
import { decisionText, renderApplied, resultText } from '../apply/render.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { clusterUid } from '../cluster-uid.ts';
import {
  type LiveCluster,
  noteLines,
  type PricedClusterOptions,
  withLiveCluster,
  withPricedClusterOptions,
} from '../live.ts';
import { marketOf } from '../market.ts';
import { documentText, type OutputFormat, outputOption } from '../output.ts';
import { planBasis } from '../plan/basis.ts';
import { type PlanFile, readPlanFile } from '../plan/plan-file.ts';
import { signsOfLife } from '../release/alive.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends PricedClusterOptions, SettingsOptions {
  readonly dryRun?: boolean;
  readonly output: OutputFormat<'text'>;
}

/** What was asked, answered. */
interface Answer {
  readonly url: string;
  readonly plan: PlanFile;
  readonly applied: Applied;
  readonly notes: readonly string[];
}

/** Through which the use cases write; nothing is launched from here. */
function portsOf({ client }: LiveCluster, basis: PlanBasis): Ports {
  const { catalog, memory, backoffs, isCatalogCurrent = false } = basis;
  return {
    cluster: kubeCluster({
      client,
      decoders: kindDecoders('server'),
      // The live cluster has noted it already.
      onInvalid: () => undefined,
    }),
    catalog,
    compute: unused('compute'),
    images: unused('images'),
    network: unused('network'),
    profiles: unused('profiles'),
    memory: rememberedBy(memory, backoffs),
    clock: client.timing,
    ids: idsBy((letters) => randomInt(letters)),
    recorder: { decision: async () => undefined, count: () => undefined },
    isCatalogCurrent: () => isCatalogCurrent,
  };
}

/** The turn of `provision` and `disrupt`; whoever writes nothing need not have it. */
function turnsOf({ client }: LiveCluster, ports: Ports, isDryRun: boolean): WriteLeases {
  if (isDryRun) return withoutLeases(ports);
  const own = kubeLeases({ client, holder: `apply/${randomUUID()}`, by: 'apply' });
  const leases = whenFree(client, own, 'apply', () => Number.POSITIVE_INFINITY);
  // Functions that came meanwhile come again within a minute.
  return writeLeases({ leases, ports, wakeAnother: () => undefined });
}

function pauseNotes({ state, nowMs }: LiveCluster): readonly string[] {
  const { launch, disrupt, terminate } = state.pausedUntilMs;
  return [
    ...(isPaused(launch, nowMs)
      ? ['launches are paused: approved ones are carried out nevertheless']
      : []),
    ...(isPaused(disrupt, nowMs)
      ? ['disruptions are paused: approved ones are carried out nevertheless']
      : []),
    ...(isPaused(terminate, nowMs)
      ? ['terminations are paused: nodes are drained, and their instances stay until joiner resume']
      : []),
  ];
}

async function notesOf(live: LiveCluster, plan: PlanFile): Promise<readonly string[]> {
  const { client, nowMs } = live;
  const signs = await signsOfLife(client, nowMs);
  const isAlive = signs.some(({ who }) => who === 'Joiner');
  const { version } = packageJson;
  return [
    ...pauseNotes(live),
    ...(isAlive
      ? []
      : ['no function of Joiner has run for 5 minutes: only they launch and drain nodes']),
    ...(plan.joiner === version ? [] : [`the plan was made by ${plan.joiner}, this is ${version}`]),
  ];
}

async function checkCluster(live: LiveCluster, file: string, { cluster }: PlanFile): Promise<void> {
  const uid = await clusterUid(live.client);
  if (uid === cluster.uid) return;
  const [name, there] = [cluster.name ?? 'no name', `${live.url} (kube-system ${uid})`];
  throw new BadInput([
    `${file}: cluster.uid is ${cluster.uid}, of ${name} at ${cluster.server}; ` +
      `the kubeconfig's cluster is ${there}`,
  ]);
}

async function answer(
  live: LiveCluster,
  file: string,
  plan: PlanFile,
  options: Options,
): Promise<Answer> {
  await checkCluster(live, file, plan);
  const market = await marketOf(live, options);
  const { stack, notes: said } = live.settings(options);
  const basis = await planBasis(market, live, stack);
  const notes = [...live.unreadable, ...(await notesOf(live, plan)), ...said, ...market.notes];
  const isDryRun = options.dryRun === true;
  const ports = portsOf(live, basis);
  const { decisions } = plan;
  const taken = await turnsOf(live, ports, isDryRun).withLease('decide', (own) =>
    applyPlan({ ports: own, basis, decisions, isDryRun }),
  );
  if (taken === undefined) {
    throw new Error(
      'nothing was changed: the Lease kube-system/joiner-decide is held by another; try again',
    );
  }
  return { url: live.url, plan, applied: taken.result, notes };
}

function encoded({ url, plan, applied, notes }: Answer): object {
  const { result, refusal, decisions, created, failures } = applied;
  return {
    joiner: packageJson.version,
    cluster: url,
    plan: { madeAt: plan.madeAt, joiner: plan.joiner, pricePerHour: plan.pricePerHour },
    result,
    refusal,
    decisions: decisions.map(({ decision, outcome, reasons, created: names }) => ({
      outcome,
      reason: decision.reason,
      nodePool: decision.nodePool,
      summary: decisionText(decision),
      pods: decision.pods.map(({ pod }) => pod),
      nodeClaims: decision.nodes.map(({ nodeClaim }) => nodeClaim),
      created: names,
      reasons,
    })),
    created,
    failures,
    notes,
  };
}

function asText({ url, plan, applied, notes }: Answer): string {
  const head = `${url}\nplan of ${plan.madeAt}`;
  const said = noteLines(notes).trimEnd();
  return `${[head, ...(said === '' ? [] : [said]), renderApplied(applied)].join('\n\n')}\n`;
}

function output(found: Answer, format: Options['output']): string {
  if (format === 'text') return asText(found);
  return documentText(encoded(found), format);
}

async function run(file: string, options: Options): Promise<number> {
  const plan = readPlanFile(file);
  const found = await withLiveCluster('joiner-apply', options, (live) =>
    answer(live, file, plan, options),
  );
  writeOut(output(found, options.output));
  const { result } = found.applied;
  if (result === 'applied' || result === 'dry-run') return 0;
  writeErr(`error: ${resultText(found.applied)}\n`);
  return 1;
}

/** `joiner apply`: carries out exactly what somebody has approved, or says why not. */
export function applyCommand(): Command {
  return withSettingsOptions(withPricedClusterOptions(new Command('apply')))
    .description(
      'carry out exactly the decisions of joiner plan --out, or explain why they no longer hold',
    )
    .argument('<file>', 'the file that joiner plan --out wrote; - is standard input')
    .option('--dry-run', 'only check whether the decisions still hold')
    .addOption(outputOption('text'))
    .addHelpText('after', HELP)
    .action((file: string, options: Options) => reporting(() => run(file, options)));
}

const HELP = `
apply reads the cluster again and repeats each decision. A decision holds if it has the same pods,
nodes and NodeClaims, and no higher price. If one decision does not hold, apply changes nothing and
prints the reasons. apply writes NodeClaims, taints and deletions under the functions' Lease.
provision then launches the instances, and lifecycle drains the nodes.

Exit codes: 0 all decisions were carried out (with --dry-run: all hold), 1 nothing was changed or a
decision failed, 2 bad input or a plan of another cluster. More:
${pageUrl('plan.md')}`;
