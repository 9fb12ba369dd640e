import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SnapshotLog } from '../../../../shared/aws/memory/snapshot-log.ts';
import { WireFault } from '../../../support/aws/wire/response.ts';
import { TestBucket } from './bucket.ts';

const AT_MS = Date.UTC(2026, 0, 2, 3, 4, 5, 678);

let bucket: TestBucket;

beforeEach(async () => {
  bucket = new TestBucket();
  await bucket.cloud.start();
});

afterEach(() => bucket.cloud.stop());

describe('what decisions were made from', () => {
  it('is an object each, compressed, made when it is written', async () => {
    const { objects, conditions } = bucket.process();
    const log = new SnapshotLog(objects, 'demo', '1.2.3');
    for (const name of ['provision-a', 'disrupt-b']) {
      log.add(name, AT_MS, (joiner) => JSON.stringify({ joiner, name }));
    }
    expect(bucket.keys()).toEqual([]);
    await log.flush();
    await log.flush();
    const folder = 'clusters/demo/snapshots/2026-01-02/03-04-05.678';
    const keys = [`${folder}-disrupt-b.json.gz`, `${folder}-provision-a.json.gz`];
    expect(bucket.keys()).toEqual(keys);
    const bodies = keys.map((key) => gunzipSync(bucket.bytes(key)).toString());
    expect(bodies.map((each) => JSON.parse(each))).toEqual([
      { joiner: '1.2.3', name: 'disrupt-b' },
      { joiner: '1.2.3', name: 'provision-a' },
    ]);
    expect(conditions).toEqual([]);
  });

  it('is kept for eight decisions of an invocation, and dropped where S3 does not take it', async () => {
    const { objects, conditions } = bucket.process();
    const log = new SnapshotLog(objects, 'demo', '1.2.3');
    for (let at = 0; at < 12; at += 1) log.add(`provision-${at}`, AT_MS, () => '{}');
    await log.flush();
    expect(bucket.keys()).toHaveLength(8);
    bucket.cloud.server.fail('s3', 'PutObject', new WireFault('AccessDenied', 'no', 403));
    log.add('provision-x', AT_MS, () => '{}');
    await log.flush();
    expect(bucket.keys()).toHaveLength(8);
    expect(conditions.map(({ reason }) => reason)).toEqual(['Unreachable']);
  });
});
