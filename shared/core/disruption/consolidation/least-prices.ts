import { leastOf } from '../../extremes.ts';
import { allocatable } from '../../instance-types/allocatable.ts';
import type { InstanceType, Offering } from '../../model/instance-type.ts';
import { CAPACITY_TYPE, ownValue, ZONE } from '../../model/labels.ts';
import type { NodePool } from '../../model/provisioning.ts';
import { amountOf, fitsResources, PODS, type Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { allows, type Requirements, requirementsOf } from '../../requirements/value-set.ts';

/** What a node may be launched as, and the least that it costs an hour. */
interface Launch {
  readonly room: Resources;
  readonly price: number;
}

/** Weights between two resources that are tried: a price is missed by less than a percent. */
const MIXES = 32;

/** Whether the NodePool may launch the type through the offering, as far as both say. */
function mayLaunch(wanted: Requirements, { labels }: InstanceType, offering: Offering): boolean {
  for (const [key, set] of wanted) {
    if (key === CAPACITY_TYPE || key === ZONE) {
      if (!allows(set, key === ZONE ? offering.zone : offering.capacityType)) return false;
      continue;
    }
    const values = ownValue(labels, key);
    if (values === undefined) continue;
    const isAllowed =
      values === null ? allows(set, undefined) : values.some((each) => allows(set, each));
    if (!isAllowed) return false;
  }
  return true;
}

function launchesOf(pool: NodePool, types: readonly InstanceType[]): readonly Launch[] {
  const wanted = requirementsOf(pool.template.requirements);
  return types.flatMap((type) => {
    const open = type.offerings.filter((each) => each.available && mayLaunch(wanted, type, each));
    const own = open.filter(
      ({ capacityOverride, overheadOverride }) =>
        capacityOverride !== undefined || overheadOverride !== undefined,
    );
    const plain = open.filter((each) => !own.includes(each));
    const cheapest = plain.toSorted((a, b) => a.price - b.price).slice(0, 1);
    return [...cheapest, ...own].map((each) => ({
      room: allocatable(type, each),
      price: each.price,
    }));
  });
}

/** Worked out once for the same lists: what can be launched stays as it is from pass to pass. */
const known = new WeakMap<
  readonly InstanceType[],
  {
    readonly pools: string;
    readonly lists: readonly (readonly InstanceType[])[];
    readonly prices: LeastPrices;
  }
>();

/** What all NodePools may launch. */
export function leastPrices({
  instanceTypes,
  nodePools,
}: Pick<ClusterSnapshot, 'instanceTypes' | 'nodePools'>): LeastPrices {
  const lists = [...new Set(instanceTypes.values())];
  const pools = JSON.stringify(
    nodePools.map(({ name, template }) => {
      const types = instanceTypes.get(name);
      return [name, template.requirements, types === undefined ? -1 : lists.indexOf(types)];
    }),
  );
  const [first] = lists;
  const before = first && known.get(first);
  const isSame = before?.pools === pools && lists.every((each, at) => before.lists[at] === each);
  if (isSame) return before.prices;
  const launches = nodePools.flatMap((pool) =>
    launchesOf(pool, instanceTypes.get(pool.name) ?? []),
  );
  const prices = new LeastPrices(launches);
  if (first !== undefined) known.set(first, { pools, lists, prices });
  return prices;
}

function finiteOr0(price: number): number {
  return Number.isFinite(price) ? price : 0;
}

/** The least that anything which can be launched costs an hour, by what it has to hold. */
export class LeastPrices {
  private readonly launches: readonly Launch[];
  /** By resource, or two of them: USD an hour of one unit of each weight. */
  private readonly units = new Map<string, number>();
  private readonly mixes = new Map<string, readonly (readonly [number, number])[]>();
  private readonly holders = new WeakMap<Resources, number>();

  constructor(launches: readonly Launch[]) {
    this.launches = launches;
  }

  /** USD an hour of one unit of the resource; 0 where nothing has any. */
  unit(name: string): number {
    const before = this.units.get(name);
    if (before !== undefined) return before;
    const prices = this.launches.map(({ room, price }) => {
      const amount = amountOf(room, name);
      return amount > 0 ? price / amount : Number.POSITIVE_INFINITY;
    });
    const unit = finiteOr0(leastOf(prices));
    this.units.set(name, unit);
    return unit;
  }

  /**
   * USD an hour of one unit of each of two resources, such that no launch costs less than what it
   * has of them together; for several weights between the two.
   */
  private mixesOf(a: string, b: string): readonly (readonly [number, number])[] {
    const key = `${a} ${b}`;
    const before = this.mixes.get(key);
    if (before !== undefined) return before;
    const [ofA, ofB] = [this.unit(a), this.unit(b)];
    const made = Array.from({ length: MIXES - 1 }, (_, step): readonly [number, number] => {
      const weight = (step + 1) / MIXES;
      const [own, other] = [weight * ofA, (1 - weight) * ofB];
      const scales = this.launches.map(({ room, price }) => {
        const worth = own * Math.max(0, amountOf(room, a)) + other * Math.max(0, amountOf(room, b));
        return worth <= 0 ? Number.POSITIVE_INFINITY : price / worth;
      });
      const scale = leastOf(scales);
      return Number.isFinite(scale) ? [own * scale, other * scale] : [0, 0];
    });
    this.mixes.set(key, made);
    return made;
  }

  /** USD an hour of nodes that have so much together, at the least. */
  ofAmounts(amounts: ReadonlyMap<string, number>): number {
    const wanted = [...amounts].filter(([, amount]) => amount > 0);
    let least = 0;
    for (const [at, [name, amount]] of wanted.entries()) {
      least = Math.max(least, amount * this.unit(name));
      if (name === PODS) continue;
      for (const [other, more] of wanted.slice(0, at)) {
        if (other === PODS) continue;
        for (const [own, its] of this.mixesOf(name, other)) {
          least = Math.max(least, own * amount + its * more);
        }
      }
    }
    return least;
  }

  /** USD an hour of the cheapest node that holds it; 0 where none does. */
  ofPod(requests: Resources): number {
    const before = this.holders.get(requests);
    if (before !== undefined) return before;
    const holding = this.launches.filter(({ room }) => fitsResources(requests, room));
    const price = finiteOr0(leastOf(holding.map((each) => each.price)));
    this.holders.set(requests, price);
    return price;
  }
}
