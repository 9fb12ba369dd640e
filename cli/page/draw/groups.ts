import type { NodeModel, Scene } from '../model/model.ts';
import { priceOf } from '../model/use.ts';

/** How much is one row: all nodes of a type, those that are equal, or one. */
export const LEVELS = ['type', 'equal', 'each'] as const;
export type Level = (typeof LEVELS)[number];

export interface Group {
  readonly pool: string;
  readonly level: Level;
  /** Never empty. */
  readonly nodes: readonly NodeModel[];
  readonly first: NodeModel;
}

/** More rows than this are hard to read: the next coarser level is shown first. */
const ROWS_MAX = 48;

function keyOf(node: NodeModel, level: Level): string {
  const { pool, type, capacityType, state } = node;
  const kind = [pool, type, capacityType, state];
  if (level === 'type') return JSON.stringify(kind);
  if (level === 'each') return node.name;
  return JSON.stringify([kind, node.price, node.listPrice, node.pods, node.reserved, node.why]);
}

function byPrice(a: Group, b: Group): number {
  const difference = priceOf(b.nodes) - priceOf(a.nodes);
  if (a.pool !== b.pool) return a.pool < b.pool ? -1 : 1;
  if (Math.abs(difference) > 1e-9) return difference;
  return `${a.first.type} ${a.first.name}` < `${b.first.type} ${b.first.name}` ? -1 : 1;
}

/** What a row of types is opened by. */
export function openKey({ first }: Group): string {
  return keyOf(first, 'type');
}

/** Rows of a picture: where a row of types is open, its equal nodes follow it. */
export function rowsOf(
  scene: Pick<Scene, 'nodes'>,
  level: Level,
  open: ReadonlySet<string>,
): readonly Group[] {
  const groups = groupsOf(scene, level);
  if (level !== 'type') return groups;
  return groups.flatMap((group) =>
    open.has(openKey(group)) ? [group, ...groupsOf(group, 'equal')] : [group],
  );
}

/** Groups of nodes by NodePool, the dearest first. */
export function groupsOf({ nodes }: Pick<Scene, 'nodes'>, level: Level): readonly Group[] {
  const byKey = Map.groupBy(nodes, (node) => keyOf(node, level));
  return [...byKey.values()]
    .flatMap((alike): readonly Group[] => {
      const [first] = alike;
      return first === undefined ? [] : [{ pool: first.pool, level, nodes: alike, first }];
    })
    .sort(byPrice);
}

/** The finest level that is easy to read. */
export function levelFor(scene: Pick<Scene, 'nodes'>): Level {
  if (groupsOf(scene, 'equal').length > ROWS_MAX) return 'type';
  return scene.nodes.length <= 12 ? 'each' : 'equal';
}

/** `us-east-1a`, or how many there are. */
export function zonesText(nodes: readonly NodeModel[]): string {
  const zones = [...new Set(nodes.map(({ zone }) => zone))].sort();
  return zones.length === 1 ? (zones[0] ?? '') : `${zones.length} zones`;
}
