import { Command } from 'commander';
import { pageUrl } from '../../shared/contract/pages.ts';
import { reporting } from '../bad-input.ts';
import { ok } from '../doctor/line.ts';
import { checkHandBack } from '../handover/checks.ts';
import { cleaningsOf } from '../handover/clean.ts';
import { handedOver } from '../handover/command.ts';
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
import { doesKarpenterRun, positionOf, type Walk } from '../handover/walk.ts';
import type { LiveCluster } from '../live.ts';

const WAYS = { steps: TO_KARPENTER, stepsBack: TO_JOINER };

const NEXT = [
  'While Karpenter runs, Joiner only reads. To remove it: npx cdk deploy -c leaveNodes=true …, then',
  'npx cdk destroy …. Keep the node role while nodes use it. Each step is described at',
  pageUrl('deploy.md#uninstall'),
];

async function checksOf(walk: Walk) {
  const position = await positionOf(walk);
  const checks = checkHandBack({ position });
  if (doesKarpenterRun(position)) return checks;
  const marks = await cleaningsOf(walk.client, walk.writer, position.state);
  const objects = new Set(marks.map(({ object }) => object)).size;
  return [...checks, ok('marks', `${objects} objects have marks of Joiner that are removed`)];
}

async function handBack(live: LiveCluster, options: HandoverOptions): Promise<HandoverReport> {
  const walk = walkOf(live, options);
  const isDryRun = options.dryRun === true;
  const about = { cluster: live.url, isDryRun };
  if (options.undo === true) {
    const back = await undone(walk, await positionOf(walk), 'karpenter', WAYS, options);
    return { ...about, to: 'joiner', ...back };
  }
  const checks = await checksOf(walk);
  const steps = await stepsTaken(walk, TO_KARPENTER, checks, options);
  const isDone = steps.every(({ state }) => state === 'done');
  return { ...about, to: 'karpenter', checks, steps, next: isDone && !isDryRun ? NEXT : [] };
}

/** `joiner hand-back`: from Joiner to Karpenter, without a node launched or drained. */
export function handBackCommand(): Command {
  return withHandoverOptions(new Command('hand-back'), WAYS)
    .description('give a cluster back to Karpenter, step by step')
    .addHelpText('after', HELP)
    .action((options: HandoverOptions) =>
      reporting(() =>
        handedOver('joiner-hand-back', options, WAYS, (live) => handBack(live, options)),
      ),
    );
}

const HELP = `
The command pauses Joiner, removes what Karpenter would misinterpret, starts Karpenter and waits
until it has written its drift hashes on every NodeClaim. No node is launched, drained or replaced.
If the command was killed, run it again. Each step is described at
${pageUrl('adopt.md')}.
Exit codes: 0 done, 1 a check failed or a step stopped, 2 bad usage.`;
