import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, expect, it, vi } from 'vitest';
import type { LiveCluster } from '../../../cli/live.ts';
import { watchTop } from '../../../cli/top/watch/watch.ts';
import { unreachable } from '../../../shared/kube/errors.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const WATCH = join(import.meta.dirname, '../../../cli/top/watch/watch.ts');

afterEach(() => void vi.restoreAllMocks());

/** What is written of a cluster into a pipe until the first pause. */
async function watchedOnce(
  objects: ReturnType<typeof snapshotOf>,
  sort: 'pods' | undefined,
): Promise<string> {
  const enough = new Error('enough');
  const live = {
    reader: { read: async () => ({ objects, pausedUntilMs: {} }) },
    client: {
      open: () => Promise.reject(unreachable({ verb: 'list', resource: 'events' }, 'no')),
      timing: { nowMs: () => 0, sleep: () => Promise.reject(enough) },
    },
  } as unknown as LiveCluster;
  let written = '';
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    written += String(chunk);
    return true;
  });
  const selected = <Moment>(moment: Moment): Moment => moment;
  const watched = { live, catalog: undefined, title: '', intervalMs: 1, selected, sort };
  await expect(watchTop(watched)).rejects.toBe(enough);
  return written;
}

it('elsewhere than on a terminal the rows are sorted as asked', async () => {
  const counts = { a: 1, b: 3, c: 2 };
  const nodes = Object.keys(counts).map((name) => nodeOf(name, 4, 16));
  const pods = Object.entries(counts).flatMap(([nodeName, count]) =>
    Array.from({ length: count }, (_, at) => podOf(`${nodeName}-${at}`, {}, { nodeName })),
  );
  const objects = snapshotOf({ nodes, pods });
  const namesBy = async (sort: 'pods' | undefined): Promise<readonly string[]> =>
    (await watchedOnce(objects, sort)).match(/^[abc](?= )/gm) ?? [];
  expect(await namesBy(undefined)).toEqual(['a', 'b', 'c']);
  expect(await namesBy('pods')).toEqual(['b', 'c', 'a']);
});

it('elsewhere than on a terminal a state is said as on the screen', async () => {
  const providerId = 'aws:///a';
  const nodes = [nodeOf('a', 4, 16, { providerId, conditions: yes('Ready') })];
  const up = { providerId, conditions: yes('Launched', 'Registered', 'Initialized') };
  const nodeClaims = [claimOf('a', { ...up, deletedAtMs: 1 })];
  const pods = [podOf('web', {}, { nodeName: 'a' })];
  const written = await watchedOnce(snapshotOf({ nodes, nodeClaims, pods }), undefined);
  expect(written).toContain('Draining: 1 pod left');
  expect(written).not.toContain('Deleting');
  expect(written).toContain('\n0 pending pods\n');
});

/** A terminal on which a read fails with what is no answer of the API server. */
const FAILING = `
  Object.assign(process.stdin, { isTTY: true, setRawMode() {}, ref() {}, unref() {} });
  Object.assign(process.stdout, { isTTY: true, columns: 100, rows: 20 });
  const { watchTop } = await import(${JSON.stringify(WATCH)});
  const live = { reader: { read: async () => { throw new Error('a fault') } }, client: {} };
  const selected = (moment) => moment;
  await watchTop({ live, title: 'a title', intervalMs: 1000, selected }).catch((error) => {
    process.stderr.write('ended by ' + error.message);
    process.exitCode = 7;
  });
`;

it('on a terminal an error that is no answer of the API server ends the screen', () => {
  const flags = ['--input-type=module', '--no-warnings', '-e', FAILING];
  const { status, stderr, stdout } = spawnSync(process.execPath, flags, {
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(status).toBe(7);
  expect(stderr).toContain('ended by a fault');
  // The screen as it was before is there again.
  expect(stdout.trimEnd().endsWith('\u001b[?1049l')).toBe(true);
});
