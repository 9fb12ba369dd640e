import { setTimeout as sleep } from 'node:timers/promises';
import { RESOURCES } from '../../../shared/api/resources.ts';
import { property, text, uidOf } from '../../../shared/kube/list.ts';
import { type CommandEnd, type CommandRun, runCommand } from '../closed-loop/kill.ts';
import {
  claimsOf,
  conditionOf,
  isDeleting,
  nameOf,
  nodeNameOfPod,
} from '../closed-loop/questions.ts';
import { type ClosedLoop, liveInstances } from '../closed-loop/world.ts';
import { CHANGED_POOLS } from './scenario.ts';

/** What a hand-over must not change. */
export interface Footprint {
  /** `uid node phase` of each pod of the namespace `default`. */
  readonly pods: readonly string[];
  /** Claims with their instances; `gone` where the claim is being deleted. */
  readonly claims: readonly string[];
  readonly instances: readonly string[];
  readonly launches: number;
  readonly terminations: number;
  /** Names of claims that have drifted. */
  readonly drifted: readonly string[];
}

export async function footprintOf(loop: ClosedLoop): Promise<Footprint> {
  const pods = (await loop.list(RESOURCES.pods)).filter(
    (pod) => property(property(pod, 'metadata'), 'namespace') === 'default',
  );
  const claims = await claimsOf(loop);
  const providerId = (claim: unknown): string =>
    text(property(property(claim, 'status'), 'providerID'));
  const { server } = loop.cloud;
  return {
    pods: pods
      .map((pod) => {
        const phase = text(property(property(pod, 'status'), 'phase'));
        return `${uidOf(pod)} ${nodeNameOfPod(pod)} ${phase}${isDeleting(pod) ? ' going' : ''}`;
      })
      .sort(),
    claims: claims
      .map((each) => `${nameOf(each)} ${providerId(each)}${isDeleting(each) ? ' gone' : ''}`)
      .sort(),
    instances: liveInstances(loop)
      .map(({ id }) => id)
      .sort(),
    launches: server.callsOf('CreateFleet').length,
    terminations: server.callsOf('TerminateInstances').length,
    drifted: claims
      .filter((each) => conditionOf(each, 'Drifted')?.status === 'True')
      .map(nameOf)
      .sort(),
  };
}

/** Versions of the hashes on initialised claims that stay: of EC2NodeClasses, and of NodePools. */
export async function hashVersionsOf(loop: ClosedLoop): Promise<readonly string[]> {
  const claims = (await claimsOf(loop)).filter(
    (each) => !isDeleting(each) && conditionOf(each, 'Initialized')?.status === 'True',
  );
  const of = (key: string): string => {
    const found = claims.map((claim) =>
      text(property(property(property(claim, 'metadata'), 'annotations'), key)),
    );
    return [...new Set(found)].sort().join(',');
  };
  return [
    of('karpenter.k8s.aws/ec2nodeclass-hash-version'),
    of('karpenter.sh/nodepool-hash-version'),
  ];
}

/** The pools as they are, and a budget that keeps the node of `moving` as well. */
export function keepMoving(): readonly object[] {
  return CHANGED_POOLS.map((pool) => ({
    ...pool,
    spec: {
      ...pool.spec,
      disruption: { ...pool.spec.disruption, budgets: [{ nodes: '0' }] },
    },
  }));
}

/** What `-o json` of both commands prints. */
export interface Report {
  readonly checks: readonly {
    readonly check: string;
    readonly status: string;
    readonly message: string;
  }[];
  readonly steps: readonly {
    readonly step: string;
    readonly state: string;
    readonly message: string;
  }[];
  readonly next: readonly string[];
}

/** Checks that have failed, and steps that are not done with what is in the way. */
function outcomeOf({ checks, steps }: Report) {
  return {
    failed: checks.filter(({ status }) => status === 'FAIL').map((each) => each.message),
    open: steps
      .filter(({ state }) => state !== 'done')
      .map(({ step, state, message }) => `${step} ${state}: ${message}`),
  };
}

/** Of a command whose checks were met and whose steps are all done. */
export const DONE = { exitCode: 0, failed: [], open: [] };

const TICK_MS = 200;

/** Runs command lines while the functions run by their schedule. */
export function commandOf(loop: ClosedLoop, kubeconfig: () => string) {
  const run = async (args: readonly string[], kill?: CommandRun['kill']): Promise<CommandEnd> => {
    const all = [...args, '--kubeconfig', kubeconfig(), '-o', 'json'];
    const { offsetMs } = loop.clock;
    let isOver = false;
    const asked = kill === undefined ? {} : { kill };
    const running = runCommand({ args: all, offsetMs, ...asked }).finally(() => {
      isOver = true;
    });
    while (!isOver) {
      await loop.tick();
      await sleep(TICK_MS);
    }
    return await running;
  };
  const command = async (...args: readonly string[]) => {
    const end = await run(args);
    if (end.kind === 'killed') throw new Error('the command was killed');
    if (end.stdout === '') throw new Error(end.stderr);
    const { exitCode, stderr } = end;
    const report = JSON.parse(end.stdout) as Report;
    return { exitCode, stderr, report, ...outcomeOf(report) };
  };
  /** Runs the command and has it killed at a call; throws where it ends by itself. */
  const kill = async (args: readonly string[], call: RegExp, when: 'before' | 'after') => {
    const end = await run(args, { call, when });
    if (end.kind === 'killed') return;
    throw new Error(`not killed ${when} ${call}: ${end.stdout} ${end.stderr}`);
  };
  return { command, kill };
}
