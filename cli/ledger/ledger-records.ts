import type { ReadDecision } from '../../shared/api/decision-record.ts';
import { type Json, objectAt } from '../../shared/sim/json.ts';
import type { LaunchFigures } from './figures.ts';
import { type Life, livesOf, ranIn, type Span } from './lives.ts';

const CLAIM = 'NodeClaim/';

/** A function ends within this time after it has decided. */
const INVOCATION_MS_MAX = 15 * 60_000;

export const MOVE_OUTCOMES = ['done', 'given-up', 'under-way', 'not-begun'] as const;
export type MoveOutcome = (typeof MOVE_OUTCOMES)[number];

/** What the records say, in the form in which entries need it. */
export class LedgerRecords {
  readonly span: Span;
  readonly lives: ReadonlyMap<string, Life>;
  private readonly creations: readonly ReadDecision[];
  private readonly replaces: readonly ReadDecision[];
  private readonly replacements: ReadonlySet<string>;
  private readonly created: ReadonlyMap<string, readonly ReadDecision[]>;
  private readonly byClaim: ReadonlyMap<string, readonly ReadDecision[]>;

  /** Records in order of time. */
  constructor(records: readonly ReadDecision[], span: Span) {
    this.span = span;
    this.lives = livesOf(records);
    this.creations = records.filter(({ action }) => action === 'create');
    this.replaces = records.filter(isReplace);
    this.replacements = new Set(this.replaces.flatMap(namedIn));
    this.created = Map.groupBy(this.creations, ({ detail }) =>
      keyOf(String(detail['nodePool']), listOf(detail['pods'])),
    );
    this.byClaim = Map.groupBy(records, ({ object }) => object);
  }

  /** The NodeClaim that was created for a planned node. */
  claimOf({ nodePool, pods }: LaunchFigures['nodes'][number], atMs: number): string | undefined {
    const all = this.created.get(keyOf(nodePool, pods)) ?? [];
    return all.find((each) => isSoonAfter(each, atMs))?.object.slice(CLAIM.length);
  }

  /** Nodes that ran in the time. */
  ran(name: string): boolean {
    const life = this.lives.get(name);
    return life !== undefined && ranIn(life, this.span);
  }

  /** Whether a plan of this moment may have launched a node that ran in the time. */
  launchedFor(atMs: number): boolean {
    return (
      this.creations.some(
        (each) => isSoonAfter(each, atMs) && this.ran(each.object.slice(CLAIM.length)),
      ) ||
      this.replaces.some(
        (each) => isSoonAfter(each, atMs) && namedIn(each).some((name) => this.ran(name)),
      )
    );
  }

  /** NodeClaims that the move of this moment created in place of these. */
  replacementsOf(claims: readonly string[], atMs: number): readonly string[] {
    const own = claims.flatMap((claim) => this.byClaim.get(`${CLAIM}${claim}`) ?? []);
    return own.filter((each) => isReplace(each) && each.atMs === atMs).flatMap(namedIn);
  }

  /** Whether it was created in place of another node, by whatever plan. */
  isReplacement(name: string): boolean {
    return this.replacements.has(name);
  }

  /** The instance that EC2 launched for a NodeClaim. */
  launchedAs(name: string): Json {
    const own = this.byClaim.get(`${CLAIM}${name}`) ?? [];
    return objectAt(own.find(({ action }) => action === 'launch')?.detail, 'chosen');
  }

  /** Whether the NodeClaim is in these records from its beginning on. */
  isCreatedIn(name: string): boolean {
    const own = this.byClaim.get(`${CLAIM}${name}`) ?? [];
    return own.some(({ action }) => action === 'create') || this.isReplacement(name);
  }

  outcomeOf(claims: readonly string[], atMs: number): MoveOutcome {
    const outcomes = claims.map((claim) => this.outcomeOfOne(claim, atMs));
    return (
      (['not-begun', 'given-up', 'under-way'] as const).find((each) => outcomes.includes(each)) ??
      'done'
    );
  }

  private outcomeOfOne(claim: string, atMs: number): MoveOutcome {
    const own = this.byClaim.get(`${CLAIM}${claim}`) ?? [];
    const acts = own.filter((each) => each.useCase === 'disrupt' && each.atMs >= atMs);
    // Of this moment: what was forbidden then may be begun by the search of the next minute.
    const begun = acts.some(
      (each) => ['replace', 'delete'].includes(each.action) && each.atMs === atMs,
    );
    if (!begun) return 'not-begun';
    const end = acts.find((each) => ['delete', 'none'].includes(each.action));
    if (end?.action === 'none') return 'given-up';
    if (this.lives.get(claim)?.terminatedAtMs === undefined) return 'under-way';
    // An interruption, or somebody else, has ended the node before: that saving is not the move's.
    return end === undefined ? 'given-up' : 'done';
  }
}

function isReplace({ action }: ReadDecision): boolean {
  return action === 'replace';
}

/** The replacements that a record names. */
function namedIn({ detail }: ReadDecision): readonly string[] {
  return listOf(detail['replacements']);
}

function isSoonAfter({ atMs: at }: ReadDecision, atMs: number): boolean {
  return at >= atMs && at - atMs <= INVOCATION_MS_MAX;
}

function listOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function keyOf(nodePool: string, pods: readonly string[]): string {
  return [nodePool, ...pods.toSorted()].join(' ');
}
