import { missing } from '../../missing.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { type Relaxation, type RelaxationLimits, relax } from './duals.ts';
import { howMany, type Pattern, type PodShape } from './pattern.ts';

interface Row {
  readonly shape: { id: number; requests: Float64Array; allowed: Uint8Array; perNode: number };
  demand: number;
}

/** Shapes that differ only in where they may go share a row, which may go wherever one may. */
function rowsOf(shapes: readonly PodShape[], demand: Float64Array) {
  const rows = new Map<string, Row>();
  const rowOf = shapes.map(({ id, requests, allowed, perNode }) => {
    const text = `${requests.join()}|${perNode}`;
    let row = rows.get(text);
    if (row === undefined) {
      const shape = { id: rows.size, requests, allowed: allowed.slice(), perNode };
      row = { shape, demand: 0 };
      rows.set(text, row);
    }
    for (let group = 0; group < allowed.length; group++) {
      if (allowed[group] === 1) row.shape.allowed[group] = 1;
    }
    row.demand += demand[id] ?? missing(id);
    return row;
  });
  return { rows: [...rows.values()], rowOf };
}

/** What a pod costs where it may go, by the two main resources in the proportion all pods have. */
class UnitCosts {
  private readonly ranked: readonly { readonly option: LaunchOption; readonly cost: number }[];

  constructor(
    shapes: readonly PodShape[],
    demand: Float64Array,
    options: readonly LaunchOption[],
    main: readonly number[],
    nodePrice: number,
  ) {
    const [first = 0, second = first] = main;
    const total = (r: number) =>
      shapes.reduce(
        (sum, { id, requests }) => sum + (demand[id] ?? missing(id)) * (requests[r] ?? missing(r)),
        0,
      );
    const ratio = total(first) / Math.max(total(second), 1e-9);
    const cost = ({ price, free }: LaunchOption) =>
      (price + nodePrice) /
      ((free[first] ?? missing(first)) + ratio * (free[second] ?? missing(second)) + 1e-12);
    this.ranked = options
      .map((option) => ({ option, cost: cost(option) }))
      .sort((a, b) => a.cost - b.cost);
  }

  /** The least cost among launch options that can hold the pod; undefined = none can. */
  least(shape: PodShape): number | undefined {
    return this.ranked.find(
      ({ option }) => shape.allowed[option.group.id] === 1 && howMany(shape, option.free, 1) === 1,
    )?.cost;
  }
}

/** What other ways to pack the same pods have found. */
export interface Found {
  /** Patterns that were launched or brought into a combination, of other amounts of pods, too. */
  readonly patterns: Pattern[];
  /** USD an hour of the cheapest nodes for all of them, what `nodePrice` adds included. */
  least: number;
}

/** What is known of the same pods from other ways to pack them. */
export class Relaxations {
  private readonly known = new Map<string, Relaxation>();
  /** Work done, in all. */
  steps = 0;
  private readonly patterns = new Map<string, Pattern[]>();
  private readonly found = new Map<string, Found>();

  of(
    rows: readonly Row[],
    options: readonly LaunchOption[],
    main: readonly number[],
    limits: RelaxationLimits,
  ): Relaxation {
    const text = textOf(rows, options);
    let relaxation = this.known.get(text);
    if (relaxation === undefined) {
      const amounts = Float64Array.from(rows, (row) => row.demand);
      const shapes = rows.map((row) => row.shape);
      relaxation = relax(shapes, amounts, options, main, limits);
      this.steps += relaxation.steps;
      this.known.set(text, relaxation);
    }
    return relaxation;
  }

  /** To be added to. */
  foundFor(
    shapes: readonly PodShape[],
    demand: Float64Array,
    options: readonly LaunchOption[],
  ): Found {
    const rows = shapes.map((shape) => ({ shape, demand: 0 }));
    const text = textOf(rows, options);
    const patterns = this.patterns.get(text) ?? [];
    this.patterns.set(text, patterns);
    const whole = `${text}\n${demand.join()}`;
    const found = this.found.get(whole) ?? { patterns, least: Number.POSITIVE_INFINITY };
    this.found.set(whole, found);
    return found;
  }
}

/** All that the relaxed problem depends on, within one problem. */
function textOf(rows: readonly Row[], options: readonly LaunchOption[]): string {
  const groups = new Set(options.map(({ group }) => group.id));
  const texts = rows.map(({ shape: { requests, perNode, allowed }, demand }) =>
    [requests.join(), perNode, allowed.join(''), demand].join('|'),
  );
  return [[...groups].join(), ...texts].join('\n');
}

/**
 * What one pod of each shape is worth, in USD an hour. The relaxed problem is solved without
 * regard to places, which keeps it small; dearer places make their pods worth that much more.
 */
export function podValues(
  known: Relaxations,
  shapes: readonly PodShape[],
  demand: Float64Array,
  options: readonly LaunchOption[],
  main: readonly number[],
  limits: RelaxationLimits,
): Relaxation {
  const { rows, rowOf } = rowsOf(shapes, demand);
  const { values, steps } = known.of(rows, options, main, limits);
  const costs = new UnitCosts(shapes, demand, options, main, limits.nodePrice);
  const anywhere = new Map(rows.map((row) => [row, costs.least(row.shape)]));
  const own = shapes.map((shape, index) => {
    const row = rowOf[index] ?? missing(index);
    const cost = costs.least(shape);
    if (cost === undefined) return 0;
    return ((values[row.shape.id] ?? missing(row.shape.id)) * cost) / (anywhere.get(row) ?? cost);
  });
  return { values: Float64Array.from(own), steps };
}
