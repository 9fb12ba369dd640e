import { agreeOn, type Column, compareColumns } from '../problem/columns.ts';
import { daemonPortsOn, portsClash } from '../problem/host-ports.ts';
import { emptyHost } from '../world/host.ts';
import { Covers } from '../world/min-values.ts';
import { holds } from '../world/openings.ts';
import { type Bin, type ClassView, viewsIn, type World } from '../world/world.ts';

/**
 * Whether the column could hold what the bin holds, with the same labels where they matter. The
 * budgets must not count the bin meanwhile.
 */
function isAlternative(
  world: World,
  bin: Bin,
  views: readonly ClassView[],
  column: Column,
  covers: Covers,
): boolean {
  const { group } = column;
  const { held, used } = bin;
  for (const view of views) {
    if (view.allowed[group.id] !== 1) return false;
    if (!agreeOn(view.pinKeys, group, held.group)) return false;
  }
  if (!holds(column.room, used)) return false;
  if (world.budgets.allowance(column, 1) < 1) return false;
  const ports = daemonPortsOn(world.ground.problem, column);
  if (ports.length > 0 && views.some((view) => portsClash(view.host.ports, ports))) return false;
  return covers.of(column) !== undefined;
}

/** The cheapest launch in equally heavy pools that holds exactly what the bin holds. */
export function cheapestFor(world: World, bin: Bin, columns: readonly Column[]): Column {
  const views = viewsIn(world.ground, bin);
  world.budgets.take(bin.cover, -1);
  const covers = new Covers(world.ground, world.budgets, views, bin.used);
  let best = bin.held;
  for (const column of columns) {
    world.steps++;
    if (column.price > best.price) break;
    if (compareColumns(column, best) < 0 && isAlternative(world, bin, views, column, covers)) {
      best = column;
      break;
    }
  }
  world.budgets.take(bin.cover, 1);
  return best;
}

/** Makes the bin a launch of the column. */
export function hold(world: World, bin: Bin, column: Column): void {
  const { problem } = world.ground;
  const ports = daemonPortsOn(problem, bin.held).length;
  bin.host.ports.splice(0, ports, ...emptyHost(daemonPortsOn(problem, column)).ports);
  bin.held = column;
  bin.columns = [column];
  world.cover(bin);
}

/** The launches worth having of pools with the weight, cheapest first. */
export function frontOf(world: World, weight: number): readonly Column[] {
  return world.ground.problem.groups
    .filter((each) => each.pool.pool.weight === weight)
    .flatMap((group) => group.front)
    .sort(compareColumns);
}

/** Gives every bin the cheapest launch that still holds its pods. */
export function retype(world: World): void {
  const byWeight = new Map(world.ground.weights.map((each) => [each, frontOf(world, each)]));
  for (const bin of world.bins) {
    const columns = byWeight.get(bin.held.pool.pool.weight) ?? [];
    const column = cheapestFor(world, bin, columns);
    if (column === bin.held) continue;
    hold(world, bin, column);
  }
}
