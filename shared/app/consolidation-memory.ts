import type { Consolidated, Consolidation } from '../core/disruption/consolidation/consolidate.ts';
import { fingerprint, hasSameTypes } from '../core/disruption/consolidation/fingerprint.ts';
import type { ClusterSnapshot } from '../core/model/snapshot.ts';

function textOf(input: Omit<Consolidation, 'known'>): string {
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

/**
 * What consolidation has found in this process: in a cluster where nothing changes nothing is
 * looked for again. A new process looks once more.
 */
export class ConsolidationMemory {
  private text = '';
  private types: ClusterSnapshot['instanceTypes'] = new Map();
  private refusals: ReadonlyMap<string, string> = new Map();
  private isDone = false;

  /** Why nothing is moved, where that is known; undefined: there is something to look for. */
  recall(input: Omit<Consolidation, 'known'>): ReadonlyMap<string, string> | undefined {
    const text = textOf(input);
    const types = input.snapshot.instanceTypes;
    if (text !== this.text || !hasSameTypes(types, this.types)) {
      this.text = text;
      this.types = types;
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
}
