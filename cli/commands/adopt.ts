import { Command } from 'commander';
import { pageUrl } from '../../shared/contract/pages.ts';
import { reporting } from '../bad-input.ts';
import { type Line, warn } from '../doctor/line.ts';
import { checkAdoption } from '../handover/checks.ts';
import { handedOver } from '../handover/command.ts';
import { groupNext, groupSteps, groupStepsBack } from '../handover/group-steps.ts';
import {
  checkNodeGroups,
  checkOtherNodes,
  findAutoscalers,
  nodeGroupsOf,
} from '../handover/node-groups.ts';
import { checkPlan } from '../handover/preview.ts';
import {
  type HandoverOptions,
  type HandoverReport,
  stepsTaken,
  undone,
  walkOf,
  withHandoverOptions,
} from '../handover/session.ts';
import { TO_JOINER } from '../handover/to-joiner.ts';
import { TO_KARPENTER } from '../handover/to-karpenter.ts';
import { doesKarpenterRun, type Position, positionOf } from '../handover/walk.ts';
import type { LiveCluster } from '../live.ts';
import { type MarketOptions, withMarketOptions } from '../market.ts';
import { namedRegion } from '../region.ts';
import { lastSigns } from '../release/alive.ts';
import { type SettingsOptions, withSettingsOptions } from '../stack-settings.ts';

const WAYS = { steps: TO_JOINER, stepsBack: TO_KARPENTER };

interface Options extends HandoverOptions, MarketOptions, SettingsOptions {
  /** The EKS cluster's name. */
  readonly cluster?: string;
}

/** What is checked while Karpenter still runs: afterwards the steps themselves look. */
async function checksOf(live: LiveCluster, position: Position, options: Options) {
  const { stack } = live.settings(options);
  const signs = await lastSigns(live.client, position.nowMs);
  const { place, unreadable } = live;
  const checked = { position, signs, place, stack, unreadable };
  return [
    ...checkAdoption(checked),
    ...checkNodeGroups(await findAutoscalers(live.client), nodeGroupsOf(live.state)),
    ...checkOtherNodes(live.state),
    ...(await checkPlan(live, stack, options)),
    ...(await awsChecksOf(live, position, options)),
  ];
}

/** AWS is asked where the cluster's name and region are known. */
async function awsChecksOf(
  { place, state }: LiveCluster,
  { karpenter }: Position,
  options: Options,
): Promise<readonly Line[]> {
  const cluster = options.cluster ?? place.cluster ?? karpenter?.settings.get('CLUSTER_NAME');
  const region = place.region ?? namedRegion(state) ?? options.region;
  if (cluster === undefined || region === undefined) {
    return [warn('aws', 'not asked: nothing names the cluster', 'give --cluster and --region')];
  }
  const queue = karpenter?.settings.get('INTERRUPTION_QUEUE');
  const { kubeconfig, context } = options;
  // AWS's SDK is read where there is something to ask it.
  const { checkAws } = await import('../handover/aws.ts');
  const kubernetes = {
    ...(kubeconfig === undefined ? {} : { kubeconfig }),
    ...(context === undefined ? {} : { context }),
  };
  const karpenterQueue = queue === '' ? undefined : queue;
  return await checkAws({ cluster, region, karpenterQueue, kubernetes }, state);
}

/** What Karpenter has left outside of the cluster, and the way back. */
function nextOf({ karpenter, record }: Position): readonly string[] {
  const known = karpenter ?? record?.karpenter;
  if (known === undefined) return [];
  const queue = karpenter?.settings.get('INTERRUPTION_QUEUE') ?? '';
  return [
    'Keep the Deployment of Karpenter at 0 replicas for some days: joiner hand-back goes back.',
    `Then: helm uninstall ${known.name} --namespace ${known.namespace} (keep the chart karpenter-crd)`,
    ...(queue === '' ? [] : [`and delete its queue ${queue} with its EventBridge rules.`]),
  ];
}

/** The way from node groups, or back to them, where there is no Karpenter to take over from. */
async function alongGroups({ client, state, place }: LiveCluster, options: Options) {
  const autoscalers = await findAutoscalers(client);
  const cluster = options.cluster ?? place.cluster ?? 'NAME';
  const isBack = options.undo === true;
  const steps = (isBack ? groupStepsBack : groupSteps)({ autoscalers, state, cluster });
  return { steps, next: groupNext(steps, isBack) };
}

async function adopt(live: LiveCluster, options: Options): Promise<HandoverReport> {
  const walk = walkOf(live, options);
  const position = await positionOf(walk);
  const isDryRun = options.dryRun === true;
  const about = { cluster: live.url, isDryRun };
  const isThere = position.karpenter !== undefined || doesKarpenterRun(position);
  const isNew = position.record === undefined;
  const isIdle = !isThere && isNew;
  if (isIdle) {
    const checks = options.undo === true ? [] : await checksOf(live, position, options);
    return { ...about, to: 'joiner', checks, ...(await alongGroups(live, options)) };
  }
  if (options.undo === true) {
    const back = await undone(walk, position, 'joiner', WAYS, options);
    return { ...about, to: 'karpenter', ...back };
  }
  const checks = doesKarpenterRun(position) || isNew ? await checksOf(live, position, options) : [];
  const steps = await stepsTaken(walk, TO_JOINER, checks, options);
  const isDone = steps.every(({ state }) => state === 'done');
  const next = isDone && !isDryRun ? nextOf(position) : [];
  return { ...about, to: 'joiner', checks, steps, next };
}

/** `joiner adopt`: from Karpenter to Joiner, without a node launched or drained. */
export function adoptCommand(): Command {
  const command = withHandoverOptions(new Command('adopt'), WAYS);
  return withSettingsOptions(withMarketOptions(command))
    .description('take over a cluster from Karpenter, step by step')
    .option('--cluster <name>', "the EKS cluster; default: the stack's, or Karpenter's")
    .addHelpText('after', HELP)
    .action((options: Options) =>
      reporting(() => handedOver('joiner-adopt', options, WAYS, (live) => adopt(live, options))),
    );
}

const HELP = `
The command checks the cluster, stops Karpenter and waits until Joiner has written its drift hashes
on every NodeClaim. No node is launched, drained or replaced. If the command was killed, run it
again: the ConfigMap kube-system/joiner-handover records the progress. Without Karpenter, the
command prints the steps from Cluster Autoscaler and node groups with their states in the cluster,
and with --undo those back. It carries out none of them. Each step is described at
${pageUrl('adopt.md')}.
Exit codes: 0 done, 1 a check failed or a step stopped, 2 bad usage.`;
