import type { GroupUsage } from '../../core/limit-groups/group-usage.ts';
import type { GroupUsages, KnownUsage } from '../../ports.ts';

/** What clusters hold of shared limit groups, as in a bucket and without one. */
export class GroupUsagesInMemory implements GroupUsages {
  private readonly groups = new Map<string, KnownUsage>();
  private writes = 0;

  async read(group: string): Promise<KnownUsage> {
    return this.groups.get(group) ?? { usage: new Map(), version: undefined };
  }

  async write(
    group: string,
    usage: GroupUsage,
    version: string | undefined,
  ): Promise<{ readonly version: string } | 'conflict'> {
    if (this.groups.get(group)?.version !== version) return 'conflict';
    this.writes += 1;
    const next = String(this.writes);
    this.groups.set(group, { usage, version: next });
    return { version: next };
  }
}
