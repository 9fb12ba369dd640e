import { isKarpenterActive } from '../../shared/app/settings.ts';
import type { KarpenterRenewal, OnKarpenter } from '../../shared/kube/karpenter-lease.ts';
import type { Telemetry } from './telemetry.ts';

/** How often the same Lease is named: it is read every second. */
const REPEATED_MS = 3_600_000;

/**
 * Names the Lease because of which nothing is written. It counts in any namespace, and whoever may
 * write Leases in one can stop Joiner with it: the log has to say which it is, and whose.
 */
export function karpenterNews(
  { logger }: Pick<Telemetry, 'logger'>,
  nowMs: () => number,
): OnKarpenter {
  let told: { readonly by: string; readonly atMs: number } | undefined;
  return ({ lease, holder, renewedAtMs }: KarpenterRenewal) => {
    const atMs = nowMs();
    const by = `${lease} ${holder}`;
    if (!isKarpenterActive(renewedAtMs, atMs)) return;
    if (told?.by === by && atMs < told.atMs + REPEATED_MS) return;
    told = { by, atMs };
    logger.warn('Karpenter is active, nothing is written', { lease, holder });
  };
}
