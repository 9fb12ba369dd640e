import { CAPACITY_TYPE, INSTANCE_TYPE } from '../../model/labels.ts';
import type { Move } from './move.ts';
import type { ConsolidationCandidate } from './payback.ts';
import { most, type Search } from './search.ts';

/** Nodes of which the move launches the like again, dearest to empty first. */
function launchedAgain({ nodes, replacements }: Move): readonly ConsolidationCandidate[] {
  const made = new Set(replacements.map(({ chosen }) => `${chosen.type} ${chosen.capacityType}`));
  const kindOf = ({ claim: { labels } }: ConsolidationCandidate) =>
    `${labels[INSTANCE_TYPE]} ${labels[CAPACITY_TYPE]}`;
  return nodes
    .filter((candidate) => made.has(kindOf(candidate)))
    .toSorted(most(({ evictionCost }) => evictionCost));
}

/** The same move without nodes of which it would launch the like again, as long as that is better. */
export function pruned(search: Search, move: Move): Move {
  let best = move;
  let again = launchedAgain(best);
  while (again.length > 0 && best.nodes.length > 1 && !search.isOver) {
    const [kept] = again;
    const found = search.try(best.nodes.filter((each) => each !== kept));
    if (found !== undefined && found.gain > best.gain) {
      best = found;
      again = launchedAgain(best);
    } else {
      again = again.slice(1);
    }
  }
  return best;
}

/**
 * A move that launches, with more nodes as long as that is better: what has room in the new nodes,
 * or would share larger ones. It is the last move of its pass, so that plans are left for that.
 */
function grown(search: Search, move: Move, order: readonly ConsolidationCandidate[]): Move {
  let best = move;
  for (const candidate of order) {
    if (search.isOver || best.replacements.length === 0) break;
    const nodes = [...best.nodes, candidate];
    if (best.nodes.includes(candidate) || !search.mayGo(nodes)) continue;
    const found = search.try(nodes);
    if (found !== undefined && found.gain > best.gain) best = found;
  }
  return best;
}

/** Nodes that may go, and what doing without them can save at the horizon at most. */
interface Prospect {
  readonly nodes: readonly ConsolidationCandidate[];
  readonly most: number;
}

/**
 * Makes one move after the other, each time the best of those that are known: it is made once no
 * single node can be worth more by its bound. A worse one may fill the room that the best needs.
 */
export class BestFirst {
  private readonly search: Search;
  private readonly order: readonly ConsolidationCandidate[];
  /** Those that can be worth most come last. */
  private prospects: Prospect[] = [];
  private best: Move | undefined;

  /** `order`: in which nodes join a move that launches. */
  constructor(search: Search, order: readonly ConsolidationCandidate[]) {
    this.search = search;
    this.order = order;
  }

  /** `first`: the best move of several nodes. */
  run(first: Move | undefined, singles: readonly ConsolidationCandidate[]): void {
    this.best = first;
    if (!this.search.isOver) this.prospects = this.prospectsOf(singles);
    while (!this.search.isOver) {
      const next = this.prospects.at(-1);
      if (this.best !== undefined && this.best.gain >= (next?.most ?? 0)) this.settle(this.best);
      else if (next === undefined) return;
      else this.look(next);
    }
    if (this.best !== undefined) this.settle(this.best);
  }

  private prospectsOf(singles: readonly ConsolidationCandidate[]): Prospect[] {
    return singles
      .map((candidate) => ({ nodes: [candidate], most: this.search.gainMost([candidate]) }))
      .filter(({ most }) => most > 0)
      .reverse()
      .sort((a, b) => a.most - b.most);
  }

  private look({ nodes }: Prospect): void {
    this.prospects.pop();
    const { search, best } = this;
    if (!search.mayGo(nodes)) return;
    const found = search.try(nodes);
    if (found === undefined) return;
    const [worse, better] = found.gain > (best?.gain ?? 0) ? [best, found] : [found, best];
    this.best = better;
    if (worse !== undefined) this.putBack(worse);
  }

  /** To be looked at again once the better one is made. */
  private putBack({ nodes, gain }: Move): void {
    const at = this.prospects.findIndex(({ most }) => most > gain);
    this.prospects.splice(at < 0 ? this.prospects.length : at, 0, { nodes, most: gain });
  }

  private settle(move: Move): void {
    this.best = undefined;
    this.search.offer(grown(this.search, move, this.order));
  }
}
