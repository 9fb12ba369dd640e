import { missing } from '../../missing.ts';
import { dependsOnOtherPods } from '../../model/pod.ts';
import type { Bin, SearchState } from '../search/search-state.ts';
import { fitsFree, type SchedulerClass, type SchedulerNode } from './scheduler-node.ts';

/**
 * Of classes that depend on other pods, by id: those planned on a node, and those it would take.
 */
interface DependentClasses {
  readonly planned: readonly number[];
  readonly taken: readonly number[];
}

/** Empty where no class depends on other pods. */
export type DependentsByBin = ReadonlyMap<Bin, DependentClasses>;

export function dependentsOf(
  { bins }: SearchState,
  candidates: readonly SchedulerClass[],
): DependentsByBin {
  const dependent = candidates.filter(({ podClass }) =>
    podClass.pods.slice(0, 1).some(({ spec }) => dependsOnOtherPods(spec)),
  );
  if (dependent.length === 0) return new Map();
  const ids = new Set(dependent.map(({ podClass }) => podClass.id));
  return new Map(
    bins.map((bin) => {
      const { group, free: whole } = bin.chosen;
      const free = whole.map((amount, r) => amount - (bin.used[r] ?? missing(r)));
      const taken = dependent.filter(
        (each) => group.allowed[each.podClass.rule.id] === 1 && fitsFree(each, { free }),
      );
      const planned = [...bin.content.keys()].map(({ id }) => id).filter((id) => ids.has(id));
      return [bin, { planned, taken: taken.map(({ podClass }) => podClass.id) }];
    }),
  );
}

/**
 * Nodes as lifecycle opens them (`awaitedNodes`): one with room for pods that depend on other pods
 * waits for the nodes that those are planned on. All of a plan are of one wave.
 */
export class Registration {
  private readonly dependents: DependentsByBin;
  /** By class: nodes that are not open, with pods of it planned on them. */
  private readonly closed: Int32Array;
  private waiting: readonly SchedulerNode[] = [];

  constructor(dependents: DependentsByBin, classes: number) {
    this.dependents = dependents;
    this.closed = new Int32Array(classes);
    for (const { planned } of dependents.values()) this.count(planned, 1);
  }

  /** More nodes are ready; returns those that open now. */
  open(ready: readonly SchedulerNode[]): readonly SchedulerNode[] {
    let opening = [...this.waiting, ...ready];
    if (this.dependents.size === 0) return opening;
    const kept: SchedulerNode[] = [];
    for (const node of opening) this.count(this.dependentsOn(node)?.planned, -1);
    for (let count = -1; count !== opening.length; ) {
      count = opening.length;
      opening = opening.filter((node) => {
        const { planned, taken } = this.dependentsOn(node) ?? {};
        if (!taken?.some((id) => (this.closed[id] ?? missing(id)) > 0)) return true;
        this.count(planned, 1);
        kept.push(node);
        return false;
      });
    }
    this.waiting = kept;
    return opening;
  }

  private dependentsOn({ bin }: SchedulerNode): DependentClasses | undefined {
    return bin && this.dependents.get(bin);
  }

  private count(ids: readonly number[] = [], amount: number): void {
    for (const id of ids) this.closed[id] = (this.closed[id] ?? missing(id)) + amount;
  }
}
