import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { FINAL_STATE } from '../../../cli/simulate/recordings.ts';
import { placeOf } from '../../../shared/aws/memory/decision-log.ts';
import { WORLD_START_MS } from '../../../shared/sim/world.ts';
import { NODE_CLASS, nodePool, recordedTo, workload } from '../../builders/recorded-month.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';
import { inFolder, joiner } from '../run.ts';

const DAY_MS = 86_400_000;

let aws = new CheckedAccount();

beforeEach(async () => {
  // Each day since the world's start is a listing.
  vi.useFakeTimers({ toFake: ['Date'], now: WORLD_START_MS + DAY_MS });
  aws = new CheckedAccount();
  vi.stubEnv('AWS_ENDPOINT_URL', await aws.start());
  vi.stubEnv('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE');
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', 'a-secret-of-the-test');
  vi.stubEnv('AWS_REGION', 'us-east-1');
  aws.deploy('demo', ['provision']);
});

afterEach(async () => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
  await aws.stop();
});

const MANIFESTS = [
  NODE_CLASS,
  nodePool('default', { 'karpenter.sh/capacity-type': ['on-demand'] }),
  workload('shop', 3, { cpu: '900m', memory: '2Gi' }),
];

it('reads the bucket as it reads a folder', async () => {
  await inFolder({}, async (folder) => {
    const steps = [{ at: '68m', scale: { name: 'shop', replicas: 6 } }];
    await recordedTo(folder, 0.05, MANIFESTS, steps);
    // A copy of the bucket has none: its time ends with the last record.
    rmSync(join(folder, FINAL_STATE));
    const since = '2d';
    const put = (place: string, body: Buffer) =>
      aws.bucket.objects.set(`clusters/demo/${place}`, body);
    put(
      `decisions/${placeOf(WORLD_START_MS)}-one.ndjson`,
      readFileSync(join(folder, 'decisions.ndjson')),
    );
    for (const name of readdirSync(join(folder, 'snapshots'))) {
      const body = readFileSync(join(folder, 'snapshots', name));
      const { at } = JSON.parse(body.toString('utf8'));
      put(`snapshots/${placeOf(Date.parse(at))}-${name}.gz`, gzipSync(body));
    }
    const answered = async (...args: readonly string[]) => {
      const { stdout, stderr } = await joiner('savings', ...args, '--since', since, '-o', 'json');
      expect(stderr).toBe('');
      return JSON.parse(stdout);
    };
    const local = await answered('--dir', folder);
    const read = await answered('--cluster', 'demo');
    expect(local.launches).toHaveLength(2);
    const rates = ({ launches }: typeof local) =>
      launches.map((each: { usdPerHour: number; firstFitUsdPerHour: number }) => [
        each.usdPerHour,
        each.firstFitUsdPerHour,
      ]);
    expect(rates(read)).toEqual(rates(local));
    // The folder's time ends with the second launch; in the bucket these nodes run until now.
    expect(local.launches[1]).toMatchObject({ hours: 0, notCompared: 'not-launched' });
    expect(read.totals.nodesCompared).toBe(read.totals.nodesLaunched);
    expect(read.launches[0].hours).toBeGreaterThan(local.launches[0].hours);
    // Launched a day ago, and they run: of the last hour they count for an hour, too.
    const hour = await joiner('savings', '--cluster', 'demo', '--since', '1h', '-o', 'json');
    const { totals, launches, notes } = JSON.parse(hour.stdout);
    expect(launches.map(({ hours }: { hours: number }) => hours)).toEqual([1, 1]);
    expect(totals).toMatchObject({ nodesLaunched: 0, nodesRan: read.totals.nodesRan });
    expect(totals.nodesCompared).toBe(totals.nodesRan);
    expect(totals.usd).toBeGreaterThan(0);
    expect(notes).toEqual([]);
  });
});
