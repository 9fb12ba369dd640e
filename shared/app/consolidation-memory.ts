import { isMoving } from '../core/disruption/candidates.ts';
import type { Consolidated, Consolidation } from '../core/disruption/consolidation/consolidate.ts';
import { fingerprint } from '../core/disruption/consolidation/fingerprint.ts';
import type { Move } from '../core/disruption/consolidation/move.ts';
import { addResources, fitsResources, type Resources } from '../core/model/resources.ts';

type Input = Omit<Consolidation, 'known'>;

function textOf(input: Input): string {
  const { snapshot, candidates, allowance, quiet } = input;
  const own = [
    candidates
      .map((each) =>
        [each.claim.name, each.pricePerHour, each.evictionCost, each.isDrifted].join(' '),
      )
      .sort(),
    [...allowance].map(([pool, left]) => `${pool} ${left}`).sort(),
    [...quiet].sort(),
  ];
  return `${own.map((lines) => lines.join('\n')).join('\n\n')}\n\n${fingerprint(snapshot)}`;
}

/** What the cluster cost and asked for when moves were made, and what they were to save an hour. */
interface Promised {
  readonly price: number;
  readonly demand: Resources;
  readonly saving: number;
}

/** After moves that brought nothing none are made for so long, twice as long each time. */
const HOLD_MS = 5 * 60_000;
const HOLD_MS_MAX = 2 * 3_600_000;

function priceOf({ pools }: Input): number {
  return [...pools.values()].reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

/** What running pods ask for, DaemonSets apart. */
function demandOf({ snapshot }: Input): Resources {
  const running = snapshot.pods.filter((pod) => pod.nodeName !== undefined && isMoving(pod));
  return running.reduce<Resources>((sum, { spec }) => addResources(sum, spec.requests), {});
}

/**
 * What consolidation has found in this process: in a cluster where nothing changes nothing is
 * looked for again, and where moves bring nothing they become rare. A new process looks once more.
 */
export class ConsolidationMemory {
  private text = '';
  private refusals: ReadonlyMap<string, string> = new Map();
  private isDone = false;
  private promised: Promised | undefined;
  private failures = 0;
  private heldUntilMs = 0;

  /** Why nothing is moved, where that is known; undefined: there is something to look for. */
  recall(input: Input): ReadonlyMap<string, string> | undefined {
    const text = textOf(input);
    if (text !== this.text) {
      this.text = text;
      this.refusals = new Map();
      this.isDone = false;
    }
    return this.isDone ? this.refusals : undefined;
  }

  /** What came of groups when all was as it is now. */
  get known(): ReadonlyMap<string, string> {
    return this.refusals;
  }

  keep({ moves, refusals, isExhausted }: Consolidated): void {
    if (moves.length > 0) return;
    this.refusals = refusals;
    this.isDone = isExhausted;
  }

  /**
   * Until when no moves are made, because the last ones brought nothing though no more is asked
   * for: what kube-scheduler did with the pods was not foreseen. Undefined: they may be made.
   */
  heldUntil(input: Input, nowMs: number): number | undefined {
    const last = this.promised;
    this.promised = undefined;
    if (last !== undefined) {
      const isAsBefore = fitsResources(demandOf(input), last.demand);
      const isKept = !isAsBefore || priceOf(input) <= last.price - last.saving / 2;
      this.failures = isKept ? 0 : this.failures + 1;
      const holdMs = Math.min(HOLD_MS_MAX, HOLD_MS * 2 ** (this.failures - 1));
      if (!isKept) this.heldUntilMs = nowMs + holdMs;
    }
    return nowMs < this.heldUntilMs ? this.heldUntilMs : undefined;
  }

  /** The moves are made. */
  made(input: Input, moves: readonly Move[]): void {
    const saving = moves.reduce((sum, { balance }) => sum + balance.saving, 0);
    this.promised = { price: priceOf(input), demand: demandOf(input), saving };
  }
}
