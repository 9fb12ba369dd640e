import type { DecisionAction } from '../../shared/contract.ts';
import type { DecisionRecord, UseCase } from '../../shared/ports.ts';

/** Passes follow each other by the second: what still waits for the same is said once a minute. */
const REPEATED_MS = 60_000;
const REPEATED: ReadonlySet<DecisionAction> = new Set(['unschedulable', 'launch-failed', 'none']);
/** Of passes that change nothing the same is said once an hour. */
const UNCHANGED_MS = 3_600_000;

/** Whether a decision says something that was not said a moment ago, by its id. */
export function newsFilter(): (record: DecisionRecord) => boolean {
  const saidAtMs = new Map<string, number>();
  const unchanged = new Map<UseCase, { readonly id: string; readonly atMs: number }>();
  return ({ action, id, atMs, useCase }) => {
    if (action === 'unchanged') {
      const last = unchanged.get(useCase);
      if (last?.id === id && atMs < last.atMs + UNCHANGED_MS) return false;
      unchanged.set(useCase, { id, atMs });
      return true;
    }
    if (!REPEATED.has(action)) return true;
    for (const [each, at] of saidAtMs) if (at + REPEATED_MS <= atMs) saidAtMs.delete(each);
    if (saidAtMs.has(id)) return false;
    saidAtMs.set(id, atMs);
    return true;
  };
}
