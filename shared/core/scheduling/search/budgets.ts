import type { GroupRoom } from '../../limit-groups/group-room.ts';
import { amountOf, type Resources } from '../../model/resources.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import type { Problem } from '../problem/problem.ts';

/** The pseudo-resource of a NodePool's limits that counts nodes. */
const NODES = 'nodes';

function taken(option: LaunchOption, resource: string): number {
  return resource === NODES ? 1 : amountOf(option.type.type.capacity, resource);
}

/**
 * What NodePool limits, caps of limit groups and capacity reservations still allow, counted exactly
 * inside one plan. Nodes that are deleted, or whose replacements are all there, do not count
 * against limits, as in Karpenter: a pool at its limit can replace an expired node before the old
 * one has drained, and is over its limit until then. Against caps they count.
 */
export class Budgets {
  private readonly pools: Map<string, Record<string, number>>;
  private readonly reservations: Map<string, number>;
  private readonly groups: readonly GroupRoom[];

  private constructor(
    pools: Map<string, Record<string, number>>,
    reservations: Map<string, number>,
    groups: readonly GroupRoom[],
  ) {
    this.pools = pools;
    this.reservations = reservations;
    this.groups = groups.map((each) => each.copy());
  }

  static of(problem: Problem): Budgets {
    const pools = new Map<string, Record<string, number>>();
    for (const { pool } of problem.pools) {
      if (Object.keys(pool.limits).length === 0 || pools.has(pool.name)) continue;
      const remaining: Record<string, number> = { ...pool.limits };
      for (const node of problem.limited) {
        if (node.nodePool !== pool.name) continue;
        for (const resource of Object.keys(remaining)) {
          const used = resource === NODES ? 1 : amountOf(node.capacity, resource);
          remaining[resource] = (remaining[resource] ?? 0) - used;
        }
      }
      pools.set(pool.name, remaining);
    }
    const reservations = new Map<string, number>();
    for (const group of problem.groups) {
      for (const { offering } of group.all) {
        if (offering.reservation === undefined) continue;
        const { id, capacity } = offering.reservation;
        reservations.set(id, Math.max(capacity, reservations.get(id) ?? 0));
      }
    }
    return new Budgets(pools, reservations, problem.limitGroups);
  }

  copy(): Budgets {
    const pools = [...this.pools].map(([name, left]) => [name, { ...left }] as const);
    return new Budgets(new Map(pools), new Map(this.reservations), this.groups);
  }

  /** How many nodes of the launch option may still be launched, at most `most`. */
  allowance(option: LaunchOption, most: number): number {
    return this.groupsOf(option.pool.pool.name).reduce(
      (allowed, group) => group.allowance(option.type.type.capacity, allowed),
      this.ownAllowance(option, most),
    );
  }

  /** The same without limit groups. */
  ownAllowance(option: LaunchOption, most: number): number {
    let allowed = most;
    const { reservation } = option.offering;
    if (reservation !== undefined) {
      allowed = Math.min(allowed, this.reservations.get(reservation.id) ?? 0);
    }
    const left = this.pools.get(option.pool.pool.name);
    if (left === undefined) return allowed;
    for (const resource of Object.keys(left)) {
      const each = taken(option, resource);
      if (each > 0) allowed = Math.min(allowed, Math.floor((left[resource] ?? 0) / each));
      else if ((left[resource] ?? 0) < 0) return 0;
    }
    return Math.max(0, allowed);
  }

  /** Takes (or with a negative count gives back) nodes of the launch option. */
  take(option: LaunchOption, count: number): void {
    const { reservation } = option.offering;
    if (reservation !== undefined) {
      const left = this.reservations.get(reservation.id) ?? 0;
      this.reservations.set(reservation.id, left - count);
    }
    const { capacity } = option.type.type;
    for (const group of this.groupsOf(option.pool.pool.name)) group.take(capacity, count);
    const left = this.pools.get(option.pool.pool.name);
    if (left === undefined) return;
    for (const resource of Object.keys(left)) {
      left[resource] = (left[resource] ?? 0) - taken(option, resource) * count;
    }
  }

  /** The groups whose caps count the pool's nodes. */
  groupsOf(pool: string): readonly GroupRoom[] {
    // Asked for every launch option: where there are no groups nothing is made.
    if (this.groups.length === 0) return this.groups;
    return this.groups.filter(({ caps }) => caps.pools.includes(pool));
  }

  /** What a pool's limits and its groups' caps still allow; undefined = the pool has none. */
  remaining(pool: string): Resources | undefined {
    const own = this.pools.get(pool);
    const groups = this.groupsOf(pool);
    if (groups.length === 0) return own;
    const least: Record<string, number> = { ...own };
    for (const { left } of groups) {
      for (const [name, rest] of Object.entries(left)) {
        least[name] = Math.min(least[name] ?? rest, rest);
      }
    }
    return least;
  }

  /** The resources of which a node of the pool takes from a limit or a cap. */
  limited(pool: string): readonly string[] {
    return Object.keys(this.remaining(pool) ?? {});
  }

  /** The largest share that one node takes of what is left of any limit; 0 = none counts it. */
  share(option: LaunchOption): number {
    const shares = Object.entries(this.remaining(option.pool.pool.name) ?? {}).map(
      ([resource, left]) => taken(option, resource) / Math.max(left, 1),
    );
    return Math.max(0, ...shares);
  }

  /** What is left of a pool's own limits. */
  remainingOwn(pool: string): Resources {
    return this.pools.get(pool) ?? {};
  }
}
