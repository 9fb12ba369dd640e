import type { ReadDecision } from '../../shared/api/decision-record.ts';
import { textAt } from '../../shared/sim/json.ts';

const CLAIM = 'NodeClaim/';

/** What records say of one NodeClaim. */
export interface Life {
  readonly name: string;
  readonly nodePool: string;
  /** When its instance was launched; undefined: not in these records. */
  readonly launchedAtMs: number | undefined;
  /** When its instance was terminated; undefined: it runs. */
  readonly terminatedAtMs: number | undefined;
  /** The first decision to delete it. */
  readonly deletion:
    | { readonly useCase: string; readonly reason: string; readonly atMs: number }
    | undefined;
}

function lifeOf(name: string, records: readonly ReadDecision[]): Life {
  const first = (action: string) => records.find((each) => each.action === action);
  const [launch, deletion] = [first('launch'), first('delete')];
  const pools = records.flatMap(({ detail }) => textAt(detail, 'nodePool') ?? []);
  return {
    name,
    nodePool: pools[0] ?? '',
    launchedAtMs: launch?.atMs,
    terminatedAtMs: first('terminate')?.atMs,
    deletion: deletion && {
      useCase: deletion.useCase,
      reason: textAt(deletion.detail, 'reason') ?? '',
      atMs: deletion.atMs,
    },
  };
}

/** Every NodeClaim that records are about, by name; records are in order of time. */
export function livesOf(records: readonly ReadDecision[]): ReadonlyMap<string, Life> {
  const about = records.filter(({ object }) => object.startsWith(CLAIM));
  const byName = Map.groupBy(about, ({ object }) => object.slice(CLAIM.length));
  return new Map([...byName].map(([name, own]) => [name, lifeOf(name, own)]));
}

/** The part of a life within a time, in hours; 0 where no instance was launched. */
export function hoursOf({ launchedAtMs, terminatedAtMs }: Life, span: Span): number {
  if (launchedAtMs === undefined) return 0;
  const from = Math.max(launchedAtMs, span.fromMs);
  const to = Math.min(terminatedAtMs ?? span.toMs, span.toMs);
  return Math.max(0, to - from) / HOUR_MS;
}

/** Whether its instance ran at some moment of a time. */
export function ranIn({ launchedAtMs, terminatedAtMs }: Life, { fromMs, toMs }: Span): boolean {
  if (launchedAtMs === undefined || launchedAtMs > toMs) return false;
  return terminatedAtMs === undefined || terminatedAtMs > fromMs;
}

export const HOUR_MS = 3_600_000;

/** A time that figures are of. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}
