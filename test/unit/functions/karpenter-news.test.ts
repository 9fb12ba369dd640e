import { Logger } from '@aws-lambda-powertools/logger';
import { afterEach, expect, it, vi } from 'vitest';
import { karpenterNews } from '../../../functions/runtime/karpenter-news.ts';

afterEach(() => void vi.restoreAllMocks());

it('names the Lease that stops Joiner and its holder, again once an hour', () => {
  let nowMs = 1e12;
  const logger = new Logger();
  const warn = vi.spyOn(logger, 'warn').mockReturnValue();
  const tell = karpenterNews({ logger }, () => nowMs);
  const lease = 'tenant/karpenter-leader-election';
  const renewed = (holder: string, agoMs = 0): void =>
    tell({ lease, holder, renewedAtMs: nowMs - agoMs });
  renewed('who', 60_000);
  expect(warn).not.toHaveBeenCalled();
  renewed('who');
  renewed('who');
  expect(warn.mock.calls).toEqual([
    ['Karpenter is active, nothing is written', { lease, holder: 'who' }],
  ]);
  renewed('another');
  expect(warn).toHaveBeenCalledTimes(2);
  nowMs += 3_600_000;
  renewed('another');
  expect(warn).toHaveBeenCalledTimes(3);
});
