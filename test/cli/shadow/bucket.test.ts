import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { Observation } from '../../../shared/api/observation.ts';
import { placeOf } from '../../../shared/aws/memory/decision-log.ts';
import { anObservation } from '../../builders/observations.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import { inFolder, joiner } from '../run.ts';
import { validated } from '../validated.ts';

const MINUTE_MS = 60_000;
const FOLDER = 'clusters/demo/shadow/';

let aws = new CheckedAccount();
let nowMs = 0;

function put(minutesAgo: number, body: Buffer): void {
  const key = `${FOLDER}${placeOf(nowMs - minutesAgo * MINUTE_MS)}.json.gz`;
  aws.bucket.objects.set(key, body);
}

/** An observation as the function `shadow` writes it. */
function observed(minutesAgo: number, change: Partial<Observation> = {}): Observation {
  const at = new Date(nowMs - minutesAgo * MINUTE_MS).toISOString();
  const observation = anObservation({ at, ...change });
  put(minutesAgo, gzipSync(JSON.stringify(observation)));
  return observation;
}

beforeEach(async () => {
  nowMs = Math.floor(Date.now() / 1000) * 1000;
  aws = new CheckedAccount();
  vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  aws.deploy('demo', ['catalog', 'shadow', 'install']);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const report = (...args: readonly string[]) => joiner('shadow', 'report', ...args);
const ofBucket = (...args: readonly string[]) => report('--cluster', 'demo', ...args);

describe('joiner shadow report of a stack', () => {
  it('is that of the same observations in a file', async () => {
    const all = [
      observed(30, { pending: ['a/1'], usdPerHour: { now: 1, after: 1.5 } }),
      observed(29, { pending: ['a/1'] }),
      observed(28, { isKarpenterActive: false }),
    ];
    const { exitCode, stdout, stderr } = await ofBucket('-o', 'json');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    await validated('shadow', JSON.parse(stdout));
    expect(JSON.parse(stdout)).toMatchObject({ observations: 3, withoutKarpenter: 1 });
    const lines = all.map((each) => `${JSON.stringify(each)}\n`).join('');
    await inFolder({ 'all.ndjson': lines }, async (folder) => {
      expect((await report(`${folder}/all.ndjson`, '-o', 'json')).stdout).toBe(stdout);
    });
  });

  it.each([
    [[], 3],
    [['--since', '3h'], 2],
    [['--since', '3d'], 4],
  ])('%j goes back so far', async (args, observations) => {
    for (const minutes of [2 * 24 * 60, 300, 120, 10]) observed(minutes);
    const { stdout } = await ofBucket(...args, '-o', 'json');
    expect(JSON.parse(stdout)).toMatchObject({ observations });
  });

  it('takes the bucket that is named, and needs no function then', async () => {
    for (const minutes of [2, 1]) observed(minutes);
    aws.functions.clear();
    const { exitCode } = await ofBucket('--bucket', 'joiner-demo');
    expect(exitCode).toBe(0);
  });

  it('says what of the bucket cannot be read, and reports the rest', async () => {
    for (const minutes of [9, 8]) observed(minutes);
    put(7, Buffer.from('no gzip'));
    put(6, gzipSync('{"format":2}'));
    const { exitCode, stderr } = await ofBucket();
    expect(exitCode).toBe(0);
    const warnings = stderr.trimEnd().split('\n');
    expect(warnings).toEqual([
      expect.stringMatching(/^warning: clusters\/demo\/shadow\/.*\.json\.gz: cannot be read: /),
      expect.stringMatching(/^warning: clusters\/demo\/shadow\/.*\.json\.gz: is no observation: /),
    ]);
  });

  it.each([
    [['report'], 'report: give a file, or --cluster of a stack with shadow'],
    [['record'], 'record: give a file'],
    [
      ['report', 'x.ndjson', '--cluster', 'demo', '--since', '1h'],
      '--cluster, --since: has no meaning with a file',
    ],
    [
      ['record', 'x.ndjson', '--cluster', 'demo'],
      '--cluster: has no meaning for joiner shadow record',
    ],
    [
      ['report', '--cluster', 'demo', '--effort', 'quick'],
      '--effort: has no meaning for joiner shadow report',
    ],
    [
      ['report', '--cluster', 'demo'],
      'bucket joiner-memory, cluster demo: a report needs two observations at least, there are 1',
    ],
    [['report', '--cluster', 'other'], 'no function of a stack for other names a bucket'],
  ])('%j is refused: %s', async (args, message) => {
    observed(5);
    const { exitCode, stderr } = await joiner('shadow', ...args);
    expect(exitCode).toBe(2);
    expect(stderr.replaceAll(/bucket \S+, /g, 'bucket joiner-memory, ')).toContain(message);
  });

  it('ends with the reason where S3 refuses', async () => {
    for (const minutes of [2, 1]) observed(minutes);
    aws.denied.add('s3');
    const { exitCode, stderr } = await ofBucket();
    expect(exitCode).toBe(1);
    expect(stderr).toContain('s3:ListBucket');
  });
});
