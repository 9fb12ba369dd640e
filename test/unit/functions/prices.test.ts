import { afterEach, describe, expect, it, vi } from 'vitest';
import { Prices } from '../../../functions/runtime/memory.ts';
import { telemetry } from '../../../functions/runtime/telemetry.ts';
import type { CatalogFile, KeptCatalog } from '../../../shared/aws/memory/catalog-file.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { METRICS } from '../../../shared/contract/metrics.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const catalog = { ...(await loadCatalog('us-east-1')), date: '2026-10', spotDate: '2026-09-21' };

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

function pricesOf(newest: CatalogFile['newest']) {
  vi.useFakeTimers({ now: NOW_MS });
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  const parts = telemetry('demo');
  vi.spyOn(parts.logger, 'warn').mockReturnValue(undefined);
  return { parts, prices: new Prices({ newest }, catalog, parts) };
}

async function refreshed(kept: Omit<KeptCatalog, 'catalog'> | undefined) {
  const { parts, prices } = pricesOf(async () => kept && { ...kept, catalog });
  await prices.refresh();
  const seconds: unknown = Reflect.get(parts.metrics.serializeMetrics(), METRICS.priceAge.name);
  const days = (Number(seconds) * 1000) / DAY_MS;
  return { days, isStale: prices.degradations.length > 0 };
}

describe('the age of the prices in use', () => {
  it('is that of the embedded ones while the bucket has none', async () => {
    expect((await refreshed(undefined)).days).toBe(61.5);
  });

  it.each([
    ['all just read', { atMs: NOW_MS }, 0, false],
    [
      'on-demand prices of three days ago',
      { atMs: NOW_MS, onDemandAtMs: NOW_MS - 3 * DAY_MS },
      3,
      true,
    ],
    ['nothing read for three days', { atMs: NOW_MS - 3 * DAY_MS }, 3, true],
  ])('%s', async (_, kept, days, isStale) => {
    expect(await refreshed(kept)).toEqual({ days, isStale });
  });
});

describe('a bucket that does not answer', () => {
  it('takes the last prices away from nobody, until they are old', async () => {
    const own = { ...catalog, date: '2026-11-21' };
    const answers = [undefined, { catalog: own, atMs: NOW_MS }, undefined, undefined];
    const { prices } = pricesOf(async () => answers.shift());
    const seenAfter = async (days: number) => {
      vi.setSystemTime(NOW_MS + days * DAY_MS);
      await prices.refresh();
      return [prices.current?.date, prices.isCurrent, prices.degradations.length];
    };
    expect(await seenAfter(0)).toEqual(['2026-10', false, 0]);
    expect(await seenAfter(0)).toEqual(['2026-11-21', true, 0]);
    expect(await seenAfter(1)).toEqual(['2026-11-21', true, 0]);
    expect(await seenAfter(3)).toEqual(['2026-11-21', false, 1]);
  });
});
