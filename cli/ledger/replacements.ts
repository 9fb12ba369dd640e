import type { NewNode, PlannedMove, SearchFacts } from './figures.ts';
import type { LedgerRecords } from './ledger-records.ts';
import { hoursOf } from './lives.ts';

/** A node that came in place of others that consolidation removed. */
export interface ReplacementEntry extends NewNode {
  readonly file: string;
  /** When the move was decided: before the time where the node still ran in it. */
  readonly atMs: number;
  readonly claim: string;
  /** Hours that it ran in this time. */
  readonly hours: number;
  readonly usd: number;
}

function isLaunchOf(records: LedgerRecords, claim: string, node: NewNode): boolean {
  const found = records.launchedAs(claim);
  const keys = ['type', 'zone', 'capacityType'] as const;
  return keys.every((key) => found[key] === node[key]);
}

/** The planned nodes with their NodeClaims: first those that EC2 launched as they were planned. */
function claimed(
  records: LedgerRecords,
  { newNodes, claims }: PlannedMove,
  atMs: number,
): readonly (readonly [NewNode, string])[] {
  const names = new Set(records.replacementsOf(claims, atMs));
  const found = new Map<NewNode, string>();
  for (const isOf of [isLaunchOf, () => true]) {
    for (const node of newNodes.filter((each) => !found.has(each))) {
      const name = [...names].find(
        (each) => records.lives.get(each)?.nodePool === node.nodePool && isOf(records, each, node),
      );
      if (name === undefined) continue;
      names.delete(name);
      found.set(node, name);
    }
  }
  return [...found];
}

/** The replacements of a recorded search that ran in the time; prices are those of its plan. */
export function replacementEntries(
  records: LedgerRecords,
  { file, atMs, recorded }: SearchFacts,
): readonly ReplacementEntry[] {
  return recorded
    .flatMap((move) => claimed(records, move, atMs))
    .flatMap(([node, claim]) => {
      const life = records.lives.get(claim);
      if (life === undefined || !records.ran(claim)) return [];
      const hours = hoursOf(life, records.span);
      return [{ file, atMs, claim, ...node, hours, usd: node.usdPerHour * hours }];
    });
}
