/**
 * Manifests that others have published, tried from their repositories:
 * `npm run test:manifests [-- --checkouts FOLDER]`. A repository is taken from `FOLDER/name` or
 * `FOLDER/owner+name`, and cloned from GitHub where it is not there. Not part of CI: it needs the
 * network, and what others publish changes.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { isJson, listAt, numberAt, textAt } from '../../shared/sim/json.ts';
import { TRIALS, type Trial } from './trials.ts';

const ROOT = join(import.meta.dirname, '../..');
const COMMAND = join(ROOT, 'cli/bin/joiner.mjs');
const POOL = join(import.meta.dirname, 'pool.yaml');

function checkoutOf(repository: string, checkouts: string): string {
  const [owner = '', name = ''] = repository.split('/');
  const there = [name, `${owner}+${name}`].map((each) => join(checkouts, each)).find(existsSync);
  if (there !== undefined) return there;
  const folder = join(checkouts, `${owner}+${name}`);
  const url = `https://github.com/${repository}.git`;
  const { status } = spawnSync('git', ['clone', '--quiet', '--depth', '1', url, folder], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`${repository}: cannot be cloned to ${folder}`);
  return folder;
}

/** One run of `joiner simulate`, and what should come of it. */
interface Run {
  readonly name: string;
  readonly paths: readonly string[];
  readonly pending: string | undefined;
  readonly refused: string | undefined;
}

function runsOf(trial: Trial, checkout: string): readonly Run[] {
  const { repository, path, leaves, beside, ownPools = false } = trial;
  const more = [
    ...(beside === undefined ? [] : [join(checkout, beside)]),
    ...(ownPools ? [] : [POOL]),
  ];
  const run = (entry: string, own: string): Run => ({
    name: `${repository} ${own}`,
    paths: [join(checkout, own), ...more],
    pending: trial.pending?.[entry],
    refused: trial.refused?.[entry],
  });
  if (!path.endsWith('/*')) return [run(path, path)];
  const folder = path.slice(0, -'/*'.length);
  return readdirSync(join(checkout, folder))
    .filter((entry) => !entry.startsWith('.') && leaves?.test(entry) !== true)
    .filter((entry) => !/\.(md|txt)$/i.test(entry))
    .sort()
    .map((entry) => run(entry, `${folder}/${entry}`));
}

/** What is wrong; empty: all is as it should be. */
function judge({ pending, refused }: Run, status: number | null, stdout: string, stderr: string) {
  if (refused !== undefined) {
    return status === 2 ? { says: `refused: ${refused}`, wrong: '' } : { wrong: 'is not refused' };
  }
  if (status !== 0) return { wrong: `exit ${status}: ${stderr.split('\n').slice(0, 3).join(' ')}` };
  const state: unknown = JSON.parse(stdout);
  const waiting = listAt(state, 'pods', 'pending').filter(isJson);
  const running = numberAt(state, 'pods', 'running') ?? 0;
  const [first] = waiting;
  if (first !== undefined && pending === undefined) {
    const why = `${textAt(first, 'pod') ?? ''}: ${textAt(first, 'reason') ?? ''}`;
    return { wrong: `${waiting.length} pods pending, ${why}` };
  }
  const left = waiting.length === 0 ? '' : `, ${waiting.length} pending: ${pending ?? ''}`;
  return { says: `${running} running${left}`, wrong: '' };
}

function play(run: Run): boolean {
  const args = ['simulate', ...run.paths, '--duration', '5m', '-o', 'json'];
  const { status, stdout, stderr } = spawnSync(process.execPath, [COMMAND, ...args], {
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  });
  const { says = '', wrong } = judge(run, status, stdout, stderr);
  process.stdout.write(`${wrong === '' ? 'ok   ' : 'WRONG'} ${run.name}: ${wrong || says}\n`);
  return wrong === '';
}

const { values } = parseArgs({
  options: { checkouts: { type: 'string', default: join(homedir(), '.cache/joiner/manifests') } },
});
const runs = TRIALS.flatMap((trial) =>
  runsOf(trial, checkoutOf(trial.repository, values.checkouts)),
);
const failed = runs.filter((run) => !play(run)).length;
process.stdout.write(`${runs.length - failed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
