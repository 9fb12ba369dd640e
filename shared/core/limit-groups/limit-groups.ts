import { isWithin, type Recurrence, recurrenceOf } from '../disruption/schedule.ts';
import { type Currency, money } from '../model/currency.ts';
import { LIMIT_GROUP, PRICE } from '../model/labels.ts';
import type { NodePool } from '../model/provisioning.ts';
import { amountOf, type Resources } from '../model/resources.ts';
import { formatQuantity, parseQuantity } from '../quantity.ts';

/** Caps on the nodes of a group's NodePools together, always or at some times. */
export interface LimitGroup {
  readonly name: string;
  /** By `nodes`, `cpu`, `memory` or {@link PRICE}, which counts millionths an hour. */
  readonly caps: Resources;
  /** When they hold; undefined: always. */
  readonly recurrence: Recurrence | undefined;
  /** Whether the nodes of other clusters count, too, which have the bucket in common. */
  readonly isShared: boolean;
  /** As it is written. */
  readonly text: string;
}

/** What counts against the caps of a shared group beside the nodes of this cluster. */
export interface SharedPart {
  /** What other clusters hold together; absent: nobody could say. */
  readonly others?: Resources;
  /** What NodeClaims take, by name, that may have been written since the snapshot, or may be yet. */
  readonly pending: Readonly<Record<string, Resources>>;
}

/** The caps that hold now, and whose nodes they count. */
export interface GroupCaps {
  readonly group: string;
  /** By name. */
  readonly pools: readonly string[];
  readonly caps: Resources;
  /** Absent: the group is of this cluster alone. */
  readonly shared?: SharedPart;
}

/** The group that each NodePool belongs to. */
export const ALL_POOLS = 'all';

/** The text of the setting for no group at all. */
export const NO_LIMIT_GROUPS = 'none';

export const LIMIT_GROUPS_LIKE =
  'batch nodes=20 cpu=400 memory=1Ti price=12.5; batch nodes=5 from 0 18 * * 1-5 for 14h';

const ENTRY =
  /^([\w.-]+)((?: (?:nodes|cpu|memory|price)=[\w.]+)+)( shared)?(?: from (.+) for (\S+))?$/;
const MILLIONTHS = 1_000_000;

/**
 * The cap of what an entry counts at times at which it does not hold: other clusters are told of it
 * all the time. No sum comes near to it, and JSON has it, other than infinity.
 */
const NO_CAP = Number.MAX_SAFE_INTEGER;

/** Millionths, for amounts that are counted exactly; rounded up, so that a cap is never exceeded. */
export function millionths(price: number): number {
  return Math.ceil(Number((price * MILLIONTHS).toFixed(3)));
}

function capOf(key: string, value: string): readonly [string, number] | undefined {
  if (key === 'price') {
    return /^\d+(\.\d+)?$/.test(value)
      ? [PRICE, Math.floor(Number(value) * MILLIONTHS)]
      : undefined;
  }
  const amount = parseQuantity(value, key, 'down');
  return amount === undefined ? undefined : [key, amount];
}

function groupOf(text: string): LimitGroup | undefined {
  const [, name = '', pairs = '', shared, schedule, duration = ''] = ENTRY.exec(text) ?? [];
  const caps = pairs
    .trim()
    .split(' ')
    .map((pair) => {
      const [key = '', value = ''] = pair.split('=');
      return capOf(key, value);
    });
  const known = caps.filter((each) => each !== undefined);
  const recurrence = schedule === undefined ? undefined : recurrenceOf(schedule, duration);
  const isTimely = schedule === undefined || recurrence !== undefined;
  if (name === '' || known.length < caps.length || !isTimely) return undefined;
  if (new Map(known).size < known.length) return undefined;
  // Groups are told apart by case, but nobody means another one.
  if (name !== ALL_POOLS && name.toLowerCase() === ALL_POOLS) return undefined;
  return {
    name,
    caps: Object.fromEntries(known),
    recurrence,
    isShared: shared !== undefined,
    text: text.slice(name.length + 1),
  };
}

/** What {@link LIMIT_GROUPS_LIKE} does not show of the form. */
export const LIMIT_GROUPS_RULES = `each resource once in an entry, and the group of every NodePool written "${ALL_POOLS}"`;

/** The groups of a text such as {@link LIMIT_GROUPS_LIKE}; undefined: it has another form. */
export function limitGroupsOf(text: string): readonly LimitGroup[] | undefined {
  if (text === NO_LIMIT_GROUPS) return [];
  const entries = text.split(';').map((entry) => entry.trim().replaceAll(/\s+/g, ' '));
  const groups = entries.filter((entry) => entry !== '').map(groupOf);
  const known = groups.filter((each) => each !== undefined);
  return known.length === 0 || known.length < groups.length ? undefined : known;
}

/** The group that the NodePool names, which may be none of the known ones. */
function nameOf({ annotations }: Pick<NodePool, 'annotations'>): string | undefined {
  return annotations[LIMIT_GROUP];
}

/** Why nothing may be launched in the pool: its group is not known, so neither are its caps. */
export function unknownGroup(
  pool: Pick<NodePool, 'annotations'>,
  groups: readonly LimitGroup[],
): string | undefined {
  const own = nameOf(pool);
  if (own === undefined || groups.some(({ name }) => name === own)) return undefined;
  return `the annotation ${LIMIT_GROUP} names "${own}", which the setting limitGroups does not have`;
}

/** The names of groups of which an entry is shared; one makes all entries of its group so. */
export function sharedGroups(groups: readonly LimitGroup[]): readonly string[] {
  const shared = groups.flatMap(({ name, isShared }) => (isShared ? [name] : []));
  return [...new Set(shared)].sort();
}

function isActive({ recurrence }: LimitGroup, nowMs: number): boolean {
  if (recurrence === undefined) return true;
  return isWithin(recurrence.schedule, recurrence.durationMs, nowMs) === true;
}

/** The caps that hold now: of entries that are active together the lowest for each resource. */
export function capsAt(
  groups: readonly LimitGroup[],
  pools: readonly NodePool[],
  nowMs: number,
): readonly GroupCaps[] {
  const shared = new Set(sharedGroups(groups));
  const counted = groups.filter((each) => shared.has(each.name) || isActive(each, nowMs));
  return [...Map.groupBy(counted, ({ name }) => name)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, entries]) => {
      const caps: Record<string, number> = {};
      for (const entry of entries) {
        for (const [name, most] of Object.entries(entry.caps)) {
          const cap = isActive(entry, nowMs) ? most : NO_CAP;
          caps[name] = Math.min(caps[name] ?? cap, cap);
        }
      }
      const own = pools.filter((pool) => group === ALL_POOLS || nameOf(pool) === group);
      return { group, pools: own.map(({ name }) => name).sort(), caps };
    })
    .filter(({ group, pools: own }) => own.length > 0 || shared.has(group));
}

/** `3 of 20 nodes`, `$0.40 of $12.50 an hour`: what a cap leaves, for people. */
export function leftText(name: string, left: number, cap: number, currency: Currency): string {
  const rest = Math.max(0, left);
  if (name === PRICE) {
    const [now, all] = [rest, cap].map((each) => money(each / MILLIONTHS, currency));
    return `${now} of ${all} an hour`;
  }
  return `${formatQuantity(rest, name)} of ${formatQuantity(cap, name)} ${name}`;
}

/** `15 nodes`, `$0.40 an hour`: an amount of what a cap counts, for people. */
export function amountText(name: string, amount: number, currency: Currency): string {
  if (name === PRICE) return `${money(amount / MILLIONTHS, currency)} an hour`;
  return `${formatQuantity(amount, name)} ${name}`;
}

/** What one node takes of a cap. */
export function takenOf(capacity: Resources, name: string): number {
  return name === 'nodes' ? 1 : amountOf(capacity, name);
}
