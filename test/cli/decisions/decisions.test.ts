import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { recordsStream } from '../../../cli/decisions/render.ts';
import { recordsOf } from '../../../shared/api/decision-record.ts';
import { placeOf } from '../../../shared/aws/memory/decision-log.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import { root } from '../../support/repository.ts';
import { joiner } from '../run.ts';

const MINUTE_MS = 60_000;
const FOLDER = 'clusters/demo/decisions/';

let aws = new CheckedAccount();
/** A whole second, so that what is printed is what was recorded. */
let nowMs = 0;

/** A record as the functions write it. */
function record(id: string, minutesAgo: number, change: object = {}): object {
  const object = `NodeClaim/${id}`;
  const atMs = nowMs - minutesAgo * MINUTE_MS;
  const base = { id, atMs, useCase: 'provision', object, action: 'create', reasons: [] };
  return { ...base, message: `why ${id}`, detail: { nodePool: 'web' }, ...change };
}

/** An object of an invocation that began so many minutes ago. */
function put(name: string, minutesAgo: number, ...lines: readonly (object | string)[]): void {
  const key = `${FOLDER}${placeOf(nowMs - minutesAgo * MINUTE_MS)}-${name}.ndjson`;
  const text = lines.map((each) => (typeof each === 'string' ? each : JSON.stringify(each)));
  aws.bucket.objects.set(key, Buffer.from(`${text.join('\n')}\n`));
}

beforeEach(async () => {
  nowMs = Math.floor(Date.now() / 1000) * 1000;
  aws = new CheckedAccount();
  vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  aws.deploy('demo', ['provision']);
  // The second was decided within the hour by an invocation that began before it.
  put('long', 70, record('too-early', 70), record('late', 58));
  put('pass', 20, record('web-x1', 20, { detail: { nodePool: 'web', pods: ['shop/cart'] } }));
  const unplaced = { object: 'Pod/shop/train', action: 'unschedulable', detail: {} };
  put('pass-2', 5, record('other', 5, unplaced), record('web-x1', 20));
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const decisions = (...args: readonly string[]) => joiner('decisions', ...args, '--cluster', 'demo');

/** Ids of what is listed. */
async function listed(...args: readonly string[]): Promise<readonly string[]> {
  const { stdout } = await decisions(...args, '-o', 'json');
  const found = JSON.parse(stdout) as { readonly decisions: readonly { readonly id: string }[] };
  return found.decisions.map(({ id }) => id);
}

function timeAgo(minutes: number): string {
  return new Date(nowMs - minutes * MINUTE_MS).toISOString().replace('.000', '');
}

describe('joiner decisions', () => {
  it('lists the decisions of the last hour by time, each once', async () => {
    const { exitCode, stdout, stderr } = await decisions();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      'AT                    BY         ACTION         OBJECT                                WHY',
      `${timeAgo(58)}  provision  create         NodeClaim/late                        why late`,
      `${timeAgo(20)}  provision  create         NodeClaim/web-x1                      why web-x1`,
      `${timeAgo(5)}  provision  unschedulable  Pod/shop/train                        why other`,
      '',
    ]);
  });

  it('wide has ids and codes', async () => {
    const reasons = [
      { code: 'a', parameters: {} },
      { code: 'b', parameters: {} },
    ];
    put('pass-3', 1, record('id-1', 1, { reasons }));
    const { stdout } = await decisions('-o', 'wide', '--since', '10m');
    const id = (text: string): string => text.padEnd(24);
    expect(stdout.split('\n').map((line) => line.slice(86))).toEqual([
      `${id('ID')}  ${'CODES'.padEnd(36)}  WHY`,
      `${id('other')}  ${'-'.padEnd(36)}  why other`,
      `${id('id-1')}  ${'a,b'.padEnd(36)}  why id-1`,
      '',
    ]);
  });

  it('as JSON has the records as they are, and since when', async () => {
    const { stdout } = await decisions('-o', 'json', '--pod', 'cart');
    const { cluster, since, decisions: all } = JSON.parse(stdout);
    expect(cluster).toBe('demo');
    expect(Math.abs(nowMs - 60 * MINUTE_MS - Date.parse(since))).toBeLessThan(MINUTE_MS);
    expect(all).toEqual([
      record('web-x1', 20, { detail: { nodePool: 'web', pods: ['shop/cart'] } }),
    ]);
  });

  it.each<[readonly string[], readonly string[]]>([
    [['--since', '10m'], ['other']],
    [
      ['--since', '2d'],
      ['too-early', 'late', 'web-x1', 'other'],
    ],
    [
      ['--nodepool', 'web'],
      ['late', 'web-x1'],
    ],
    [['--node', 'late'], ['late']],
    [['--pod', 'shop/train'], ['other']],
  ])('%j: what is asked for', async (args, expected) => {
    expect(await listed(...args)).toEqual(expected);
  });

  it('as YAML has the same', async () => {
    const { stdout } = await decisions('-o', 'yaml', '--since', '10m');
    const { cluster, decisions: all } = parse(stdout);
    expect([cluster, all.map(({ id }: { id: string }) => id)]).toEqual(['demo', ['other']]);
  });

  it('of a stream are documents of their own', () => {
    const records = recordsOf(`${JSON.stringify(record('a', 1))}\n`).records;
    expect(
      recordsStream([...records, ...records], 'json')
        .trimEnd()
        .split('\n'),
    ).toHaveLength(2);
    expect(parseAllDocuments(recordsStream([...records, ...records], 'yaml'))).toHaveLength(2);
  });

  it('says that there is none', async () => {
    const { exitCode, stdout } = await decisions('--pod', 'nobody');
    expect([exitCode, stdout]).toEqual([0, expect.stringMatching(/^no decision since \S+Z\n$/)]);
  });

  it('says what cannot be read, and lists the rest', async () => {
    put('broken', 3, '{"id":', record('good', 3));
    const { exitCode, stderr } = await decisions();
    expect([exitCode, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: clusters\/demo\/\S+: 1 of its records cannot be read\n$/),
    ]);
    expect(await listed('--since', '4m')).toEqual(['good']);
  });

  it('is refused without a bucket, and where S3 does not let the caller in', async () => {
    aws.functions.clear();
    const unknown = await decisions();
    expect([unknown.exitCode, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('give --bucket');
    aws.denied.add('s3');
    const denied = await decisions('--bucket', 'joiner-demo');
    expect([denied.exitCode, denied.stdout]).toEqual([1, '']);
    expect(denied.stderr).toContain('s3:ListBucket');
  });

  it.each(['soon', '1s', '400d'])('--since %s is bad usage', async (since) => {
    const { exitCode, stderr } = await decisions('--since', since);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('such as 7d or 36h')]);
  });

  it('goes on with what is written later, until it is interrupted', async () => {
    const script = join(root, 'cli', 'bin', 'joiner.mjs');
    const args = ['decisions', '--cluster', 'demo', '-f', '-o', 'json', '--since', '10m'];
    const child = spawn(process.execPath, [script, ...args], { env: process.env });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    const ended = new Promise((resolve) => child.on('close', resolve));
    const until = (id: string) => vi.waitUntil(() => text.includes(`"${id}"`), { timeout: 60_000 });
    try {
      await until('other');
      put('later', 0, record('later', 0));
      await until('later');
    } finally {
      child.kill('SIGINT');
      await ended;
    }
    const ids = text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(['other', 'later']);
  });
});
