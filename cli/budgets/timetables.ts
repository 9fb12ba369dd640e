import { isCounted } from '../../shared/core/disruption/budgets.ts';
import type { Interval } from '../../shared/core/disruption/schedule.ts';
import {
  type BudgetWindow,
  budgetWindows,
  REASONS,
} from '../../shared/core/disruption/timetable.ts';
import type { DisruptionReason } from '../../shared/core/model/provisioning.ts';
import type { ClusterState } from '../../shared/ports.ts';
import { table } from '../simulate/table.ts';

/** What the budgets of one NodePool allow, as many nodes as it has now. */
export interface Timetable {
  readonly nodePool: string;
  /** Those that budgets count: initialised, and their instance not being terminated. */
  readonly nodes: number;
  readonly windows: readonly BudgetWindow[];
}

/** Of every NodePool, by name. */
export function timetables(
  { objects }: Pick<ClusterState, 'objects'>,
  range: Interval,
): readonly Timetable[] {
  const { nodePools, nodeClaims } = objects;
  return nodePools
    .map((pool) => {
      const nodes = nodeClaims.filter((claim) => isCounted(claim, pool)).length;
      return { nodePool: pool.name, nodes, windows: budgetWindows(pool, nodes, range) };
    })
    .sort((a, b) => (a.nodePool < b.nodePool ? -1 : 1));
}

const DAYS = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];

/** `Wed 2026-07-15 09:00`; budgets go by UTC. */
function moment(ms: number): string {
  const date = new Date(ms);
  const [day = '', time = ''] = date.toISOString().split('T');
  return `${DAYS[date.getUTCDay()]} ${day} ${time.slice(0, 5)}`;
}

/** Every reason but Fallback, where no NodePool lets a node go for it. */
function reasonsOf(all: readonly Timetable[]): readonly DisruptionReason[] {
  const isAsked = all.some(({ windows }) => windows.some(({ allowed }) => allowed.Fallback > 0));
  return REASONS.filter((each) => each !== 'Fallback' || isAsked);
}

/** For people: how many nodes may be gone at once, from when to when. */
export function renderTimetables(all: readonly Timetable[]): string {
  if (all.length === 0) return 'No NodePools.';
  const reasons = reasonsOf(all);
  const header = ['FROM (UTC)', 'TO (UTC)', ...reasons.map((reason) => reason.toUpperCase())];
  return all
    .map(({ nodePool, nodes, windows }) => {
      const rows = windows.map(({ fromMs, toMs, allowed }) => [
        moment(fromMs),
        moment(toMs),
        ...reasons.map((reason) => String(allowed[reason])),
      ]);
      const count = `${nodes} ${nodes === 1 ? 'node' : 'nodes'}`;
      return `NodePool ${nodePool}, ${count}\n${table(header, rows, '  ')}`;
    })
    .join('\n\n');
}

/** The same as JSON data, times in RFC 3339. */
export function encodeTimetables(all: readonly Timetable[]): readonly object[] {
  const iso = (ms: number): string => new Date(ms).toISOString();
  return all.map(({ nodePool, nodes, windows }) => ({
    nodePool,
    nodes,
    windows: windows.map(({ fromMs, toMs, allowed }) => ({
      from: iso(fromMs),
      to: iso(toMs),
      allowed,
    })),
  }));
}
