/**
 * How soon Joiner reacts in a cluster of 1,000 nodes and 10,000 pods, on a real control plane:
 * `npm run bench -- reaction [warm=200] [cold=20] [watch=20] [tick=20] [spot=20]
 * [nodes=1000] [pods=10000]`. The functions are the bundles of the synthesised stack, each in
 * processes of its own, woken by what `watch` puts onto the bus. Series that are not named are left
 * out; where none is named all are run.
 */

import { RESOURCES } from '../shared/api/resources.ts';
import { METRICS } from '../shared/contract/metrics.ts';
import { isKubeFault } from '../shared/kube/errors.ts';
import { joiningOf } from '../test/support/aws/joining.ts';
import { queueRecord, spotWarning } from '../test/support/closed-loop/messages.ts';
import { joinNode, runKubelets } from '../test/support/kubelet.ts';
import { Deployed } from './deployed.ts';
import { fill, furnish, instanceId, nodeName, startWorld, type World } from './large-cluster.ts';
import { eventually, Observer, pause } from './observer.ts';
import {
  type Bench,
  type Launch,
  lastSeconds,
  launchOne,
  prepareTrials,
  randomly,
  undo,
} from './trial.ts';

const SERIES = { warm: 200, cold: 20, watch: 20, tick: 20, spot: 20 } as const;
type Series = keyof typeof SERIES;
const SIZES = { nodes: 1_000, pods: 10_000 } as const;

const MINUTE_MS = 60_000;
/** A minute of the schedule, compressed, where only ticks wake the functions. */
const TICK_MS = 15_000;
/** Trials before those that count. */
const WARM_UP = 3;
/** Pods whose status changes, a second, as in a cluster that is used. */
const CHURN_PER_SECOND = 10;

const ALWAYS = ['provision', 'lifecycle', 'nodeclass'] as const;

export async function run(args: readonly string[] = []): Promise<void> {
  const numbers = numbersOf(args);
  const { nodes, pods } = numbers;
  const world = await startWorld();
  const startedMs = performance.now();
  await furnish(world);
  await fill(world, nodes, pods);
  await prepareTrials(world);
  const seconds = ((performance.now() - startedMs) / 1000).toFixed(0);
  console.log(`${nodes} nodes and ${pods} pods, made in ${seconds} s`);
  const launches: Launch[] = [];
  world.cloud.account.onLaunch = (instance) => {
    launches.push({ instance, atMs: performance.now() });
  };
  const observer = new Observer(world.admin);
  const stopChurn = churn(world, pods);
  try {
    for (const name of Object.keys(SERIES) as Series[]) {
      if (numbers[name] > 0) await inSeries({ world, observer, launches }, name, numbers[name]);
    }
  } finally {
    await stopChurn();
    await observer.stop();
    await world.stop();
  }
}

type Numbers = Readonly<Record<Series | keyof typeof SIZES, number>>;

function numbersOf(args: readonly string[]): Numbers {
  const given = new Map<string, string | undefined>();
  for (const arg of args) {
    const [name = '', value] = arg.split('=');
    given.set(name, value);
  }
  const known: Readonly<Record<string, number>> = { ...SERIES, ...SIZES };
  for (const name of given.keys()) {
    if (!(name in known)) throw new Error(`known are ${Object.keys(known).join(', ')}: ${name}`);
  }
  const isNamed = Object.keys(SERIES).some((name) => given.has(name));
  const numbers = Object.entries(known).map(([name, usual]) => {
    if (given.has(name)) return [name, Number(given.get(name) ?? usual)];
    return [name, isNamed && name in SERIES ? 0 : usual];
  });
  return Object.fromEntries(numbers) as Numbers;
}

const RUNS: Readonly<Record<Series, (bench: Bench, count: number) => Promise<void>>> = {
  warm: (bench, count) => launches(bench, count, false),
  cold: (bench, count) => launches(bench, count, true),
  watch: registrations,
  tick: registrations,
  spot: interruptions,
};

async function inSeries(parts: Omit<Bench, 'deployed'>, name: Series, count: number) {
  await freeLeases(parts.world);
  const deployed = new Deployed(parts.world.cloud);
  try {
    await deployed.invoke('nodeclass');
    if (name === 'tick') deployed.schedule(TICK_MS, ALWAYS);
    else deployed.schedule(MINUTE_MS, ['watch', ...ALWAYS]);
    await eventually('everything has begun', () => deployed.isIdle('provision') || undefined);
    await RUNS[name]({ ...parts, deployed }, count);
  } catch (error) {
    process.stderr.write(deployed.logOf('provision').slice(-30).join(''));
    throw error;
  } finally {
    for (const fault of deployed.faults) console.log(`a function failed: ${String(fault)}`);
    await deployed.stop();
  }
}

/** Processes that were ended with the series before could not let go of theirs. */
async function freeLeases({ admin }: World): Promise<void> {
  for (const name of ['watch', 'decide', 'launch', 'lifecycle', 'nodeclass']) {
    const address = { namespace: 'kube-system', name: `joiner-${name}` };
    try {
      await admin.delete(RESOURCES.leases, address, {});
    } catch (error) {
      if (!isKubeFault(error, 'notFound')) throw error;
    }
  }
}

/** One new pod, again and again; in a new process each time, or in one that has the cluster. */
async function launches(bench: Bench, count: number, isCold: boolean): Promise<void> {
  const { deployed } = bench;
  const seen = new Map<string, number[]>();
  const before: number[] = [];
  let surplus = 0;
  for (let at = -WARM_UP; at < count; at += 1) {
    await randomly(0, 1000);
    if (isCold) await deployed.forget('provision');
    const launched = bench.launches.length;
    const trial = await launchOne(bench);
    await undo(bench, trial);
    surplus += bench.launches.length - launched - 1;
    const log = deployed.logOf('provision');
    const reading = lastSeconds(log, METRICS.observeDuration.name) * 1000;
    const deciding = lastSeconds(log, METRICS.schedulingDuration.name) * 1000;
    const steps = { ...trial.reaction, reading, deciding };
    const shown = Object.entries(steps).map(([step, ms]) => `${step} ${ms.toFixed(0)}`);
    process.stderr.write(`${at}: ${shown.join(' ')}\n`);
    if (at < 0) {
      before.push(steps.all);
      continue;
    }
    for (const [step, ms] of Object.entries(steps)) {
      seen.set(step, [...(seen.get(step) ?? []), ms]);
    }
  }
  console.log(`\n${isCold ? 'cold' : 'warm'}: ${count} trials, ${surplus} launches too many`);
  // Beside functions that have just read the cluster for the first time, and write what they find.
  console.log(`before them ${before.map((ms) => `${ms.toFixed(0)} ms`).join(', ')}`);
  for (const [step, values] of seen) report(step, values);
}

/** A node that joins: from the moment it is ready to the moment its taint is gone. */
async function registrations(bench: Bench, count: number): Promise<void> {
  const { world, observer } = bench;
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    await randomly(0, 1000);
    const trial = await launchOne(bench);
    await randomly(500, 4_000);
    const name = await join(world, trial.launch);
    const readyMs = await eventually('a node', () => observer.ready.get(name));
    const goneMs = await eventually('no taint', () => observer.registered.get(name));
    times.push(goneMs - readyMs);
    await undo(bench, trial);
  }
  console.log(`\nnode ready → taint gone: ${count} nodes`);
  report('taint', times);
}

/** The launched instance's node is there and ready; returns its name. */
async function join({ admin }: World, { instance }: Launch): Promise<string> {
  const joining = joiningOf(instance);
  if (joining === undefined) throw new Error('the instance joins no cluster');
  const capacity = { cpu: '2', memory: '7Gi', pods: '29', 'ephemeral-storage': '20Gi' };
  await joinNode(admin, { ...joining, capacity });
  return joining.name;
}

/** Joins whatever is launched: `lifecycle` is not idle before. */
async function joinAll({ world, launches }: Bench, signal: AbortSignal): Promise<void> {
  for (let joined = 0; !signal.aborted; ) {
    const launch = launches[joined];
    if (launch === undefined) {
      await pause(200);
      continue;
    }
    // Those of another series are gone.
    const { state } = launch.instance;
    if (state === 'pending' || state === 'running') await join(world, launch);
    joined += 1;
  }
}

/** A message of EC2, in new processes: until the first pod of the node is evicted. */
async function interruptions(bench: Bench, count: number): Promise<void> {
  const { world, observer, deployed } = bench;
  world.cloud.account.shutdownMs = 500;
  const over = new AbortController();
  const kubelets = runKubelets(world.admin, over.signal);
  const joining = joinAll(bench, over.signal);
  const times: number[] = [];
  for (let at = 0; at < count; at += 1) {
    await eventually('lifecycle is idle', () => deployed.isIdle('lifecycle') || undefined);
    await deployed.forget('interrupt');
    await deployed.forget('lifecycle');
    observer.deleting.clear();
    const startMs = performance.now();
    const warning = spotWarning(world.cloud.account, instanceId(at));
    const Records = [queueRecord(`m-${at}`, warning)];
    await deployed.invoke('interrupt', { Records });
    const evictedMs = await eventually('an eviction', () => [...observer.deleting.values()][0]);
    times.push(evictedMs - startMs);
    await eventually(`${nodeName(at)} is gone`, () => isGone(world, nodeName(at)), 120_000);
    await pause(1000);
  }
  over.abort();
  await Promise.all([kubelets, joining]);
  console.log(`\nspot warning → first eviction: ${count} nodes`);
  report('eviction', times);
}

async function isGone({ admin }: World, name: string): Promise<true | undefined> {
  try {
    await admin.get(RESOURCES.nodeClaims, { name });
    await pause(100);
    return undefined;
  } catch (error) {
    if (isKubeFault(error, 'notFound')) return true;
    throw error;
  }
}

/** Statuses of pods change all the time; returns what ends it. */
function churn({ admin }: World, pods: number): () => Promise<void> {
  let isOver = false;
  const beat = async (): Promise<void> => {
    while (!isOver) {
      const name = `pod-${Math.floor(Math.random() * pods)}`;
      const value = { status: { message: new Date().toISOString() } };
      const patch = { kind: 'merge', value } as const;
      const address = { namespace: 'default', name };
      // A pod that was evicted has no status any more.
      await admin.patch(RESOURCES.pods, address, patch, 'status').catch(() => undefined);
      await pause(1000 / CHURN_PER_SECOND);
    }
  };
  const beating = beat();
  return async () => {
    isOver = true;
    await beating;
  };
}

function report(step: string, values: readonly number[]): void {
  const known = values.filter((each) => !Number.isNaN(each)).toSorted((a, b) => a - b);
  const share = (part: number): string =>
    (known[Math.min(known.length - 1, Math.ceil(known.length * part) - 1)] ?? Number.NaN)
      .toFixed(0)
      .padStart(6);
  console.log(`${step.padEnd(10)} p50 ${share(0.5)} ms  p95 ${share(0.95)} ms  max ${share(1)} ms`);
}
