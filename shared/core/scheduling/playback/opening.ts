import { attractsOtherPods } from '../../model/pod.ts';
import type { Bin, World } from '../world/world.ts';
import { type Candidate, hasRoom, type Site } from './site.ts';

/** Of classes that are drawn by others, by id: those planned on a node, and those it would take. */
interface Draw {
  readonly planned: readonly number[];
  readonly taken: readonly number[];
}

/** Empty where no class is drawn by others. */
export type Draws = ReadonlyMap<Bin, Draw>;

export function drawsOf({ bins }: World, candidates: readonly Candidate[]): Draws {
  const drawn = candidates.filter(({ podClass }) =>
    podClass.pods.slice(0, 1).some(({ spec }) => attractsOtherPods(spec)),
  );
  if (drawn.length === 0) return new Map();
  const ids = new Set(drawn.map(({ podClass }) => podClass.id));
  return new Map(
    bins.map((bin) => {
      const { group, room } = bin.held;
      const free = room.map((amount, r) => amount - (bin.used[r] ?? 0));
      const taken = drawn.filter(
        (each) => group.allowed[each.podClass.rule.id] === 1 && hasRoom(each, { free }),
      );
      const planned = [...bin.content.keys()].map(({ id }) => id).filter((id) => ids.has(id));
      return [bin, { planned, taken: taken.map(({ podClass }) => podClass.id) }];
    }),
  );
}

/**
 * Nodes as lifecycle opens them (`awaitedNodes`): one with room for pods that are drawn by others
 * waits for the nodes that those are planned on. All of a plan are of one wave.
 */
export class Opening {
  private readonly draws: Draws;
  /** By class: nodes that are not open, with pods of it planned on them. */
  private readonly closed: Int32Array;
  private waiting: readonly Site[] = [];

  constructor(draws: Draws, classes: number) {
    this.draws = draws;
    this.closed = new Int32Array(classes);
    for (const { planned } of draws.values()) this.count(planned, 1);
  }

  /** More nodes are ready; returns those that open now. */
  open(ready: readonly Site[]): readonly Site[] {
    let opening = [...this.waiting, ...ready];
    if (this.draws.size === 0) return opening;
    const kept: Site[] = [];
    for (const site of opening) this.count(this.drawOf(site)?.planned, -1);
    for (let count = -1; count !== opening.length; ) {
      count = opening.length;
      opening = opening.filter((site) => {
        const { planned, taken } = this.drawOf(site) ?? {};
        if (!taken?.some((id) => (this.closed[id] ?? 0) > 0)) return true;
        this.count(planned, 1);
        kept.push(site);
        return false;
      });
    }
    this.waiting = kept;
    return opening;
  }

  private drawOf({ bin }: Site): Draw | undefined {
    return bin && this.draws.get(bin);
  }

  private count(ids: readonly number[] = [], amount: number): void {
    for (const id of ids) this.closed[id] = (this.closed[id] ?? 0) + amount;
  }
}
