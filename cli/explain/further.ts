import type { UseCaseSettings } from '../../shared/app/settings.ts';
import { type Reason, reason } from '../../shared/core/explain/reason.ts';
import type { Previewed } from '../../shared/preview/copy.ts';
import { type DryRun, type DryRunOptions, dryRun } from '../../shared/preview/dry-run.ts';
import { sentencesByBudget } from './sentences.ts';
import { type Subject, supposedAway } from './supposed.ts';

/** So often what is named is taken away: more would take too long on a large cluster. */
const LAYERS_MAX = 8;

/** Reasons that show together. */
interface Layer {
  readonly reasons: readonly Reason[];
  /** The reasons in words, for people. */
  readonly why: string;
}

/** What would keep the node once what keeps it now is away, and so on. */
export interface Further {
  /** In the order in which they show; each has others than those before. */
  readonly layers: readonly Layer[];
  /** Without all of them, and what keeps it now, the node goes; false: that is not known. */
  readonly goes: boolean;
}

interface Outcome {
  readonly goes: boolean;
  readonly reasons: readonly Reason[];
}

/** NodeClaims that are named of those that go first. */
const OTHERS_NAMED_MAX = 5;

/** A cluster, and the settings that Joiner decides by. */
export type Explained = Previewed & { readonly settings: UseCaseSettings };

/** What a pass does with nodes. */
interface Pass {
  /** The NodeClaims of the nodes that it disrupts. */
  readonly going: readonly string[];
  /** Why others stay, by the NodeClaim's name. */
  readonly kept: DryRun['kept'];
}

/**
 * Why the node stays in the pass. A pass that disrupts other nodes ends before it has looked at
 * all: then it is played again where none of the others may go, and what keeps the node there
 * counts. Only where nothing does the others are named.
 */
async function outcomeOf(
  input: Previewed,
  at: Subject,
  { going, kept }: Pass,
  options: Pick<DryRunOptions, 'onPart'>,
): Promise<Outcome> {
  if (going.includes(at.claim)) return { goes: true, reasons: [] };
  const own = kept.get(at.claim) ?? [];
  if (own.length > 0 || going.length === 0) return { goes: false, reasons: own };
  const nodeClaims = [...new Set(going)].sort();
  const named = nodeClaims.slice(0, OTHERS_NAMED_MAX);
  const others = [reason('other-nodes-first', { nodeClaims: named, count: nodeClaims.length })];
  const [alone] = supposedAway(at, others);
  const without = alone && (await played(input, alone, options)).kept.get(at.claim);
  return { goes: false, reasons: without ?? others };
}

async function played(
  input: Previewed,
  { state, settings, claim }: Subject,
  options: Pick<DryRunOptions, 'onPart'>,
): Promise<Pass> {
  const supposed = { ...input, state, settings };
  const { disruptions, kept } = await dryRun(supposed, { ...options, asked: claim });
  return { going: disruptions.flatMap(({ claims }) => claims.map(({ name }) => name)), kept };
}

/** What keeps the node now, by a pass that was asked about it. */
export async function keepingReasons(
  input: Explained,
  claim: string,
  pass: Pass,
  options: Pick<DryRunOptions, 'onPart'> = {},
): Promise<readonly Reason[]> {
  const { state, settings } = input;
  return (await outcomeOf(input, { state, settings, claim }, pass, options)).reasons;
}

/** A cluster without what was named, and what becomes of the node in it. */
interface Next extends Outcome {
  readonly at: Subject;
}

/** The first way to take the reasons away after which none of them shows; undefined: there is none. */
async function without(
  reasons: readonly Reason[],
  at: Subject,
  input: Previewed,
  options: Pick<DryRunOptions, 'onPart'>,
): Promise<Next | undefined> {
  const named = new Set(reasons.map((each) => JSON.stringify(each)));
  for (const supposed of supposedAway(at, reasons)) {
    const pass = await played(input, supposed, options);
    const outcome = await outcomeOf(input, supposed, pass, options);
    const isAway = !outcome.reasons.some((each) => named.has(JSON.stringify(each)));
    if (outcome.goes || isAway) return { ...outcome, at: supposed };
  }
  return undefined;
}

/**
 * What keeps the node beside the reasons that `disrupt` gives now. A pass looks no further than to
 * the first step that a node does not pass: one that budgets forbid to disrupt is not planned for.
 * So the reasons are supposed away and the pass is played again, until the node goes.
 */
export async function furtherReasons(
  input: Explained,
  claim: string,
  reasons: readonly Reason[],
  options: Pick<DryRunOptions, 'onPart'> = {},
): Promise<Further> {
  const layers: Layer[] = [];
  let at: Subject = { state: input.state, settings: input.settings, claim };
  let now = reasons;
  while (now.length > 0 && layers.length < LAYERS_MAX) {
    const next = await without(now, at, input, options);
    if (next === undefined) break;
    if (next.goes) return { layers, goes: true };
    ({ at, reasons: now } = next);
    if (now.length > 0) layers.push({ reasons: now, why: sentencesByBudget(now) });
  }
  return { layers, goes: false };
}
