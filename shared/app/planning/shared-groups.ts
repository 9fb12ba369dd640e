import { type Reason, reason } from '../../core/explain/reason.ts';
import { GroupRoom, refusalBy, takenBy, takenIn } from '../../core/limit-groups/group-room.ts';
import {
  type ClusterUsage,
  differing,
  fitting,
  heldBy,
  heldByOthers,
  type PendingClaim,
  usageText,
  withUsage,
} from '../../core/limit-groups/group-usage.ts';
import { type GroupCaps, sharedGroups } from '../../core/limit-groups/limit-groups.ts';
import type { Currency } from '../../core/model/currency.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import {
  addResources,
  amountOf,
  NO_RESOURCES,
  type Resources,
  subtractResources,
} from '../../core/model/resources.ts';
import type { ClusterSnapshot } from '../../core/model/snapshot.ts';
import {
  type KnownUsage,
  type NewNodeClaim,
  PortError,
  type Ports,
  type WrittenClaim,
} from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import { asWritten } from './new-claims.ts';

/** So long after it was reserved for, the write of a NodeClaim may begin. */
const WRITE_MS = 60_000;
/**
 * So long a NodeClaim counts that nobody has seen: its write begins within a minute, and is tried
 * five times for half a minute each, also by an invocation that has lost its Lease since.
 */
const PENDING_MS = 5 * 60_000;
/** Clusters that reserve at the same moment overtake each other; not for ever. */
const ATTEMPTS_MAX = 5;

type Bucket = Pick<Ports, 'groupUsages'>;

/** A group as the pass knows it. */
interface Group {
  readonly name: string;
  /** The cluster's entries of it, as others see them. */
  readonly caps: string;
  /** As last read or written; undefined: it has to be read first. */
  known: KnownUsage | undefined;
  /** The row of this cluster as this pass has found or written it, or may have. */
  own: ReadonlySet<string>;
  /** Whether the row says what the pass has seen of the cluster. */
  isFresh: boolean;
}

interface Change<Result> {
  readonly next: ClusterUsage;
  readonly result: Result;
}

/** NodeClaims that may be written, and why others may not. */
export interface Reserved {
  readonly names: ReadonlySet<string>;
  /** By the NodePool's name. */
  readonly refusals: ReadonlyMap<string, Reason>;
}

/**
 * Room in shared limit groups, which one pass reserves in the bucket before it writes NodeClaims. A
 * NodeClaim counts by its name from then on, so that one written late is counted, too.
 * docs/decisions/0065-limit-groups-of-several-clusters.md
 */
export class SharedGroups {
  private readonly cluster: string;
  private readonly currency: Currency;
  /** Before anything was read: what was pending until then is in the state of the pass. */
  private readonly readAtMs: number;
  private readonly groups: readonly Group[];
  /** By the name of the NodeClaim: when its write may begin at the latest. */
  private readonly writableMs = new Map<string, number>();
  private readonly outcomes = new Map<string, 'written' | 'refused'>();
  /** What NodeClaims take that this pass has written, by group and name. */
  private readonly written = new Map<string, Map<string, Resources>>();

  private constructor(settings: AppSettings, readAtMs: number, groups: readonly Group[]) {
    this.cluster = settings.cluster;
    this.currency = settings.scheduling.currency;
    this.readAtMs = readAtMs;
    this.groups = groups;
  }

  /**
   * To be read before the cluster is: what a row says by then has been done, and shows in the
   * state. Without shared groups nothing is asked.
   */
  static async read(
    { groupUsages, clock }: Pick<Ports, 'groupUsages' | 'clock'>,
    settings: AppSettings,
  ): Promise<SharedGroups> {
    const readAtMs = clock.nowMs();
    const { cluster, limitGroups } = settings;
    const groups = sharedGroups(limitGroups).map(async (name): Promise<Group> => {
      const known = await groupUsages?.read(name);
      const entries = limitGroups.filter((each) => each.name === name);
      return {
        name,
        caps: entries.map(({ text }) => text).join('; '),
        known,
        own: new Set(known === undefined ? [] : [usageText(known.usage.get(cluster))]),
        isFresh: false,
      };
    });
    return new SharedGroups(settings, readAtMs, await Promise.all(groups));
  }

  /** The caps, with what other clusters hold of those that are shared. */
  withOthers(all: readonly GroupCaps[]): readonly GroupCaps[] {
    return all.map((caps) => {
      const group = this.groups.find(({ name }) => name === caps.group);
      if (group === undefined) return caps;
      const written = Object.fromEntries(this.written.get(group.name) ?? []);
      if (group.known === undefined) return { ...caps, shared: { pending: written } };
      const { usage } = group.known;
      const pending = this.live(usage.get(this.cluster)?.pending ?? []);
      const named = pending.map(({ name, takes }) => [name, takes] as const);
      const others = heldByOthers(usage, this.cluster);
      return { ...caps, shared: { others, pending: { ...Object.fromEntries(named), ...written } } };
    });
  }

  /** Clusters that state other caps of a group, by the group's name. */
  differences(): readonly { readonly group: string; readonly why: Reason }[] {
    return this.groups.flatMap(({ name: group, known, caps }) =>
      differing(known?.usage ?? new Map(), this.cluster, caps).map(([cluster, theirs]) => ({
        group,
        why: reason('limit-group-differs', { group, cluster, caps: theirs }),
      })),
    );
  }

  /**
   * Reserves room for the NodeClaims in every shared group of their NodePools: `each`: for those for
   * which there is some, in their order; `all`: for all of them or none.
   */
  async reserve(
    ports: Bucket & Pick<Ports, 'clock'>,
    snapshot: ClusterSnapshot,
    claims: readonly NewNodeClaim[],
    extent: 'each' | 'all' = 'each',
  ): Promise<Reserved> {
    let allowed = claims;
    const refusals = new Map<string, Reason>();
    for (const caps of snapshot.groupCaps ?? []) {
      const group = this.groups.find(({ name }) => name === caps.group);
      const own = allowed.filter((each) => caps.pools.includes(poolOf(each)));
      if (group === undefined || own.length === 0) continue;
      const nowMs = ports.clock.nowMs();
      const wanted = own.map((each) => this.pendingOf(snapshot, caps, each, nowMs));
      const got = await this.raise(ports, { snapshot, caps, group, wanted, extent });
      const refused = own.filter(({ name }) => !got.names.has(name));
      for (const each of refused) {
        const takes = wanted.find(({ name }) => name === each.name)?.takes ?? NO_RESOURCES;
        const why = refusalBy([got.room], poolOf(each), takes, this.currency);
        if (why !== undefined) refusals.set(poolOf(each), why);
        // What an earlier group has left for it is given back.
        this.outcomes.set(each.name, 'refused');
      }
      allowed = allowed.filter((each) => !refused.includes(each));
      if (extent === 'all' && refused.length > 0) {
        for (const { name } of claims) this.outcomes.set(name, 'refused');
        allowed = [];
      }
      for (const { name } of own) this.writableMs.set(name, nowMs + WRITE_MS);
    }
    if (allowed.length < claims.length) await this.settle(ports);
    return { names: new Set(allowed.map(({ name }) => name)), refusals };
  }

  /** Without shared groups there is nothing to reserve. */
  get isEmpty(): boolean {
    return this.groups.length === 0;
  }

  /** Gives back what was reserved for NodeClaims that are not written. */
  giveBack(names: Iterable<string>): void {
    for (const name of names) if (this.writableMs.has(name)) this.outcomes.set(name, 'refused');
  }

  /** Writes a NodeClaim for which there is room, unless that was reserved too long ago. */
  async create(
    { cluster, clock }: Pick<Ports, 'cluster' | 'clock'>,
    claim: NewNodeClaim,
  ): Promise<WrittenClaim> {
    const { name } = claim;
    const untilMs = this.writableMs.get(name);
    if (untilMs === undefined) return await cluster.createNodeClaim(claim);
    if (clock.nowMs() >= untilMs) {
      const message = `room in a limit group was reserved for ${name} too long ago`;
      throw new PortError('throttled', 'ReservedTooLongAgo', message);
    }
    try {
      const made = await cluster.createNodeClaim(claim);
      this.outcomes.set(name, 'written');
      return made;
    } catch (error) {
      const isRefusal = error instanceof PortError && !error.isTransient;
      if (isRefusal) this.outcomes.set(name, 'refused');
      throw error;
    }
  }

  /** What has been written is used, and what was refused is free, from now on. */
  async settle(ports: Bucket): Promise<void> {
    if (this.outcomes.size === 0) return;
    const outcomes = new Map(this.outcomes);
    this.outcomes.clear();
    for (const group of this.groups) {
      await this.update(ports, group, (row) => {
        const done = row.pending.filter(({ name }) => outcomes.has(name));
        const made = done.filter(({ name }) => outcomes.get(name) === 'written');
        const written = this.written.get(group.name) ?? new Map<string, Resources>();
        for (const { name, takes } of made) written.set(name, takes);
        this.written.set(group.name, written);
        const used = made.reduce((sum, { takes }) => addResources(sum, takes), row.used);
        const pending = row.pending.filter((each) => !done.includes(each));
        return { next: { ...row, used, pending }, result: undefined };
      });
    }
  }

  /** Says in the bucket what the cluster holds now: what has gone is free for others. */
  async publish(ports: Bucket, snapshot: ClusterSnapshot): Promise<void> {
    for (const group of this.groups) {
      if (group.isFresh || group.known === undefined) continue;
      const caps = snapshot.groupCaps?.find((each) => each.group === group.name);
      const published = await this.update(ports, group, (row) => ({
        next: this.refreshed(group, row, snapshot, caps),
        result: true,
      }));
      group.isFresh = published === true;
    }
  }

  private live(pending: readonly PendingClaim[]): readonly PendingClaim[] {
    return pending.filter(({ untilMs }) => untilMs > this.readAtMs);
  }

  private pendingOf(
    { nodePools, instanceTypes }: ClusterSnapshot,
    { caps }: GroupCaps,
    claim: NewNodeClaim,
    nowMs: number,
  ): PendingClaim {
    const pool = nodePools.find(({ name }) => name === poolOf(claim));
    const types = instanceTypes.get(poolOf(claim)) ?? [];
    const all = { ...takenBy(asWritten(claim, claim.name, nowMs), pool, types), nodes: 1 };
    const takes = Object.keys(caps).map((name) => [name, amountOf(all, name)] as const);
    return { name: claim.name, takes: Object.fromEntries(takes), untilMs: nowMs + PENDING_MS };
  }

  /** The row with what the pass has seen of the cluster, once in a pass. */
  private refreshed(
    group: Group,
    row: ClusterUsage,
    snapshot: ClusterSnapshot,
    caps: GroupCaps | undefined,
  ): ClusterUsage {
    if (group.isFresh) return row;
    const pending = this.live(row.pending);
    const names = new Set(pending.map(({ name }) => name));
    const used = caps === undefined ? NO_RESOURCES : takenIn(snapshot, caps, names);
    return { used, pending, caps: group.caps };
  }

  /** Raises what the cluster holds as far as the caps allow. */
  private async raise(
    ports: Bucket,
    raising: {
      readonly snapshot: ClusterSnapshot;
      readonly caps: GroupCaps;
      readonly group: Group;
      readonly wanted: readonly PendingClaim[];
      readonly extent: 'each' | 'all';
    },
  ): Promise<{ readonly names: ReadonlySet<string>; readonly room: GroupRoom }> {
    const { snapshot, caps, group, wanted, extent } = raising;
    const raised = await this.update(ports, group, (row, others) => {
      const base = this.refreshed(group, row, snapshot, caps);
      const had = new Set(base.pending.map(({ name }) => name));
      const fresh = wanted.filter(({ name }) => !had.has(name));
      const fits = fitting(caps, addResources(heldBy(base), others), fresh);
      const added = extent === 'all' && fits.length < fresh.length ? [] : fits;
      const next = { ...base, pending: [...base.pending, ...added] };
      // What does not fit does not fit beside those that would, whether they are taken or not.
      const held = heldBy({ ...base, pending: [...base.pending, ...fits] });
      return { next, result: { pending: next.pending, held, others } };
    });
    if (raised !== undefined) group.isFresh = true;
    const names = new Set(raised?.pending.map(({ name }) => name));
    const others = raised?.others;
    const shared = others === undefined ? { pending: {} } : { others, pending: {} };
    const free = subtractResources(caps.caps, addResources(raised?.held ?? {}, others ?? {}));
    const left = Object.keys(caps.caps).map((name) => [name, amountOf(free, name)] as const);
    const none = left.map(([name]) => [name, 0] as const);
    const room = Object.fromEntries(raised === undefined ? none : left);
    return { names, room: new GroupRoom({ ...caps, shared }, room) };
  }

  /**
   * Changes the row of this cluster in what is in the bucket by then. A change may be made on top
   * of itself, where its answer was lost. Undefined: it could not be written, others were always
   * faster, or another pass of this cluster has written the row: that one goes by a newer state.
   */
  private async update<Result>(
    { groupUsages }: Bucket,
    group: Group,
    change: (row: ClusterUsage, others: Resources) => Change<Result>,
  ): Promise<Result | undefined> {
    for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
      const known = group.known ?? (await groupUsages?.read(group.name));
      group.known = known;
      if (known === undefined || groupUsages === undefined) return undefined;
      const { usage, version } = known;
      const row = usage.get(this.cluster);
      if (!group.own.has(usageText(row))) return undefined;
      const base = row ?? { used: NO_RESOURCES, pending: [], caps: group.caps };
      const { next, result } = change(base, heldByOthers(usage, this.cluster));
      const changed = withUsage(usage, this.cluster, next);
      const text = usageText(changed.get(this.cluster));
      if (text !== usageText(row)) {
        group.own = new Set([...group.own, text]);
        const written = await groupUsages.write(group.name, changed, version);
        group.known = undefined;
        if (written === 'conflict' || written === 'failed') continue;
        group.known = { usage: changed, version: written.version };
        group.own = new Set([text]);
      }
      return result;
    }
    return undefined;
  }
}

function poolOf({ labels }: NewNodeClaim): string {
  return labels[NODE_POOL] ?? '';
}
