/** One new pod in a large cluster: from the scheduler's verdict to the fleet request, and back. */

import { RESOURCES, type Resource } from '../shared/api/resources.ts';
import { isKubeFault } from '../shared/kube/errors.ts';
import { privateDnsName } from '../test/support/aws/joining.ts';
import type { ModelInstance } from '../test/support/aws/model/account.ts';
import { deployment } from '../test/support/closed-loop/manifests.ts';
import { applyManifests } from '../test/support/control-plane/manifests.ts';
import type { Deployed } from './deployed.ts';
import type { World } from './large-cluster.ts';
import { eventually, type Observer, pause } from './observer.ts';

const APP = 'trial';

export interface Launch {
  readonly instance: ModelInstance;
  /** When EC2 was asked, by the clock of `performance.now`. */
  readonly atMs: number;
}

/** A large cluster with the functions on it. */
export interface Bench {
  readonly world: World;
  readonly observer: Observer;
  readonly launches: Launch[];
  readonly deployed: Deployed;
}

/** Milliseconds between the steps of one reaction. */
export interface Reaction {
  /** The Deployment was scaled → kube-scheduler said that no node fits. */
  readonly verdict: number;
  /** → `watch` put the wake-up onto the bus. NaN: nobody watches. */
  readonly wake: number;
  /** → the NodeClaim was written: batch window, reading, deciding. */
  readonly claim: number;
  /** → CreateFleet was asked for. */
  readonly fleet: number;
  /** From the verdict to CreateFleet. */
  readonly all: number;
}

export interface Trial {
  readonly reaction: Reaction;
  readonly launch: Launch;
  readonly pod: string;
  readonly claim: string;
}

/** The workload that grows by a pod in each trial; its pods fit on none of the nodes. */
export async function prepareTrials({ admin }: World): Promise<void> {
  await applyManifests(admin, [deployment(APP, 0, '700m')]);
}

async function scaleTo({ admin }: World, replicas: number): Promise<void> {
  const patch = { kind: 'merge', value: { spec: { replicas } } } as const;
  await admin.patch(RESOURCES.deployments, { namespace: 'default', name: APP }, patch, 'scale');
}

/** The newest entry that was not there before. */
function added(seen: ReadonlyMap<string, number>, before: number): [string, number] | undefined {
  return seen.size > before ? [...seen].at(-1) : undefined;
}

/** The seconds of a metric in the newest line that has it: of the invocation's first round. */
export function lastSeconds(log: readonly string[], metric: string): number {
  const lines = log.flatMap((chunk) => chunk.split('\n')).filter((line) => line.includes(metric));
  const newest = lines.toSorted((a, b) => loggedAtMs(a) - loggedAtMs(b)).at(-1) ?? '';
  return Number(new RegExp(`"${metric}":\\[?([0-9.]+)`).exec(newest)?.[1] ?? Number.NaN);
}

function loggedAtMs(line: string): number {
  return Number(/"Timestamp":([0-9]+)/.exec(line)?.[1] ?? 0);
}

/** A pod that needs a node; back when EC2 was asked for one. */
export async function launchOne({ world, observer, launches, deployed }: Bench): Promise<Trial> {
  const before = {
    pods: observer.unschedulable.size,
    claims: observer.claimed.size,
    launched: observer.launched.size,
    launches: launches.length,
    wakeUps: deployed.wakeUps.length,
  };
  const createdMs = performance.now();
  await scaleTo(world, 1);
  const launch = await eventually('CreateFleet', () => launches[before.launches]);
  const [claim, claimMs] = await eventually('a claim', () =>
    added(observer.claimed, before.claims),
  );
  const [pod, verdictMs] = await eventually('a pod', () =>
    added(observer.unschedulable, before.pods),
  );
  await eventually('an instance', () => added(observer.launched, before.launched));
  const wake = deployed.wakeUps
    .slice(before.wakeUps)
    .find(({ kind, atMs }) => kind === 'pods-unschedulable' && atMs >= verdictMs - 100);
  const wakeMs = wake?.atMs ?? Number.NaN;
  return {
    launch,
    pod,
    claim,
    reaction: {
      verdict: verdictMs - createdMs,
      wake: wakeMs - verdictMs,
      claim: claimMs - (wake?.atMs ?? verdictMs),
      fleet: launch.atMs - claimMs,
      all: launch.atMs - verdictMs,
    },
  };
}

/** As if the trial had never been: no pod, no claim, no node, no instance. */
export async function undo({ world, observer, deployed }: Bench, trial: Trial): Promise<void> {
  await scaleTo(world, 0);
  // Once it is bound it waits for a kubelet, of which there is none.
  const pod = { namespace: 'default', name: trial.pod };
  await ignoringAbsence(() => world.admin.delete(RESOURCES.pods, pod, { gracePeriodSeconds: 0 }));
  await eventually('no pod', () => observer.deleted.get(trial.pod));
  await eventually('provision is idle', () => deployed.isIdle('provision') || undefined);
  await drop(world, RESOURCES.nodeClaims, trial.claim);
  await drop(world, RESOURCES.nodes, privateDnsName(trial.launch.instance.id));
  trial.launch.instance.state = 'terminated';
}

async function drop({ admin }: World, resource: Resource, name: string): Promise<void> {
  await ignoringAbsence(async () => {
    const value = { metadata: { finalizers: null } };
    await admin.patch(resource, { name }, { kind: 'merge', value });
    await admin.delete(resource, { name }, {});
  });
}

async function ignoringAbsence(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    if (!isKubeFault(error, 'notFound')) throw error;
  }
}

/** Trials come at any moment of a second and of a minute. */
export async function randomly(fromMs: number, toMs: number): Promise<void> {
  await pause(fromMs + Math.random() * (toMs - fromMs));
}
