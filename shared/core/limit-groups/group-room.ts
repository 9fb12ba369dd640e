import { type Reason, reason } from '../explain/reason.ts';
import { typeMeets } from '../instance-types/type-requirements.ts';
import { offeringMeets } from '../launch/overrides.ts';
import { launchPlanOf } from '../model/annotations/launch-plan.ts';
import { offeringOfClaim } from '../model/claim-offering.ts';
import type { Currency } from '../model/currency.ts';
import type { InstanceType } from '../model/instance-type.ts';
import { type Labels, LIMIT_GROUP, NODE_POOL, PRICE } from '../model/labels.ts';
import type { NodeClaim, NodePool } from '../model/provisioning.ts';
import { amountOf, maxResources, NO_RESOURCES, type Resources } from '../model/resources.ts';
import type { ClusterSnapshot } from '../model/snapshot.ts';
import { Remembered } from '../remembered.ts';
import { requirementsOf } from '../requirements/value-set.ts';
import {
  ALL_POOLS,
  amountText,
  type GroupCaps,
  leftText,
  millionths,
  takenOf,
} from './limit-groups.ts';

/** In place of what other clusters hold, where nobody could say. */
const NOT_KNOWN = 'not known';

/** What the caps of a group still allow; counted down while a plan is made. */
export class GroupRoom {
  readonly caps: GroupCaps;
  readonly left: Record<string, number>;

  constructor(caps: GroupCaps, left: Resources = caps.caps) {
    this.caps = caps;
    this.left = { ...left };
  }

  copy(): GroupRoom {
    return new GroupRoom(this.caps, this.left);
  }

  /** How many nodes of this capacity may still be launched, at most `most`. */
  allowance(capacity: Resources, most: number): number {
    let allowed = most;
    for (const [name, left] of Object.entries(this.left)) {
      const each = takenOf(capacity, name);
      if (each > 0) allowed = Math.min(allowed, Math.floor(left / each));
    }
    return Math.max(0, allowed);
  }

  take(capacity: Resources, count: number): void {
    for (const name of Object.keys(this.left)) {
      this.left[name] = (this.left[name] ?? 0) - takenOf(capacity, name) * count;
    }
  }
}

/** Why no other node of this capacity may be launched in the pool; undefined: one may. */
export function refusalBy(
  rooms: readonly GroupRoom[],
  nodePool: string,
  capacity: Resources,
  currency: Currency,
): Reason | undefined {
  const full = rooms.find(
    (room) => room.caps.pools.includes(nodePool) && room.allowance(capacity, 1) < 1,
  );
  if (full === undefined) return undefined;
  const names = Object.keys(full.caps.caps)
    .sort()
    .filter((name) => takenOf(capacity, name) > (full.left[name] ?? 0));
  return reason('limit-group-refuses', { nodePool, ...fullTexts(full, names, currency) });
}

/** What reasons say of a group whose caps on these resources allow no other node. */
export function fullTexts(
  { caps: { group, caps, shared }, left }: Pick<GroupRoom, 'caps' | 'left'>,
  names: readonly string[],
  currency: Currency,
) {
  if (shared !== undefined && shared.others === undefined) {
    return { group, left: [], others: [NOT_KNOWN] };
  }
  const elsewhere = shared?.others ?? NO_RESOURCES;
  return {
    group,
    left: names.map((name) => leftText(name, left[name] ?? 0, caps[name] ?? 0, currency)),
    others: names
      .filter((name) => amountOf(elsewhere, name) > 0)
      .map((name) => amountText(name, amountOf(elsewhere, name), currency)),
  };
}

/** The most that the pool's requirements let one of its nodes take, in every resource. */
export function mostOf({ template }: NodePool, types: readonly InstanceType[]): Resources {
  const requirements = requirementsOf(template.requirements);
  return types
    .filter((type) => typeMeets(requirements, type, 'open'))
    .reduce<Resources>((most, { capacity }) => maxResources(most, capacity), NO_RESOURCES);
}

/** What a NodeClaim takes: as launched, as planned, or at most. */
export function takenBy(
  claim: NodeClaim,
  pool: NodePool | undefined,
  types: readonly InstanceType[],
): Resources {
  const isLaunched = claim.providerId !== undefined;
  const plan = isLaunched ? undefined : launchPlanOf(claim);
  const planned = plan && maxResources(plan.allocatable, plan.capacity);
  const most = (): Resources => (pool === undefined ? NO_RESOURCES : mostOf(pool, types));
  const own = isLaunched ? claim.capacity : (planned ?? most());
  const noted = Number(claim.annotations[PRICE] ?? Number.NaN);
  const price = Number.isNaN(noted) ? offeringOfClaim(claim, types)?.price : noted;
  const hourly = isLaunched && price !== undefined ? millionths(price) : own[PRICE];
  return { ...own, [PRICE]: hourly ?? most()[PRICE] ?? 0 };
}

type Counted = Pick<ClusterSnapshot, 'nodeClaims' | 'nodePools' | 'instanceTypes'> &
  Partial<Pick<ClusterSnapshot, 'nodes'>>;

/**
 * What the nodes of the group's NodePools in this cluster take of what it caps. Every NodeClaim
 * counts until it is gone, also one that drains: its instance runs until then. So a replacement
 * needs room beside the node that it replaces; and nodes of a NodePool that was deleted count while
 * they drain. NodeClaims of `but` are left out.
 */
export function takenIn(
  { nodeClaims, nodePools, instanceTypes, nodes = [] }: Counted,
  { group, pools, caps }: GroupCaps,
  but: ReadonlySet<string> = new Set(),
): Resources {
  const byName = new Map(nodePools.map((pool) => [pool.name, pool]));
  const known = new Set(nodeClaims.flatMap(({ providerId }) => providerId ?? []));
  const named = new Set(pools);
  const isOf = (pool: string | undefined, annotations: Labels): boolean =>
    pool !== undefined &&
    (named.has(pool) ||
      (!byName.has(pool) && (group === ALL_POOLS || annotations[LIMIT_GROUP] === group)));
  const taken: Record<string, number> = {};
  const add = (capacity: Resources): void => {
    for (const name of Object.keys(caps)) {
      taken[name] = (taken[name] ?? 0) + takenOf(capacity, name);
    }
  };
  for (const claim of nodeClaims) {
    const name = claim.labels[NODE_POOL];
    if (!isOf(name, claim.annotations) || but.has(claim.name)) continue;
    const pool = byName.get(name ?? '');
    add(takenBy(claim, pool, instanceTypes.get(name ?? '') ?? []));
  }
  for (const { labels, annotations, providerId = '', capacity } of nodes) {
    if (isOf(labels[NODE_POOL], annotations) && !known.has(providerId)) add(capacity);
  }
  return taken;
}

/** What each group's caps leave. */
export function groupRooms(
  snapshot: Counted & Pick<ClusterSnapshot, 'groupCaps'>,
): readonly GroupRoom[] {
  return (snapshot.groupCaps ?? []).map((caps) => new GroupRoom(caps, leftOf(snapshot, caps)));
}

function leftOf(snapshot: Counted, groupCaps: GroupCaps): Resources {
  const { caps, shared = { others: NO_RESOURCES, pending: {} } } = groupCaps;
  const { others, pending } = shared;
  const names = Object.keys(caps);
  if (others === undefined) return Object.fromEntries(names.map((name) => [name, 0]));
  // What is pending counts as what it may take, whether it has been written by now or not.
  const own = takenIn(snapshot, groupCaps, new Set(Object.keys(pending)));
  const all = [own, others, ...Object.values(pending)];
  return Object.fromEntries(
    Object.entries(caps).map(([name, cap]) => [
      name,
      all.reduce((left, each) => left - amountOf(each, name), cap),
    ]),
  );
}

/** An hour of the dearest offering that the pool's requirements allow. */
function dearest({ template }: NodePool, offerings: InstanceType['offerings']): number {
  const requirements = requirementsOf(template.requirements);
  const allowed = offerings.filter((each) => offeringMeets(requirements, each));
  return Math.max(0, ...allowed.map(({ price }) => price));
}

type TypesByPool = ClusterSnapshot['instanceTypes'];

const MAPS_MAX = 3;
const priced = new Remembered<TypesByPool, TypesByPool>(MAPS_MAX);

/** The types of pools with a cap on price, each with the most that an hour of it may cost. */
function withPrices(types: TypesByPool, pools: readonly NodePool[]): TypesByPool {
  const text = JSON.stringify(pools.map(({ name, template }) => [name, template.requirements]));
  return priced.of(types, text, () => {
    const own = pools.map((pool) => {
      const list = (types.get(pool.name) ?? []).map((type) => ({
        ...type,
        capacity: { ...type.capacity, [PRICE]: millionths(dearest(pool, type.offerings)) },
      }));
      return [pool.name, list] as const;
    });
    return new Map([...types, ...own.filter(([, list]) => list.length > 0)]);
  });
}

/**
 * The snapshot for plans that keep to the caps. What a cap counts is limited in each of its pools,
 * too, if only by the cap: whatever type of a NodeClaim is launched then takes no more of it than
 * the plan has counted.
 */
export function withGroupCaps(
  snapshot: ClusterSnapshot,
  groupCaps: readonly GroupCaps[],
): ClusterSnapshot {
  if (groupCaps.length === 0) return snapshot;
  const capped = (pool: NodePool): readonly string[] =>
    groupCaps
      .filter(({ pools }) => pools.includes(pool.name))
      .flatMap(({ caps }) => Object.keys(caps));
  const nodePools = snapshot.nodePools.map((pool) => {
    const limits = capped(pool).map((name) => [name, Number.POSITIVE_INFINITY] as const);
    return { ...pool, limits: { ...Object.fromEntries(limits), ...pool.limits } };
  });
  const isPriced = nodePools.filter(({ limits }) => limits[PRICE] !== undefined);
  const instanceTypes = withPrices(snapshot.instanceTypes, isPriced);
  return { ...snapshot, nodePools, instanceTypes, groupCaps };
}
