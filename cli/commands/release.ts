import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import type { KubeClient } from '../../shared/kube/client.ts';
import { clusterWriter } from '../../shared/kube/cluster-writer.ts';
import { eventSink } from '../../shared/kube/events.ts';
import type { ClusterWriter, WriteResult } from '../../shared/ports/cluster.ts';
import { BadInput, reporting } from '../bad-input.ts';
import { type ClusterOptions, connect, serverFacts, withClusterOptions } from '../connect.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { signsOfLife } from '../release/alive.ts';
import { FINALIZERS, findAll, type Held } from '../release/objects.ts';
import { aliveRefusal, label, planRelease, type Release, warnings } from '../release/plan.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options extends ClusterOptions {
  readonly all?: boolean;
  readonly dryRun?: boolean;
  readonly force?: boolean;
  readonly output: OutputFormat<'text'>;
}

/** What became of one object. */
interface Outcome {
  readonly held: Held;
  readonly result: WriteResult | 'dry-run' | 'free';
}

function checkUsage(names: readonly string[], { all }: Options): void {
  if (all === true && names.length > 0) {
    throw new BadInput(['give either names or --all, not both']);
  }
  if (all !== true && names.length === 0) {
    throw new BadInput(['give the names of nodes or NodeClaims, or --all']);
  }
}

async function run(names: readonly string[], options: Options): Promise<number> {
  checkUsage(names, options);
  const { client } = await connect('joiner-release', options);
  try {
    return await release(client, names, options);
  } finally {
    await client.close();
  }
}

async function release(
  client: KubeClient,
  names: readonly string[],
  options: Options,
): Promise<number> {
  const { nowMs } = await serverFacts(client);
  const alive = aliveRefusal(await signsOfLife(client, nowMs), nowMs);
  const plan = planRelease(options.all === true ? 'all' : { names }, await findAll(client));
  const isBarred = alive !== undefined && options.force !== true;
  const refusals = [...plan.refusals, ...(isBarred ? [alive] : [])];
  if (refusals.length > 0) {
    for (const refusal of refusals) writeErr(`error: ${refusal}\n`);
    writeErr('nothing was changed\n');
    return 1;
  }
  for (const warning of warnings(plan)) writeErr(`warning: ${warning}\n`);
  const outcomes = await carryOut(client, plan, options.dryRun === true);
  writeOut(
    isDocument(options.output) ? asDocument(outcomes, plan, options.output) : asText(outcomes),
  );
  return outcomes.some(({ result }) => result === 'conflict') ? 1 : 0;
}

/** Each object by the uid that was looked at: another one of the name is not touched. */
async function carryOut(
  client: KubeClient,
  { objects, free }: Release,
  isDryRun: boolean,
): Promise<readonly Outcome[]> {
  const writer = clusterWriter({
    client,
    events: eventSink(client),
    decodeNodeClaim: () => {
      throw new Error('nothing is created here');
    },
  });
  const outcomes: Outcome[] = free.map((held) => ({ held, result: 'free' }));
  for (const held of objects) {
    outcomes.push({ held, result: isDryRun ? 'dry-run' : await remove(writer, held) });
  }
  return outcomes;
}

function remove(writer: ClusterWriter, { kind, name, uid }: Held): Promise<WriteResult> {
  const patch = { removeFinalizer: FINALIZERS[kind] };
  const ref = { kind, name, uid };
  switch (kind) {
    case 'Node':
      return writer.patchNode(ref, patch);
    case 'NodeClaim':
      return writer.patchNodeClaim(ref, patch);
    case 'EC2NodeClass':
      return writer.patchNodeClass(ref, patch);
  }
}

const SAID: Readonly<Record<Outcome['result'], (held: Held) => string>> = {
  done: (held) => `finalizer ${FINALIZERS[held.kind]} removed${goes(held) ? ': deleted' : ''}`,
  'dry-run': ({ kind }) => `finalizer ${FINALIZERS[kind]} would be removed (dry run)`,
  free: ({ kind }) => `has no finalizer ${FINALIZERS[kind]}: nothing to remove`,
  gone: () => 'is gone already',
  conflict: () => 'is being changed by somebody else all the time: not released; try again',
};

/** Whether only our finalizer held it. */
function goes({ isDeleting, finalizers }: Held): boolean {
  return isDeleting && finalizers.length === 1;
}

function asText(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return 'nothing is held by a finalizer of Joiner or Karpenter\n';
  return outcomes.map(({ held, result }) => `${label(held)}: ${SAID[result](held)}\n`).join('');
}

function asDocument(outcomes: readonly Outcome[], plan: Release, format: DocumentFormat): string {
  const objects = outcomes.map(({ held: { kind, name, isDeleting }, result }) => ({
    kind,
    name,
    finalizer: FINALIZERS[kind],
    wasDeleting: isDeleting,
    result,
  }));
  const { instances } = plan;
  const value = { joiner: packageJson.version, objects, instances, warnings: warnings(plan) };
  return documentText(value, format);
}

/** `joiner release`: the way out where nobody is left to take finalizers off. */
export function releaseCommand(): Command {
  return withClusterOptions(new Command('release'))
    .description('remove finalizers from nodes after Joiner has been uninstalled')
    .argument('[names...]', 'names of nodes or NodeClaims; a name selects both objects')
    .option('--all', 'all nodes, NodeClaims and EC2NodeClasses of Joiner and Karpenter')
    .option('--dry-run', 'only print what would be done')
    .option('--force', 'remove finalizers even if Joiner or Karpenter is running')
    .addOption(outputOption('text'))
    .addHelpText('after', HELP)
    .action((names: readonly string[], options: Options) => reporting(() => run(names, options)));
}

const HELP = `
Nodes, NodeClaims and EC2NodeClasses have a finalizer. Joiner removes it after it has drained the
node, terminated the instance, or deleted the instance profile. Without Joiner, kubectl delete waits
forever. This command only removes finalizers: it drains no node and terminates no instance. It
never changes nodes of EKS Auto Mode or nodes that neither Joiner nor Karpenter launched.`;
