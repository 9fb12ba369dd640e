import { missing } from '../../shared/core/missing.ts';
import { isHostKey } from '../../shared/core/scheduling/problem/topology-terms.ts';
import type {
  ResolvedClass,
  SearchContext,
} from '../../shared/core/scheduling/search/search-state.ts';
import { type SchedulerNode, schedulerNodes } from './scheduler-nodes.ts';

/** Shares of classes in existing nodes: more take minutes, and so few groups are made of them. */
const EXISTING_MAX = 4000;
const GROUPS_LEAST = 10;

/** Pods of a class on a node: a variable of the program. */
interface Share {
  readonly resolved: ResolvedClass;
  readonly name: string;
}

/**
 * The program in the LP file format: as few USD an hour as the pods can cost, where nodes and pods
 * may be cut into pieces. Rows that only whole pods keep make up for some of that. Undefined: it
 * has more characters.
 * https://ergo-code.github.io/HiGHS/dev/interfaces/c_api/
 */
export function linearProgram(
  context: SearchContext,
  resolvedClasses: readonly ResolvedClass[],
  counts: ReadonlyMap<ResolvedClass, number>,
  charactersMax: number,
): string | undefined {
  let [counted, characters] = [0, 0];
  const rows: string[] = [];
  const bounds: string[] = [];
  const costs: string[] = [];
  const placed = resolvedClasses.map((): string[] => []);
  const groupsMost = Math.max(GROUPS_LEAST, EXISTING_MAX / resolvedClasses.length);
  for (const node of schedulerNodes(context, groupsMost)) {
    const here = resolvedClasses.flatMap((resolved, index) => {
      const most = node.fits(resolved);
      if (most === 0) return [];
      return [{ resolved, most, name: `y${index}${node.name}`, index }];
    });
    if (here.length === 0) continue;
    if (node.price > 0) costs.push(`${node.price} ${node.name}`);
    if (node.most !== undefined) bounds.push(`0 <= ${node.name} <= ${node.most}`);
    for (const { resolved, name, index, most } of here) {
      placed[index]?.push(name);
      const fits = resolved.host.ports.length > 0 ? Math.min(1, most) : most;
      if (Number.isFinite(fits)) rows.push(`${name} - ${fits} ${node.name} <= 0`);
    }
    for (const r of node.free.keys()) rows.push(...resourceRows(here, r, node));
    rows.push(...apartRows(here, node.name));
    for (; counted < rows.length; counted++) characters += rows[counted]?.length ?? 0;
    if (characters > charactersMax) return undefined;
  }
  for (const [index, resolved] of resolvedClasses.entries()) {
    rows.push(`${(placed[index] ?? []).join(' + ')} = ${counts.get(resolved) ?? 0}`);
  }
  return [
    'Minimize',
    ` obj: ${costs.length === 0 ? '0 n0' : costs.join(' + ')}`,
    'Subject To',
    ...rows.map((row, index) => ` r${index}: ${row}`),
    'Bounds',
    ...bounds.map((each) => ` ${each}`),
    'End',
    '',
  ].join('\n');
}

/** Up to ninths of a node: smaller pods fill what larger ones leave, and the rows say nothing. */
const PARTS_MAX = 8;
/** Requests within this of a part of the node count as the part, which they may be. */
const TOLERANCE = 1e-9;

/**
 * What the pods of a node may request of one resource: no more than it has. And, as pods are whole:
 * of those that request more than half of it there is at most one, of more than a third two, and so
 * on. For every k, `ceil((k + 1) request / amount) - 1` summed over the pods of a node is less than
 * k + 1, hence at most k (a cut of Chvátal and Gomory). Of nodes that are looked at as one, all
 * have together what one has on average, and each has what the roomiest has at most.
 */
function resourceRows(
  here: readonly Share[],
  r: number,
  { name: node, free, roomiest }: SchedulerNode,
): readonly string[] {
  const partsOf = (room: Float64Array) =>
    here
      .map(({ resolved, name }) => ({
        part: (resolved.podClass.requests[r] ?? missing(r)) / Math.max(1, room[r] ?? missing(r)),
        name,
      }))
      .filter(({ part }) => part > 0);
  const parts = partsOf(roomiest);
  const whole = Array.from({ length: PARTS_MAX }, (_, at) => at + 1).map((k) => {
    const terms = parts.map(({ part, name }) => ({
      count: Math.ceil((k + 1) * part * (1 - TOLERANCE)) - 1,
      name,
    }));
    return row(terms, k, node);
  });
  const pieces = row(
    partsOf(free).map(({ part, name }) => ({ count: part, name })),
    1,
    node,
  );
  return [...pieces, ...whole.flat()];
}

/** Of pods that required anti-affinity by hostname keeps from one another there is one on a node. */
function apartRows(here: readonly Share[], node: string): readonly string[] {
  const bySelector = new Map<number, Share[]>();
  for (const share of here) {
    for (const { key, weight, isSelf, selector } of share.resolved.podClass.topology.antiAffinity) {
      if (!isHostKey(key) || weight > 0 || !isSelf) continue;
      const known = bySelector.get(selector.id);
      if (known === undefined) bySelector.set(selector.id, [share]);
      else if (!known.includes(share)) known.push(share);
    }
  }
  return [...bySelector.values()].flatMap((apart) =>
    row(
      apart.map(({ name }) => ({ count: 1, name })),
      1,
      node,
    ),
  );
}

/** The sum of the counted pods is at most so many on each node; none where nothing is counted. */
function row(
  terms: readonly { readonly count: number; readonly name: string }[],
  most: number,
  node: string,
): readonly string[] {
  const counted = terms.filter(({ count }) => count > 0);
  if (counted.length === 0) return [];
  return [
    `${counted.map(({ count, name }) => `${count} ${name}`).join(' + ')} - ${most} ${node} <= 0`,
  ];
}
