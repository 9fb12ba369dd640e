import type { Observation } from '../../shared/api/observation.ts';
import type { ShadowLaunch, ShadowRemoval, Sums } from './model.ts';

/** A removal has been planned for so long without a break before its node is not paid for. */
export const HOLD_SECONDS = 300;
/** What the launch of a node takes at least. */
export const LAUNCH_SECONDS = 60;

type Node = Observation['nodes'][number];

/** What Joiner's plans make of the nodes, observation after observation. */
export interface Fleet {
  readonly removals: readonly ShadowRemoval[];
  /** Nodes that plans removed and keep again. */
  readonly returns: readonly ShadowLaunch[];
  readonly sums: ReadonlyMap<Observation, Sums>;
  /** Pods that wait for a launch that begins then. */
  readonly starting: ReadonlyMap<Observation, number>;
}

/** Nodes that would be replaced by something that is not recorded, or whose price is not known. */
export function replacedByUnknown({ launches, removals }: Observation): readonly string[] {
  const priced = launches.filter(({ usdPerHour }) => usdPerHour !== null);
  const known = new Set(priced.flatMap(({ replaces }) => replaces));
  return removals
    .filter(({ action, nodeClaim }) => action === 'replace' && !known.has(nodeClaim))
    .map(({ nodeClaim }) => nodeClaim);
}

function secondsBetween(from: string, to: string): number {
  return (Date.parse(to) - Date.parse(from)) / 1000;
}

function returnOf(node: Node, at: string): ShadowLaunch {
  const { nodePool, instanceType, zone, capacityType, usdPerHour, nodeClaim } = node;
  const machine = { nodePool, instanceType, zone, capacityType, usdPerHour };
  return { at, by: 'joiner', ...machine, pods: [], replaces: [], returned: nodeClaim };
}

/** The nodes as the plans so far have left them. */
class Planned {
  /** Since when plans remove a node, by its NodeClaim. */
  readonly #since = new Map<string, string>();
  /** Nodes that are not paid for. */
  #out = new Set<string>();
  /** Pods that a launch is for, which have had their minute. */
  #waited = new Set<string>();
  /** Nobody looked before: what was planned has to hold anew. */
  #isAfterGap = false;
  readonly removals: ShadowRemoval[] = [];
  readonly returns: ShadowLaunch[] = [];

  /** What is so from this observation until the next, which is so many seconds later. */
  after(observation: Observation, seconds: number, isGap: boolean) {
    const back = this.#remove(observation);
    if (this.#isAfterGap)
      for (const name of this.#since.keys()) this.#since.set(name, observation.at);
    this.#isAfterGap = isGap;
    const relaunched = back.filter(({ nodeClaim }) => this.#out.has(nodeClaim));
    const before = this.#out;
    this.#out = this.#outAt(observation, before);
    const { nodes, launches } = observation;
    const added = launches.filter(
      ({ replaces }) => replaces.length === 0 || replaces.some((each) => this.#out.has(each)),
    );
    // Both the node and what replaces it run while the latter starts.
    const begun = added.filter(
      ({ replaces }) => replaces.length > 0 && !replaces.some((each) => before.has(each)),
    );
    const gone = nodes.filter(({ nodeClaim }) => this.#out.has(nodeClaim));
    const more = price([...relaunched, ...begun]);
    const starts = seconds === 0 ? 0 : (more * LAUNCH_SECONDS) / seconds;
    const starting = this.#startingAt(observation, back);
    const sums = {
      nodes: nodes.length - gone.length + added.length,
      usdPerHour: observation.usdPerHour.now - price(gone) + price(added) + starts,
      pending: observation.unplaced.length + starting,
    };
    if (isGap) this.#out = new Set();
    return { sums: isGap ? this.#wholeAt(observation, sums) : sums, starting };
  }

  /** Counts what the plan removes for the first time; returns what it keeps again. */
  #remove({ at, nodes, removals }: Observation): readonly Node[] {
    const planned = new Set(removals.map(({ nodeClaim }) => nodeClaim));
    const there = new Map(nodes.map((node) => [node.nodeClaim, node]));
    for (const { nodeClaim, usdPerHour, pods, why } of removals) {
      if (this.#since.has(nodeClaim)) continue;
      this.#since.set(nodeClaim, at);
      this.removals.push({ at, by: 'joiner', nodeClaim, usdPerHour, evictions: pods, why });
    }
    const ended = [...this.#since.keys()].filter((name) => !planned.has(name));
    const back = ended.flatMap((name) => {
      const node = there.get(name);
      // Karpenter removes it, too.
      if (node?.isLeaving === true) return [];
      this.#since.delete(name);
      return node === undefined ? [] : [node];
    });
    this.returns.push(...back.map((node) => returnOf(node, at)));
    return back;
  }

  #outAt(observation: Observation, before: ReadonlySet<string>): Set<string> {
    const unknown = new Set(replacedByUnknown(observation));
    const planned = new Set(observation.removals.map(({ nodeClaim }) => nodeClaim));
    const out = [...this.#since].filter(([name, since]) => {
      const isHeld = secondsBetween(since, observation.at) >= HOLD_SECONDS;
      return !unknown.has(name) && (before.has(name) || (planned.has(name) && isHeld));
    });
    return new Set(out.map(([name]) => name));
  }

  /** Pods that wait for a launch that begins now: of new nodes, and of those that come back. */
  #startingAt({ launches, pending, unplaced }: Observation, back: readonly Node[]): number {
    const launchedFor = launches.flatMap(({ pods }) => pods);
    const left = new Set(unplaced);
    // Pods that fit on nodes that are there may be those of the nodes that come back.
    const fitting = back.length > 0 ? pending.filter((pod) => !left.has(pod)) : [];
    const anew = [...new Set([...launchedFor, ...fitting])].filter((pod) => !this.#waited.has(pod));
    const still = new Set([...pending, ...launchedFor]);
    this.#waited = new Set([...this.#waited, ...anew].filter((pod) => still.has(pod)));
    return anew.length + back.reduce((sum, { pods }) => sum + pods, 0);
  }

  /** Where nobody looks, no node counts as removed. */
  #wholeAt({ nodes, launches, usdPerHour }: Observation, { pending }: Sums): Sums {
    const added = launches.filter(({ replaces }) => replaces.length === 0);
    return {
      nodes: nodes.length + added.length,
      usdPerHour: usdPerHour.now + price(added),
      pending,
    };
  }
}

function price(all: readonly { readonly usdPerHour: number | null }[]): number {
  return all.reduce((sum, { usdPerHour }) => sum + (usdPerHour ?? 0), 0);
}

/**
 * What Joiner's plans come to. A node that a plan removes is not free to come back: it is paid for
 * until plans have removed it for a while, and its return is a launch. `gaps` are the observations
 * after which nobody looked for a while.
 */
export function fleetOf(all: readonly Observation[], gaps: ReadonlySet<Observation>): Fleet {
  const planned = new Planned();
  const found = all.map((each, at) => {
    const next = all[at + 1];
    const seconds = next === undefined ? 0 : secondsBetween(each.at, next.at);
    return [each, planned.after(each, seconds, gaps.has(each))] as const;
  });
  return {
    removals: planned.removals,
    returns: planned.returns,
    sums: new Map(found.map(([each, { sums }]) => [each, sums])),
    starting: new Map(found.map(([each, { starting }]) => [each, starting])),
  };
}
