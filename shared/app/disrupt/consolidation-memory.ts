import { fingerprint, hasSameTypes } from '../../core/disruption/consolidation/fingerprint.ts';
import type { Consolidated, Consolidation } from '../../core/disruption/consolidation/search.ts';
import { isByUsage } from '../../core/disruption/consolidation/usage-guard.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import { ReturnMemory } from './return-memory.ts';

function textOf(input: Omit<Consolidation, 'known' | 'usage'>): string {
  const { snapshot, candidates, allowance, pools, quiet, fallbacks = new Set() } = input;
  const own = [
    candidates
      .map((each) =>
        [each.claim.name, each.pricePerHour, each.evictionCost, each.isDrifted].join(' '),
      )
      .sort(),
    [...allowance].map(([pool, left]) => `${pool} ${left}`).sort(),
    [...pools].map(([pool, { savingsLastMs }]) => `${pool} ${savingsLastMs}`).sort(),
    [...quiet].sort(),
    [...fallbacks].sort(),
  ];
  return `${own.map((lines) => lines.join('\n')).join('\n\n')}\n\n${fingerprint(snapshot)}`;
}

/**
 * Minutes for which a refusal by usage holds. Usage is no part of the text above: every sample
 * differs a little from the one before, and a cluster at rest would be searched every minute. It
 * only ever forbids moves, so nothing else that was found depends on it.
 */
const USAGE_TURNS = 5;

/** Passes in a row that do not look for moves because pods come and go. */
const POSTPONED_MAX = 2;

/**
 * What consolidation has found in this process: in a cluster where nothing changes nothing is
 * looked for again. A new process looks once more.
 */
export class ConsolidationMemory {
  /** Counts the clusters that were asked about: the same number, the same moves. */
  version = 0;
  private text = '';
  private types: ClusterSnapshot['instanceTypes'] = new Map();
  private refusals: Consolidation['known'] = new Map();
  private isDone = false;
  /** How many of the nodes might go together when it was asked last, and when all was looked at. */
  private most = 0;
  private mostDone = 0;
  /** The turn of the first of the refusals that are by usage; undefined: none is. */
  private usageTurn: number | undefined;
  private postponed = 0;
  /** What is known of returns to the first choice. */
  readonly returns = new ReturnMemory();
  private readonly said = new Map<string, string>();

  /** Why nothing is moved, where that is known; undefined: there is something to look for. */
  recall(input: Omit<Consolidation, 'known' | 'usage'>): Consolidation['known'] | undefined {
    const text = textOf(input);
    const types = input.snapshot.instanceTypes;
    if (text !== this.text || !hasSameTypes(types, this.types)) {
      this.version += 1;
      this.text = text;
      this.types = types;
      this.refusals = new Map();
      this.isDone = false;
      this.usageTurn = undefined;
    }
    // No part of the text: what is known of groups holds however many nodes may go.
    const most = Math.min(input.nodesMax, input.candidates.length);
    if (most !== this.most) this.version += 1;
    this.most = most;
    if (most > this.mostDone) this.isDone = false;
    if (this.usageTurn !== undefined && input.turn - this.usageTurn >= USAGE_TURNS) {
      this.refusals = new Map([...this.refusals].filter(([, why]) => !why.some(isByUsage)));
      this.isDone = false;
      this.usageTurn = undefined;
    }
    return this.isDone ? this.refusals : undefined;
  }

  /** Whether a search waits for the next pass because pods come and go; not for ever. */
  postpones(isUnsettled: boolean): boolean {
    this.postponed = isUnsettled && this.postponed < POSTPONED_MAX ? this.postponed + 1 : 0;
    return this.postponed > 0;
  }

  /** What came of groups when all was as it is now. */
  get known(): Consolidation['known'] {
    return this.refusals;
  }

  /** Whether something else, or nothing, has been said of the claim last. */
  isOther(uid: string, news: string): boolean {
    return this.said.get(uid) !== news;
  }

  /** The same; from now on this has been said. */
  isNews(uid: string, news: string): boolean {
    if (!this.isOther(uid, news)) return false;
    this.said.set(uid, news);
    return true;
  }

  /** Forgets what was said of claims that are gone. */
  forgetOthers(uids: ReadonlySet<string>): void {
    for (const uid of this.said.keys()) if (!uids.has(uid)) this.said.delete(uid);
  }

  keep({ moves, refusals, isExhausted }: Consolidated, turn: number): void {
    if (moves.length > 0) return;
    this.refusals = refusals;
    this.isDone = isExhausted;
    this.mostDone = this.most;
    if ([...refusals.values()].some((why) => why.some(isByUsage))) this.usageTurn ??= turn;
  }
}
