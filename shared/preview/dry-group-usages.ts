import { GroupUsagesInMemory } from '../app/planning/group-usages-in-memory.ts';
import type { UseCaseSettings } from '../app/settings.ts';
import { sharedGroups } from '../core/limit-groups/limit-groups.ts';
import type { GroupUsages, KnownUsage } from '../ports.ts';

/** What the stack's bucket says of shared limit groups, and the name of this cluster in it. */
export interface SharedUsages {
  readonly usages: Pick<GroupUsages, 'read'>;
  readonly cluster: string;
}

/**
 * What other clusters hold, read once; what is reserved stays in the process. What this cluster
 * holds is counted from its own objects, so its row is left out.
 */
export class DryGroupUsages implements GroupUsages {
  private readonly shared: SharedUsages | undefined;
  private readonly own = new GroupUsagesInMemory();
  private readonly begun = new Map<string, Promise<boolean>>();

  constructor(shared: SharedUsages | undefined) {
    this.shared = shared;
  }

  async read(group: string): Promise<KnownUsage | undefined> {
    const begun = this.begun.get(group) ?? this.begin(group);
    this.begun.set(group, begun);
    return (await begun) ? await this.own.read(group) : undefined;
  }

  async write(...args: Parameters<GroupUsages['write']>): ReturnType<GroupUsages['write']> {
    return await this.own.write(...args);
  }

  /** Whether it could be read. */
  private async begin(group: string): Promise<boolean> {
    if (this.shared === undefined) return true;
    const { usages, cluster } = this.shared;
    const known = await usages.read(group);
    if (known === undefined) return false;
    const others = [...known.usage].filter(([name]) => name !== cluster);
    await this.own.write(group, new Map(others), undefined);
    return true;
  }
}

/** That nobody says what other clusters hold, where the plan depends on it. */
export function sharedGroupNotes(
  { limitGroups }: Pick<UseCaseSettings, 'limitGroups'>,
  shared?: SharedUsages,
): readonly string[] {
  const names = sharedGroups(limitGroups);
  if (shared !== undefined || names.length === 0) return [];
  const groups = names.length === 1 ? `limit group ${names.join()} is` : 'limit groups are';
  const which = names.length === 1 ? '' : ` (${names.join(', ')})`;
  return [
    `${groups} shared with other clusters${which}: what these hold is not known without the ` +
      'bucket, and counts as nothing here',
  ];
}
