import { execFile } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { property } from '../../shared/kube/list.ts';
import { CLUSTER } from '../support/aws/cloud.ts';
import { KEYS, REGION } from '../support/closed-loop/functions.ts';
import { runChild } from './children.ts';
import { escaped } from './edits.ts';
import { endToEndEdits } from './edits-end-to-end.ts';
import { type Built, build, moduleCopy } from './module.ts';
import { type CaseOutcome, casesOf, messageOf } from './report.ts';
import type { EndToEndSuite } from './suites.ts';
import { resultsOf } from './unit.ts';
import { startWorld, type World } from './world-process.ts';

const MANIFESTS = join(import.meta.dirname, 'manifests');
/** After a case: the suite has deleted its objects, and finalizers and instances follow. */
const LEFT_MS_MAX = 90_000;
const LEFT_POLL_MS = 2_000;

export interface EndToEndRun {
  readonly focus: RegExp | undefined;
  /** Worlds side by side. */
  readonly workers: number;
  /** Cases that have an outcome already keep it. */
  readonly continues: boolean;
  /** Cases that count as failed without being played. */
  readonly unplayed: ReadonlySet<string>;
  readonly told: (outcome: CaseOutcome) => void;
}

/** Plays the suite's cases that match, each in a clean world; other cases keep their outcome. */
export async function runEndToEndSuite(
  suite: EndToEndSuite,
  { focus, workers, continues, unplayed, told }: EndToEndRun,
): Promise<readonly CaseOutcome[]> {
  const source = await moduleCopy(suite.module);
  const edits = await endToEndEdits(suite.module, source, suite.folder);
  const built = await build(suite.module, suite.folder, edits);
  const results = resultsOf(suite.name);
  const isNew = !continues && focus === undefined;
  if (isNew) await rm(results, { recursive: true, force: true });
  await mkdir(results, { recursive: true });
  const asked = (await casesIn(built, results)).filter(
    (name) => suite.cases.test(name) && (focus?.test(name) ?? true),
  );
  const before = (await lastOutcomes(suite.name)).filter(
    ({ name }) => continues || !asked.includes(name),
  );
  const outcomes = new Map(before.map((each) => [each.name, each]));
  for (const name of asked.filter((each) => unplayed.has(each))) {
    outcomes.set(name, { name, state: 'failed', seconds: 0, message: 'not played' });
  }
  const queue = asked.filter((name) => !outcomes.has(name));
  const player = { suite, built, results, stamp: Date.now().toString(36) };
  const work = async (): Promise<void> => {
    for await (const outcome of played(player, queue)) {
      told(outcome);
      outcomes.set(outcome.name, outcome);
      const text = JSON.stringify([...outcomes.values()], undefined, 1);
      await writeFile(join(results, 'outcomes.json'), text);
    }
  };
  await Promise.all(Array.from({ length: workers }, work));
  return asked.flatMap((name) => outcomes.get(name) ?? []);
}

interface Player {
  readonly suite: EndToEndSuite;
  readonly built: Built;
  readonly results: string;
  /** Keeps folders of several runs apart. */
  readonly stamp: string;
}

/** Takes cases from the queue until there are none; a world that is not clean is replaced. */
async function* played(player: Player, queue: string[]): AsyncGenerator<CaseOutcome> {
  const { results, stamp } = player;
  let world: World | undefined;
  try {
    for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
      const id = `${stamp}-${queue.length}`;
      world ??= await startWorld(join(results, `world-${id}`));
      const outcome = await play(player, world, name, join(results, `case-${id}`));
      const left = await leftIn(world);
      yield withLeft(outcome, left);
      if (left === '') continue;
      await world.stop();
      world = undefined;
    }
  } finally {
    await world?.stop();
  }
}

/** The outcomes of the last run. */
export async function lastOutcomes(suite: string): Promise<readonly CaseOutcome[]> {
  const text = await readFile(join(resultsOf(suite), 'outcomes.json'), 'utf8').catch(() => '[]');
  return JSON.parse(text) as readonly CaseOutcome[];
}

async function casesIn(built: Built, results: string): Promise<readonly string[]> {
  const report = join(results, 'cases.json');
  await promisify(execFile)(built.program, ['-ginkgo.dry-run', `-ginkgo.json-report=${report}`], {
    cwd: built.folder,
    maxBuffer: 1 << 26,
  });
  return casesOf(JSON.parse(await readFile(report, 'utf8'))).map(({ name }) => name);
}

/** Where what is left after a case counts: it fails, however it went. */
function withLeft(outcome: CaseOutcome, left: string): CaseOutcome {
  if (left === '') return outcome;
  return { ...outcome, state: 'failed', message: `${outcome.message}\nleft behind: ${left}` };
}

async function leftIn(world: World): Promise<string> {
  const deadline = performance.now() + LEFT_MS_MAX;
  for (;;) {
    const left = await world.left().catch((error: unknown) => [`the world: ${String(error)}`]);
    if (left.length === 0 || performance.now() > deadline) return left.join(', ');
    await sleep(LEFT_POLL_MS);
  }
}

function environmentOf({ file }: World, results: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    KUBECONFIG: file.kubeconfig,
    OUTPUT_DIR: results,
    CLUSTER_NAME: CLUSTER,
    CLUSTER_ENDPOINT: file.server,
    INTERRUPTION_QUEUE: `joiner-${CLUSTER}`,
    WORLD_CONTROLS: file.controls,
    AWS_ENDPOINT_URL: file.aws,
    AWS_REGION: REGION,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
  };
}

async function play(
  { suite, built }: Player,
  world: World,
  name: string,
  folder: string,
): Promise<CaseOutcome> {
  await mkdir(folder, { recursive: true });
  const report = join(folder, 'report.json');
  const defaults = suite.nodePool === undefined ? [] : defaultsOf(suite.nodePool);
  const args = [
    `-ginkgo.focus=${escaped(name)}$`,
    '-ginkgo.v',
    '-ginkgo.no-color',
    '-ginkgo.grace-period=60s',
    `-ginkgo.timeout=${suite.minutesMax}m`,
    `-ginkgo.json-report=${report}`,
    `-test.timeout=${suite.minutesMax + 3}m`,
    ...defaults,
  ];
  const log = openSync(join(folder, 'log.txt'), 'w');
  const startMs = performance.now();
  await runChild(built.program, args, {
    cwd: built.folder,
    env: environmentOf(world, folder),
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const seconds = Math.round((performance.now() - startMs) / 1000);
  const text = await readFile(report, 'utf8').catch(() => '[]');
  return { ...outcomeOf(name, JSON.parse(text), world), seconds };
}

function defaultsOf(nodePool: string): readonly string[] {
  return [
    `-default-nodeclass=${join(MANIFESTS, 'nodeclass.yaml')}`,
    `-default-nodepool=${join(MANIFESTS, nodePool)}`,
  ];
}

/** The one case that ran; a set-up or clean-up that failed counts as its own failure. */
function outcomeOf(name: string, report: unknown, world: World): CaseOutcome {
  const [suite] = Array.isArray(report) ? report : [];
  const specs = property(suite, 'SpecReports');
  const nodes: readonly unknown[] = Array.isArray(specs) ? specs : [];
  const failed = nodes.find((each) => property(each, 'Failure') !== undefined && hasRun(each));
  if (failed !== undefined) {
    const message = `${messageOf(failed)}\nworld: ${world.folder}`;
    return { name, state: 'failed', seconds: 0, message };
  }
  const ran = nodes.find((each) => property(each, 'LeafNodeType') === 'It' && hasRun(each));
  if (ran !== undefined) return { name, state: 'passed', seconds: 0, message: '' };
  const isSkip = nodes.some((each) => property(each, 'Failure') !== undefined);
  if (isSkip) return { name, state: 'skipped', seconds: 0, message: '' };
  return { name, state: 'failed', seconds: 0, message: `no report; see ${world.folder}` };
}

function hasRun(spec: unknown): boolean {
  const state = property(spec, 'State');
  return state !== 'skipped' && state !== 'pending';
}
