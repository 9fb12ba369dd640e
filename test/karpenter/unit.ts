import { closeSync, openSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { kubernetesRelease } from '../support/control-plane/assets.ts';
import { runChild } from './children.ts';
import { editsOf } from './edits.ts';
import { build, CORE } from './module.ts';
import { type CaseOutcome, casesOf } from './report.ts';
import type { UnitSuite } from './suites.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Reports, logs and cases of the last run of each suite. */
export function resultsOf(suite: string): string {
  return join(ROOT, '.cache/karpenter', suite);
}

const MINUTES_MAX = 30;

export interface UnitRun {
  /** Folder of etcd and kube-apiserver. */
  readonly assets: string;
  readonly focus: RegExp | undefined;
  /** Karpenter's own, with nothing in its place. */
  readonly isStock: boolean;
}

/** Builds a suite where needed and runs it; its cases that match. */
export async function runUnitSuite(
  suite: UnitSuite,
  { assets, focus, isStock }: UnitRun,
): Promise<readonly CaseOutcome[]> {
  const edits = isStock ? { changes: {}, files: {} } : await editsOf(suite.part);
  const built = await build(CORE, `pkg/${suite.folder}`, edits);
  const isWhole = focus === undefined && !isStock;
  const results = resultsOf(isWhole ? suite.name : partOf(suite.name));
  await rm(results, { recursive: true, force: true });
  await mkdir(results, { recursive: true });
  const report = join(results, 'report.json');
  const args = [
    `-test.timeout=${MINUTES_MAX}m`,
    `-ginkgo.timeout=${MINUTES_MAX}m`,
    '-ginkgo.no-color',
    '-ginkgo.seed=1',
    `-ginkgo.json-report=${report}`,
    ...(focus === undefined ? [] : [`-ginkgo.focus=${focus.source}`]),
  ];
  const log = openSync(join(results, 'log.txt'), 'w');
  await runChild(built.program, args, {
    cwd: built.folder,
    env: {
      ...process.env,
      ...suite.environment,
      KUBEBUILDER_ASSETS: assets,
      K8S_VERSION: `${kubernetesRelease(process.env)}.x`,
      JOINER_NODE: process.execPath,
      JOINER_ANSWERS: join(import.meta.dirname, 'answers.ts'),
      JOINER_CASES: join(results, 'cases.jsonl'),
    },
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const cases = await casesOfRun(results);
  return focus === undefined ? cases : cases.filter(({ name }) => focus.test(name));
}

/** Where other runs have their results, so that those of the last whole one stay. */
function partOf(suite: string): string {
  return `${suite}-part`;
}

/** The cases of the last whole run. */
export async function lastRun(suite: string): Promise<readonly CaseOutcome[]> {
  return await casesOfRun(resultsOf(suite));
}

async function casesOfRun(results: string): Promise<readonly CaseOutcome[]> {
  const text = await readFile(join(results, 'report.json'), 'utf8').catch((cause) => {
    throw new Error(`there is no report; see ${results}`, { cause });
  });
  return casesOf(JSON.parse(text));
}

/** What Joiner was asked in the cases that match, as `joiner solve` reads it; of the last runs. */
export async function casesAsked(suite: string, focus: RegExp): Promise<readonly string[]> {
  const files = [partOf(suite), suite].map((name) => join(resultsOf(name), 'cases.jsonl'));
  const texts = await Promise.all(files.map((file) => readFile(file, 'utf8').catch(() => '')));
  return texts.flatMap((text) =>
    text.split('\n').flatMap((line) => {
      if (line === '') return [];
      const { spec, request } = JSON.parse(line) as { spec: string; request?: { case: object } };
      return request !== undefined && focus.test(spec) ? [JSON.stringify(request.case)] : [];
    }),
  );
}
