import { amountOf } from '../../model/resources.ts';
import type { Column, ColumnGroup } from './columns.ts';
import type { PoolVariant } from './launch-space.ts';

/** How much of a limited resource one such node counts. */
export function limited(column: Column, name: string): number {
  return amountOf(column.type.type.capacity, name);
}

/** All launches of a pool in one place, those first that take least of what the pool limits. */
export class PoolLaunches {
  private readonly groups: readonly ColumnGroup[];
  private readonly sorted = new Map<PoolVariant, Map<Column['domain'], readonly Column[]>>();

  constructor(groups: readonly ColumnGroup[]) {
    this.groups = groups;
  }

  besides({ pool, domain }: Column): readonly Column[] {
    let byDomain = this.sorted.get(pool);
    if (byDomain === undefined) {
      byDomain = new Map();
      this.sorted.set(pool, byDomain);
    }
    let launches = byDomain.get(domain);
    if (launches === undefined) {
      launches = this.groups
        .flatMap((group) => group.all)
        .filter((column) => column.pool === pool && column.domain === domain)
        .sort(byLimits(Object.keys(pool.pool.limits).sort()));
      byDomain.set(domain, launches);
    }
    return launches;
  }
}

function byLimits(names: readonly string[]) {
  return (a: Column, b: Column): number => {
    for (const name of names) {
      const difference = limited(a, name) - limited(b, name);
      if (difference !== 0) return difference;
    }
    return a.price - b.price || (a.type.type.name < b.type.type.name ? -1 : 1);
  };
}
