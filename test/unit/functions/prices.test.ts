import { afterEach, describe, expect, it, vi } from 'vitest';
import { Prices } from '../../../functions/runtime/memory.ts';
import { telemetry } from '../../../functions/runtime/telemetry.ts';
import type { CatalogFile, KeptCatalog } from '../../../shared/aws/memory/catalog-file.ts';
import { loadCatalog } from '../../../shared/catalog/catalog.ts';
import { METRICS } from '../../../shared/contract.ts';

const NOW_MS = Date.parse('2026-11-21T12:00:00Z');
const DAY_MS = 24 * 3_600_000;
const catalog = { ...(await loadCatalog('us-east-1')), date: '2026-10', spotDate: '2026-09-21' };

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

async function refreshed(kept: Omit<KeptCatalog, 'catalog'> | undefined) {
  vi.useFakeTimers({ now: NOW_MS });
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  const parts = telemetry('demo');
  vi.spyOn(parts.logger, 'warn').mockReturnValue(undefined);
  const newest: CatalogFile['newest'] = async () => kept && { ...kept, catalog };
  const prices = new Prices({ newest }, catalog, parts);
  await prices.refresh();
  const seconds: unknown = Reflect.get(parts.metrics.serializeMetrics(), METRICS.priceAge);
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
