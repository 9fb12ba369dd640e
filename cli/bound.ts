import type { LegacyHighs } from 'highs/legacy-types';
import { invariant } from '../shared/core/invariant.ts';
import type { Plan } from '../shared/core/model/plan.ts';
import { podKey } from '../shared/core/model/pod.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../shared/core/model/snapshot.ts';
import type { Column } from '../shared/core/scheduling/problem/columns.ts';
import { compileProblem } from '../shared/core/scheduling/problem/compile.ts';
import { ruleAllowsNode } from '../shared/core/scheduling/problem/node-rules.ts';
import type { Problem } from '../shared/core/scheduling/problem/problem.ts';
import { isHostKey } from '../shared/core/scheduling/problem/topology-terms.ts';
import { type ClassView, Ground } from '../shared/core/scheduling/world/world.ts';

/** What any valid plan for the same pods must pay at least. */
export interface Bound {
  /** USD an hour, after overlays. */
  readonly pricePerHour: number;
  /** How far the plan is above it, in percent; 0 where the plan costs nothing. */
  readonly gapPercent: number;
}

/** One place that pods can go to: a launch that can be bought any number of times, or a node. */
interface Site {
  readonly name: string;
  readonly price: number;
  readonly room: Float64Array;
  /** At most this many; undefined = any number. */
  readonly most: number | undefined;
  readonly takes: (view: ClassView) => boolean;
}

/**
 * A lower bound by linear programming: pods and nodes may be cut into pieces, and what a plan must
 * keep beside resources (limits, weights, minValues, preferences, affinity, spreads, daemon ports)
 * is left out; at most one pod of a class on a node where its own anti-affinity by hostname says
 * so.
 */
export async function lowerBound(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  plan: Plan,
): Promise<Bound> {
  const problem = compileProblem(snapshot, settings);
  const ground = new Ground(problem, { kinds: new Set() });
  const counts = placedByClass(problem, plan);
  const views = ground.views.filter((view) => (counts.get(view) ?? 0) > 0);
  const pricePerHour =
    views.length === 0
      ? 0
      : Math.max(oneWholeNode(ground, views), await minimum(ground, views, counts));
  const gap = pricePerHour > 0 ? (plan.pricePerHour / pricePerHour - 1) * 100 : 0;
  return { pricePerHour, gapPercent: Math.max(0, gap) };

  function viewOf(id: number): ClassView {
    const view = ground.views[id];
    invariant(view !== undefined, 'each pod class has a view');
    return view;
  }

  function placedByClass({ classes }: Problem, { newNodeClaims, existing }: Plan) {
    const placed = new Set([...newNodeClaims, ...existing].flatMap((each) => each.pods));
    return new Map(
      classes.map((each) => [
        viewOf(each.id),
        each.pods.filter((pod) => placed.has(podKey(pod))).length,
      ]),
    );
  }
}

/** At least one whole node for a pod that no existing node can take. */
function oneWholeNode({ rooms, problem }: Ground, views: readonly ClassView[]): number {
  let most = 0;
  for (const view of views) {
    if (rooms.some((room) => suitsRoom(view, room))) continue;
    const prices = problem.groups
      .filter((group) => view.allowed[group.id] === 1)
      .flatMap(({ front }) => front)
      .filter(({ room }) => fitsOf(view.podClass.requests, room) > 0)
      .map(({ price }) => price);
    if (prices.length > 0) most = Math.max(most, Math.min(...prices));
  }
  return most * (1 - 1e-6);
}

function sitesOf(ground: Ground): readonly Site[] {
  const launches = ground.problem.groups.flatMap(({ front }) => front);
  return [
    ...unbeaten(launches).map((column, index) => ({
      name: `n${index}`,
      price: column.price,
      room: column.room,
      most: column.offering.reservation?.capacity,
      takes: (view: ClassView) => view.allowed[column.group.id] === 1,
    })),
    ...ground.rooms.map((room, index) => ({
      name: `e${index}`,
      price: 0,
      room: room.free,
      most: 1,
      takes: (view: ClassView) => suitsRoom(view, room),
    })),
  ];
}

function suitsRoom({ podClass }: ClassView, { node, free }: Ground['rooms'][number]): boolean {
  return (
    ruleAllowsNode(podClass.rule, node.label, node.taints) && fitsOf(podClass.requests, free) > 0
  );
}

/** Launches of which no other costs no more, has at least the room and takes at least the pods. */
function unbeaten(columns: readonly Column[]): readonly Column[] {
  const kept: Column[] = [];
  for (const each of columns.toSorted((a, b) => a.price - b.price)) {
    if (!kept.some((other) => beats(other, each))) kept.push(each);
  }
  return kept;
}

function beats(other: Column, each: Column): boolean {
  if (other.offering.reservation !== undefined) return false;
  return (
    other.room.every((amount, r) => amount >= (each.room[r] ?? 0)) &&
    each.group.allowed.every((isAllowed, rule) => isAllowed <= (other.group.allowed[rule] ?? 0))
  );
}

/** How many whole pods fit. */
function fitsOf(requests: Float64Array, room: Float64Array): number {
  let fits = Number.POSITIVE_INFINITY;
  for (const [r, amount] of requests.entries()) {
    if (amount > 0) fits = Math.min(fits, Math.floor(Math.max(0, room[r] ?? 0) / amount));
  }
  return fits;
}

function mostOnOneNode({ podClass, host }: ClassView): number {
  const alone = podClass.topology.antiAffinity.some(
    ({ key, weight, isSelf }) => isHostKey(key) && weight === 0 && isSelf,
  );
  return alone || host.ports.length > 0 ? 1 : Number.POSITIVE_INFINITY;
}

async function minimum(
  ground: Ground,
  views: readonly ClassView[],
  counts: ReadonlyMap<ClassView, number>,
): Promise<number> {
  const text = linearProgram(ground, views, counts);
  // The package's types describe its CommonJS form: its ES module's default is the loader itself.
  const loader: unknown = (await import('highs')).default;
  const highs = await (loader as () => Promise<LegacyHighs>)();
  const { Status, ObjectiveValue } = highs.solve(text);
  if (Status !== 'Optimal') throw new Error(`the bound was not found: the solver says ${Status}`);
  // The solver is exact to about 1e-7: a bound must not be above the truth.
  return Math.max(0, ObjectiveValue * (1 - 1e-6));
}

/** The program in the LP file format. https://ergo-code.github.io/HiGHS/dev/interfaces/c_api/ */
function linearProgram(
  ground: Ground,
  views: readonly ClassView[],
  counts: ReadonlyMap<ClassView, number>,
): string {
  const rows: string[] = [];
  const bounds: string[] = [];
  const costs: string[] = [];
  const shares = views.map((): string[] => []);
  for (const site of sitesOf(ground)) {
    const here = views.flatMap((view, index) => {
      const fits = Math.min(fitsOf(view.podClass.requests, site.room), mostOnOneNode(view));
      return fits > 0 && site.takes(view)
        ? [{ view, fits, name: `y${index}${site.name}`, index }]
        : [];
    });
    if (here.length === 0) continue;
    if (site.price > 0) costs.push(`${site.price} ${site.name}`);
    if (site.most !== undefined) bounds.push(`0 <= ${site.name} <= ${site.most}`);
    for (const { name, index, fits } of here) {
      shares[index]?.push(name);
      if (Number.isFinite(fits)) rows.push(`${name} - ${fits} ${site.name} <= 0`);
    }
    for (const [r, amount] of site.room.entries()) {
      const terms = here
        .map(
          ({ view, name }) =>
            [(view.podClass.requests[r] ?? 0) / Math.max(1, amount), name] as const,
        )
        .filter(([share]) => share > 0)
        .map(([share, name]) => `${share} ${name}`);
      if (terms.length > 0) rows.push(`${terms.join(' + ')} - ${site.name} <= 0`);
    }
  }
  for (const [index, view] of views.entries()) {
    rows.push(`${(shares[index] ?? []).join(' + ')} = ${counts.get(view) ?? 0}`);
  }
  const numbered = rows.map((row, index) => ` r${index}: ${row}`);
  return [
    'Minimize',
    ` obj: ${costs.length === 0 ? '0 n0' : costs.join(' + ')}`,
    'Subject To',
    ...numbered,
    'Bounds',
    ...bounds.map((each) => ` ${each}`),
    'End',
    '',
  ].join('\n');
}
