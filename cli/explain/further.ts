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

/** Each reason in a text: the same one twice is told by it. */
const textsOf = (reasons: readonly Reason[]): readonly string[] =>
  reasons.map((each) => JSON.stringify(each));

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
    const before = new Set(textsOf(now));
    let next: { readonly at: Subject; readonly outcome: Outcome } | undefined;
    for (const supposed of supposedAway(at, now)) {
      const outcome = await outcomeOf(input, supposed, options);
      const isAway = !textsOf(outcome.reasons).some((each) => before.has(each));
      if (!outcome.goes && !isAway) continue;
      next = { at: supposed, outcome };
      break;
    }
    if (next === undefined) break;
    if (next.outcome.goes) return { layers, goes: true };
    ({ at } = next);
    now = next.outcome.reasons;
    if (now.length > 0) layers.push({ reasons: now, why: sentences(now) });
  }
  return { layers, goes: false };
}
