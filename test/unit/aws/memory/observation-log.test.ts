import { gunzipSync } from 'node:zlib';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ObservationLog } from '../../../../shared/aws/memory/observation-log.ts';
import { anObservation } from '../../../builders/observations.ts';
import { WireFault } from '../../../support/aws/wire/response.ts';
import { TestBucket } from './bucket.ts';

let bucket: TestBucket;

beforeEach(async () => {
  bucket = new TestBucket();
  await bucket.cloud.start();
});

afterEach(() => bucket.cloud.stop());

const AT = '2026-01-02T03:04:05.678Z';
const KEY = 'clusters/demo/shadow/2026-01-02/03-04-05.678.json.gz';

describe('an observation', () => {
  it('is an object of its own, compressed, named by its time', async () => {
    const { objects, conditions } = bucket.process();
    const observation = anObservation({ at: AT, pending: ['a/1'] });
    const bytes = await new ObservationLog(objects, 'demo').write(observation);
    expect(bucket.keys()).toEqual([KEY]);
    expect(bucket.bytes(KEY).length).toBe(bytes);
    expect(JSON.parse(gunzipSync(bucket.bytes(KEY)).toString())).toEqual(observation);
    expect(conditions).toEqual([]);
  });

  it('that was written before stays as it is', async () => {
    const log = new ObservationLog(bucket.process().objects, 'demo');
    await log.write(anObservation({ at: AT, pending: ['a/1'] }));
    await log.write(anObservation({ at: AT, pending: [] }));
    expect(gunzipSync(bucket.bytes(KEY)).toString()).toContain('"pending":["a/1"]');
  });

  it('that S3 does not take is a fault with its reason', async () => {
    bucket.cloud.server.fail('s3', 'PutObject', new WireFault('AccessDenied', 'no', 403));
    const log = new ObservationLog(bucket.process().objects, 'demo');
    await expect(log.write(anObservation({ at: AT }))).rejects.toThrow(
      /^the observation was not written to the bucket: s3:PutObject: no$/,
    );
    expect(bucket.keys()).toEqual([]);
  });
});
