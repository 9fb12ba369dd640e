import type { Column } from '../problem/columns.ts';
import { type DualOptions, type Relaxation, relax } from './duals.ts';
import { type Bucket, howMany } from './fill.ts';

interface Row {
  readonly bucket: { id: number; requests: Float64Array; allowed: Uint8Array; perNode: number };
  demand: number;
}

/** Buckets that differ only in where they may go share a row, which may go wherever one may. */
function rowsOf(buckets: readonly Bucket[], demand: Float64Array) {
  const rows = new Map<string, Row>();
  const rowOf = buckets.map(({ id, requests, allowed, perNode }) => {
    const text = `${requests.join()}|${perNode}`;
    let row = rows.get(text);
    if (row === undefined) {
      const bucket = { id: rows.size, requests, allowed: allowed.slice(), perNode };
      row = { bucket, demand: 0 };
      rows.set(text, row);
    }
    for (let group = 0; group < allowed.length; group++) {
      if (allowed[group] === 1) row.bucket.allowed[group] = 1;
    }
    row.demand += demand[id] ?? 0;
    return row;
  });
  return { rows: [...rows.values()], rowOf };
}

/** What a pod costs where it may go, by the two main resources in the proportion all pods have. */
class UnitCosts {
  private readonly ranked: readonly { readonly column: Column; readonly cost: number }[];

  constructor(
    buckets: readonly Bucket[],
    demand: Float64Array,
    columns: readonly Column[],
    main: readonly number[],
    nodePrice: number,
  ) {
    const [first = 0, second = first] = main;
    const total = (r: number) =>
      buckets.reduce((sum, { id, requests }) => sum + (demand[id] ?? 0) * (requests[r] ?? 0), 0);
    const ratio = total(first) / Math.max(total(second), 1e-9);
    const cost = ({ price, room }: Column) =>
      (price + nodePrice) / ((room[first] ?? 0) + ratio * (room[second] ?? 0) + 1e-12);
    this.ranked = columns
      .map((column) => ({ column, cost: cost(column) }))
      .sort((a, b) => a.cost - b.cost);
  }

  /** The least cost among columns that can hold the pod; undefined = none can. */
  least(bucket: Bucket): number | undefined {
    return this.ranked.find(
      ({ column }) =>
        bucket.allowed[column.group.id] === 1 && howMany(bucket, column.room, 1) === 1,
    )?.cost;
  }
}

/** Relaxed problems that were solved before: other ways to pack the same pods begin with the same. */
export class Relaxations {
  private readonly known = new Map<string, Relaxation>();

  of(
    rows: readonly Row[],
    columns: readonly Column[],
    main: readonly number[],
    options: DualOptions,
  ): Relaxation {
    const text = textOf(rows, columns);
    let relaxation = this.known.get(text);
    if (relaxation === undefined) {
      const amounts = Float64Array.from(rows, (row) => row.demand);
      const buckets = rows.map((row) => row.bucket);
      relaxation = relax(buckets, amounts, columns, main, options);
      this.known.set(text, relaxation);
    }
    return relaxation;
  }
}

/** All that the relaxed problem depends on, within one problem. */
function textOf(rows: readonly Row[], columns: readonly Column[]): string {
  const groups = new Set(columns.map(({ group }) => group.id));
  const texts = rows.map(({ bucket: { requests, perNode, allowed }, demand }) =>
    [requests.join(), perNode, allowed.join(''), demand].join('|'),
  );
  return [[...groups].join(), ...texts].join('\n');
}

/**
 * What one pod of each bucket is worth, in USD an hour. The relaxed problem is solved without
 * regard to places, which keeps it small; dearer places make their pods worth that much more.
 */
export function podValues(
  known: Relaxations,
  buckets: readonly Bucket[],
  demand: Float64Array,
  columns: readonly Column[],
  main: readonly number[],
  options: DualOptions,
): Relaxation {
  const { rows, rowOf } = rowsOf(buckets, demand);
  const { values, steps } = known.of(rows, columns, main, options);
  const costs = new UnitCosts(buckets, demand, columns, main, options.nodePrice);
  const anywhere = new Map(rows.map((row) => [row, costs.least(row.bucket)]));
  const own = buckets.map((bucket, index) => {
    const row = rowOf[index] as Row;
    const cost = costs.least(bucket);
    if (cost === undefined) return 0;
    return ((values[row.bucket.id] ?? 0) * cost) / (anywhere.get(row) ?? cost);
  });
  return { values: Float64Array.from(own), steps };
}
