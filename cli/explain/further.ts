import type { UseCaseSettings } from '../../shared/app/settings.ts';
import { type Reason, sentences } from '../../shared/core/explain/reason.ts';
import type { Previewed } from '../../shared/preview/copy.ts';
import { type DryRunOptions, dryRun } from '../../shared/preview/dry-run.ts';
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

async function outcomeOf(
  input: Previewed,
  { state, settings, claim }: Subject,
  options: Pick<DryRunOptions, 'onPart'>,
): Promise<Outcome> {
  const supposed = { ...input, state, settings };
  const { disruptions, kept } = await dryRun(supposed, { ...options, asked: claim });
  const goes = disruptions.some(({ claims }) => claims.some(({ name }) => name === claim));
  return { goes, reasons: kept.get(claim) ?? [] };
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
    const outcome = await outcomeOf(input, supposed, options);
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
  input: Previewed & { readonly settings: UseCaseSettings },
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
    if (now.length > 0) layers.push({ reasons: now, why: sentences(now) });
  }
  return { layers, goes: false };
}
