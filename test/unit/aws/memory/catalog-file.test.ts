import { gunzipSync, gzipSync } from 'node:zlib';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { CatalogFile, pricesAtMs } from '../../../../shared/aws/memory/catalog-file.ts';
import { loadCatalog } from '../../../../shared/catalog/catalog.ts';
import type { Catalog, MachineFacts } from '../../../../shared/catalog/facts.ts';
import { WireFault } from '../../../support/aws/wire/response.ts';
import { type Process, REGION, TestBucket } from './bucket.ts';

const HOUR_MS = 3_600_000;
const KEY = 'shared/us-east-1/catalog/demo.json';

let bucket: TestBucket;
let embedded: Catalog;

beforeAll(async () => {
  embedded = await loadCatalog(REGION);
});

beforeEach(async () => {
  bucket = new TestBucket();
  await bucket.cloud.start();
});

afterEach(async () => {
  await bucket.cloud.stop();
});

function fileOf({ objects }: Process, cluster = 'demo'): CatalogFile {
  return new CatalogFile(objects, { region: REGION, cluster });
}

/** The catalog with one type only, changed. */
function small(changes: Partial<MachineFacts> = {}): Catalog {
  const types = embedded.types.filter(({ name }) => name === 'c7g.large');
  return { ...embedded, types: types.map((each) => ({ ...each, ...changes })) };
}

describe('the catalog of the bucket', () => {
  it('is read as it was written, compactly', async () => {
    const process = bucket.process();
    const kept = { catalog: embedded, atMs: bucket.nowMs };
    expect(await fileOf(process).write(kept)).toBe(true);
    expect(await fileOf(bucket.process()).newest(embedded)).toEqual(kept);
    expect(bucket.keys()).toEqual([KEY]);
    expect(bucket.cloud.bucket.objects.get(KEY)?.length).toBeLessThan(200_000);
    expect(process.conditions).toEqual([]);
  });

  it('replaces the one before', async () => {
    const file = fileOf(bucket.process());
    await file.write({ catalog: small(), atMs: 1 });
    await file.write({ catalog: small({ onDemandPrice: 0.08 }), atMs: 2 });
    expect(await file.newest(undefined)).toEqual({
      catalog: small({ onDemandPrice: 0.08 }),
      atMs: 2,
    });
  });

  it('keeps the age of its on-demand prices when only spot prices are read', async () => {
    const file = fileOf(bucket.process());
    const [onDemandAtMs, atMs] = [bucket.nowMs - 50 * HOUR_MS, bucket.nowMs];
    await file.write({ catalog: small(), atMs, onDemandAtMs });
    for (let time = 0; time < 2; time += 1) {
      const kept = await file.newest(undefined);
      expect(kept).toMatchObject({ atMs, onDemandAtMs });
      expect(kept && pricesAtMs(kept)).toBe(onDemandAtMs);
    }
    expect(pricesAtMs({ catalog: small(), atMs })).toBe(atMs);
  });

  it('keeps on-demand prices that were read while another run read spot prices', async () => {
    const [slow, file] = [fileOf(bucket.process()), fileOf(bucket.process())];
    const now = bucket.nowMs;
    await file.write({ catalog: small({ onDemandPrice: 0.08 }), atMs: now - 2_000 });
    const late = {
      catalog: small({ onDemandPrice: 0.07 }),
      atMs: now,
      onDemandAtMs: now - HOUR_MS,
    };
    expect(await slow.write(late)).toBe(true);
    expect((await slow.newest(undefined))?.catalog.types[0]?.onDemandPrice).toBe(0.08);
    const spot = { ...late, onDemandAtMs: now - 2_000 };
    expect(await slow.write(spot)).toBe(true);
    expect((await slow.newest(undefined))?.atMs).toBe(now);
  });

  it('is read where an earlier version wrote it, which knew no limits of volumes', async () => {
    const file = fileOf(bucket.process());
    await file.write({ catalog: small(), atMs: 1 });
    const written = bucket.cloud.bucket.objects.get(KEY) ?? new Uint8Array();
    const text = gunzipSync(written).toString();
    const earlier = gzipSync(text.replace(/"ebsAttachments":(?:null|\{[^}]*\}),/g, ''));
    bucket.cloud.bucket.objects.set(KEY, earlier);
    expect(await fileOf(bucket.process()).newest(undefined)).toEqual({
      catalog: small({ ebsAttachments: undefined }),
      atMs: 1,
    });
  });

  it('is written over one that came in between', async () => {
    let raced = false;
    const racing = bucket.process({
      before: async (command) => {
        if (command !== 'PutObjectCommand' || raced) return;
        raced = true;
        await fileOf(bucket.process()).write({ catalog: small(), atMs: 1 });
      },
    });
    expect(await fileOf(racing).write({ catalog: small(), atMs: 2 })).toBe(true);
    expect(await fileOf(racing).newest(undefined)).toMatchObject({ atMs: 2 });
  });

  it('is another cluster’s where ours is older than two hours, or not there', async () => {
    const other = fileOf(bucket.process({ cluster: 'other' }), 'other');
    await other.write({ catalog: small(), atMs: bucket.nowMs });
    const file = fileOf(bucket.process());
    expect(await file.newest(embedded)).toMatchObject({ atMs: bucket.nowMs });
    await file.write({ catalog: small(), atMs: bucket.nowMs - HOUR_MS });
    expect(await file.newest(embedded)).toMatchObject({ atMs: bucket.nowMs - HOUR_MS });
    bucket.cloud.bucket.objects.delete(KEY);
    await file.write({ catalog: small(), atMs: bucket.nowMs - 3 * HOUR_MS });
    expect(await file.newest(embedded)).toMatchObject({ atMs: bucket.nowMs });
  });

  it('is looked for once a minute', async () => {
    const file = fileOf(bucket.process());
    await fileOf(bucket.process()).write({ catalog: small(), atMs: 1 });
    expect(await file.newest(undefined)).toMatchObject({ atMs: 1 });
    await fileOf(bucket.process()).write({ catalog: small(), atMs: 2 });
    bucket.nowMs += 59_999;
    expect(await file.newest(undefined)).toEqual({ catalog: small(), atMs: 1 });
    bucket.nowMs += 1;
    expect(await file.newest(undefined)).toMatchObject({ atMs: 2 });
  });

  it('has embedded prices where its own cannot be true', async () => {
    const [known] = small().types;
    const { onDemandPrice = 0, spotPrices = {} } = known ?? {};
    const [zone = '', other = ''] = Object.keys(spotPrices).sort();
    const before = spotPrices[zone] ?? 0;
    const process = bucket.process();
    const file = fileOf(process);
    const written = small({
      onDemandPrice: onDemandPrice * 10.1,
      spotPrices: {
        [zone]: before * 0.09,
        [other]: before * 0.5,
        'us-east-1z': onDemandPrice * 11,
      },
    });
    await file.write({ catalog: written, atMs: bucket.nowMs });
    const read = await file.newest(embedded);
    expect(read?.catalog).toEqual(
      small({ onDemandPrice, spotPrices: { [zone]: before, [other]: before * 0.5 } }),
    );
    expect(process.conditions).toEqual([
      { key: KEY, reason: 'Invalid', message: `${KEY}: 3 prices cannot be true` },
    ]);
    // Nothing is known to compare with in a region without an embedded catalog.
    const foreign = await fileOf(bucket.process()).newest(undefined);
    expect(foreign?.catalog).toEqual(written);
  });

  it.each([0.11, 1, 9.9])(
    'has its own price where that is %f times the embedded one',
    async (times) => {
      const [known] = small().types;
      const catalog = small({ onDemandPrice: (known?.onDemandPrice ?? 0) * times });
      const file = fileOf(bucket.process());
      await file.write({ catalog, atMs: bucket.nowMs });
      expect((await file.newest(embedded))?.catalog).toEqual(catalog);
    },
  );

  /** A file as it is written, with another field in its place or in its catalog's. */
  function packed(changes: object, inCatalog: object = {}): Buffer {
    const catalog = { ...small(), ...inCatalog };
    const text = { version: 1, atMs: bucket.nowMs, catalog, ...changes };
    return gzipSync(JSON.stringify(text, (_, value) => value ?? null));
  }

  it('is there when its file is as it should be', async () => {
    bucket.put(KEY, packed({}));
    expect(await fileOf(bucket.process()).newest(embedded)).toMatchObject({ catalog: small() });
  });

  it.each<readonly [string, () => string | Buffer]>([
    ['is not packed', () => '{}'],
    ['is empty', () => ''],
    ['is packed nonsense', () => gzipSync('nonsense')],
    ['unpacks to more than any catalog', () => gzipSync(Buffer.alloc(33 * 2 ** 20, 32))],
    ['has another version', () => packed({ version: 2 })],
    ['is of the future', () => packed({ atMs: bucket.nowMs + HOUR_MS })],
    ['is of another region', () => packed({}, { region: 'eu-west-1' })],
    ['lacks fields', () => packed({}, { types: [{ name: 'c7g.large' }] })],
    ['has a price of nothing', () => packed({}, small({ onDemandPrice: 0 }))],
    ['has no types', () => packed({}, { types: [] })],
  ])('is not there, and that is said, when its file %s', async (_, body) => {
    bucket.put(KEY, body());
    const process = bucket.process();
    expect(await fileOf(process).newest(embedded)).toBeUndefined();
    expect(process.conditions).toMatchObject([{ key: KEY, reason: 'Invalid' }]);
  });

  it('is not there when S3 is not', async () => {
    bucket.cloud.server.fail('s3', 'GetObject', new WireFault('InternalError', 'no', 500));
    const process = bucket.process();
    expect(await fileOf(process).newest(embedded)).toBeUndefined();
    expect(await fileOf(process).write({ catalog: small(), atMs: 1 })).toBe(false);
    expect(process.conditions).toMatchObject([{ key: KEY, reason: 'Unreachable' }]);
  });
});
