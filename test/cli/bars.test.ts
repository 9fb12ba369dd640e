import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CheckedAccount } from '../support/aws/checked-account.ts';
import { joiner } from './run.ts';

const FILE = 'shared/us-east-1/unavailable/demo.json';
const OTHER = 'shared/us-east-1/unavailable/other.json';
const MINUTE_MS = 60_000;

let aws = new CheckedAccount();

function bar(instanceType: string, change: object = {}): object {
  const markedAtMs = Date.now() - 2 * MINUTE_MS;
  const untilMs = markedAtMs + 3 * MINUTE_MS;
  const offering = { instanceType, zone: 'us-east-1a', capacityType: 'spot' };
  const since = { kind: 'shortage', reason: 'InsufficientInstanceCapacity', markedAtMs, untilMs };
  return { ...offering, ...since, times: 1, ...change };
}

function put(key: string, offerings: readonly object[], subnets: readonly object[] = []): void {
  const text = JSON.stringify({ version: 1, offerings, subnets });
  aws.bucket.objects.set(key, Buffer.from(text));
}

beforeEach(async () => {
  aws = new CheckedAccount();
  vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  aws.deploy('demo', ['provision']);
  const quota = { kind: 'quota', reason: 'VcpuLimitExceeded' };
  const over = { untilMs: Date.now() - MINUTE_MS };
  const full = { kind: 'subnet', reason: 'InsufficientFreeAddressesInSubnet' };
  const {
    instanceType: _,
    zone: __,
    capacityType: ___,
    ...since
  } = bar('x.large', full) as {
    readonly [key: string]: unknown;
  };
  put(
    FILE,
    [bar('c7g.large'), bar('m7g.large', quota), bar('r7g.large', over)],
    [{ subnetId: 'subnet-0123456789abcdef0', ...since }],
  );
  put(OTHER, [bar('c8g.large')]);
});

afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const bars = (...args: readonly string[]) => joiner('bars', ...args, '--cluster', 'demo');

async function listed(): Promise<readonly string[]> {
  const { stdout } = await bars('-o', 'json');
  const { bars: all } = JSON.parse(stdout) as { readonly bars: readonly { key: string }[] };
  return all.map(({ key }) => key);
}

describe('joiner bars', () => {
  it('says what is barred, since when, why, and what ends it', async () => {
    const { exitCode, stdout, stderr } = await bars();
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout).toBe(
      [
        'BARRED                     KIND      REASON                             AGE  LEFT  TIMES  BY     ENDS',
        'c7g.large/us-east-1a/spot  shortage  InsufficientInstanceCapacity       2m   1m    1      demo   its expiry; the time doubles after each error',
        'c8g.large/us-east-1a/spot  shortage  InsufficientInstanceCapacity       2m   1m    1      other  its expiry; the time doubles after each error',
        'm7g.large/us-east-1a/spot  quota     VcpuLimitExceeded                  2m   1m    1      demo   its expiry, or the end of an instance of Joiner',
        'subnet-0123456789abcdef0   subnet    InsufficientFreeAddressesInSubnet  2m   1m    1      demo   its expiry',
        '',
      ].join('\n'),
    );
  });

  it('forgets one by its key, or by what it begins with', async () => {
    const { exitCode, stdout } = await bars('forget', 'c7g.large', 'subnet-0123456789abcdef0');
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: 'c7g.large/us-east-1a/spot: forgotten\nsubnet-0123456789abcdef0: forgotten\n',
    });
    expect(await listed()).toEqual(['c8g.large/us-east-1a/spot', 'm7g.large/us-east-1a/spot']);
  });

  it('forgets all that the stack has barred, and nothing of others', async () => {
    const { exitCode, stderr } = await bars('forget', '--all');
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'c8g.large/us-east-1a/spot is barred by the stack for other: --cluster other\n',
    );
    expect(await listed()).toEqual(['c8g.large/us-east-1a/spot']);
  });

  it('says that a key is not barred', async () => {
    const { exitCode, stderr } = await bars('forget', 'c7i.large');
    expect([exitCode, stderr]).toEqual([1, 'error: c7i.large is not barred\n']);
  });

  it('is refused without a bucket, and where S3 does not let the caller in', async () => {
    aws.functions.clear();
    const unknown = await bars();
    expect([unknown.exitCode, unknown.stdout]).toEqual([2, '']);
    expect(unknown.stderr).toContain('give --bucket');
    aws.denied.add('s3');
    const denied = await bars('--bucket', 'joiner-demo');
    expect([denied.exitCode, denied.stdout]).toEqual([1, '']);
  });

  it.each([
    [['forget'], 'give keys as the list has them, or --all, and not both'],
    [['list', 'x'], 'list takes no keys'],
    [['list', '--all'], '--all is for forget'],
  ])('%j is bad usage', async (args, message) => {
    const { exitCode, stderr } = await bars(...args);
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});
