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
}

/** The caps that hold now, and whose nodes they count. */
export interface GroupCaps {
  readonly group: string;
  /** By name. */
  readonly pools: readonly string[];
  readonly caps: Resources;
}

/** The group that each NodePool belongs to. */
export const ALL_POOLS = 'all';

/** The text of the setting for no group at all. */
export const NO_LIMIT_GROUPS = 'none';

export const LIMIT_GROUPS_LIKE =
  'batch nodes=20 cpu=400 memory=1Ti price=12.5; batch nodes=5 from 0 18 * * 1-5 for 14h';

const ENTRY = /^([\w.-]+)((?: (?:nodes|cpu|memory|price)=[\w.]+)+)(?: from (.+) for (\S+))?$/;
const MILLIONTHS = 1_000_000;

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
  const [, name = '', pairs = '', schedule, duration = ''] = ENTRY.exec(text) ?? [];
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
  return { name, caps: Object.fromEntries(known), recurrence };
}

/** The groups of a text such as {@link LIMIT_GROUPS_LIKE}; undefined: it has another form. */
export function limitGroupsOf(text: string): readonly LimitGroup[] | undefined {
  if (text === NO_LIMIT_GROUPS) return [];
  const entries = text.split(';').map((entry) => entry.trim().replaceAll(/\s+/g, ' '));
  const groups = entries.filter((entry) => entry !== '').map(groupOf);
  const known = groups.filter((each) => each !== undefined);
  return known.length < groups.length ? undefined : known;
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

/** The caps that hold now: of entries that are active together the lowest for each resource. */
export function capsAt(
  groups: readonly LimitGroup[],
  pools: readonly NodePool[],
  nowMs: number,
): readonly GroupCaps[] {
  const active = groups.filter(
    ({ recurrence }) =>
      recurrence === undefined || isWithin(recurrence.schedule, recurrence.durationMs, nowMs),
  );
  return [...Map.groupBy(active, ({ name }) => name)]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([group, entries]) => {
      const caps: Record<string, number> = {};
      for (const entry of entries) {
        for (const [name, cap] of Object.entries(entry.caps)) {
          caps[name] = Math.min(caps[name] ?? cap, cap);
        }
      }
      const own = pools.filter((pool) => group === ALL_POOLS || nameOf(pool) === group);
      return { group, pools: own.map(({ name }) => name).sort(), caps };
    })
    .filter(({ pools: own }) => own.length > 0);
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

/** What one node takes of a cap. */
export function takenOf(capacity: Resources, name: string): number {
  return name === 'nodes' ? 1 : amountOf(capacity, name);
}
