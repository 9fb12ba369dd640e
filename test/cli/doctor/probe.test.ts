import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { probe } from '../../../cli/doctor/probe.ts';
import { s3Client } from '../../../shared/aws/access.ts';
import { Calls } from '../../../shared/aws/calls.ts';
import { DecisionLog } from '../../../shared/aws/memory/decision-log.ts';
import { MemoryObjects } from '../../../shared/aws/memory/objects.ts';
import { CheckedAccount } from '../../support/aws/checked-account.ts';

const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };

let aws = new CheckedAccount();
let endpoint = '';
beforeEach(async () => {
  aws = new CheckedAccount();
  endpoint = await aws.start();
  vi.stubEnv('AWS_ENDPOINT_URL', endpoint);
  vi.stubEnv('AWS_ACCESS_KEY_ID', KEYS.accessKeyId);
  vi.stubEnv('AWS_SECRET_ACCESS_KEY', KEYS.secretAccessKey);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await aws.stop();
});

const deployed = {
  name: 'interrupt',
  roleArn: 'arn:aws:iam::111122223333:role/interrupt',
  state: 'Active',
  version: '0.1.0',
  bucket: 'joiner-demo',
  subnetIds: [],
} as const;
const facts = (functions: readonly (typeof deployed)[]) => ({
  asked: { cluster: 'demo', region: 'us-east-1', isInside: false, hasEmbeddedCatalog: true },
  functions: { ok: true, value: functions } as const,
});

/** What the function does once the event has come to it. */
async function answerWhenSent(): Promise<void> {
  await vi.waitUntil(() => aws.events.length > 0);
  const { mark } = JSON.parse(aws.events[0]?.Detail ?? '{}') as { readonly mark: string };
  const access = { region: 'us-east-1', credentials: KEYS, functionName: 'test', endpoint };
  const parts = { s3: s3Client(access), bucket: 'joiner-demo', calls: new Calls() };
  const log = new DecisionLog(new MemoryObjects({ ...parts, report: () => {} }), 'demo');
  log.add({
    id: `probe-${mark}`,
    atMs: Date.now(),
    useCase: 'interrupt',
    object: `Probe/${mark}`,
    action: 'none',
    reasons: [],
    message: '',
    detail: {},
  });
  await log.flush();
}

describe('joiner doctor --probe', () => {
  it('sends a marked event to the default bus and finds the mark of interrupt', async () => {
    const [line] = await Promise.all([probe(facts([deployed]), { lookMs: 20 }), answerWhenSent()]);
    expect(line).toMatchObject({ check: 'probe', status: 'OK' });
    expect(line.message).toMatch(/^a marked event came through rule, queue and interrupt in \d/);
    expect(aws.events).toMatchObject([{ Source: 'joiner.probe', DetailType: 'Joiner Probe' }]);
    expect(aws.events[0]?.EventBusName).toBeUndefined();
  });

  it('fails where no mark comes, and says where to look', async () => {
    const line = await probe(facts([deployed]), { waitMsMax: 100, lookMs: 20 });
    expect(line).toMatchObject({ status: 'FAIL' });
    expect(line.advice).toContain('Joiner, demo: Joiner Probe');
  });

  it('sends nothing where there is no stack', async () => {
    expect(await probe(facts([]))).toMatchObject({ status: 'WARN' });
    expect(aws.events).toEqual([]);
  });
});
