export interface SubnetChoice {
  readonly id: string;
  readonly zone: string;
  readonly freeAddresses: number;
}

/**
 * The subnets that the groups of a pass are launched into. EC2 tells late of the addresses that a
 * launch has taken: they are counted down here, so that groups under way together do not all meet
 * in the subnet that had the most.
 */
export class SubnetBalance {
  private readonly free: Map<string, SubnetChoice>;

  constructor(subnets: readonly SubnetChoice[]) {
    this.free = new Map(subnets.map((each) => [each.id, each]));
  }

  /** Zones in which something can be launched. */
  zones(): ReadonlySet<string> {
    return new Set([...this.free.values()].map(({ zone }) => zone));
  }

  /** Per zone the subnet with the most free addresses; equal ones by id. */
  byZone(): ReadonlyMap<string, string> {
    const sorted = [...this.free.values()].sort(
      (a, b) => b.freeAddresses - a.freeAddresses || (a.id < b.id ? -1 : 1),
    );
    const chosen = new Map<string, string>();
    for (const { zone, id } of sorted) if (!chosen.has(zone)) chosen.set(zone, id);
    return chosen;
  }

  /** So many addresses are meant to be taken in the subnet. */
  take(id: string, addresses: number): void {
    const known = this.free.get(id);
    if (known === undefined) return;
    this.free.set(id, { ...known, freeAddresses: known.freeAddresses - addresses });
  }
}
