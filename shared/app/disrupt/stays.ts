import type { Command } from '../../core/disruption/commands.ts';
import { reasonsNotDue } from '../../core/disruption/not-due.ts';
import { type Reason, type ReasonCode, reason } from '../../core/explain/reason.ts';
import { replacementNames } from '../../core/model/annotations/replacements.ts';
import { isPaused } from '../settings.ts';
import { recordUnchanged } from '../writes/unchanged.ts';
import { pausedByPool } from './blocked.ts';
import { disruptionCandidates } from './candidates.ts';
import { holdersOf } from './held.ts';
import { type DisruptPass, poolOf } from './pass.ts';

/** Whether each of the first is one of the second. */
function areAmong(some: readonly Reason[], all: readonly Reason[]): boolean {
  const texts = new Set(all.map((each) => JSON.stringify(each)));
  return some.every((each) => texts.has(JSON.stringify(each)));
}

/** What `fallback-not-needed` stands for: the settings by which consolidation leaves such a node. */
const LEFT_BY_SETTINGS: ReadonlySet<ReasonCode> = new Set([
  'policy-when-empty',
  'policy-balanced',
  'consolidate-after-never',
  'pods-changed-recently',
]);

/**
 * What keeps a fallback: it goes by its return, which `own` keeps, or by consolidation, which
 * `others` keep. What returns leave to consolidation stays for what consolidation says. Where the
 * others are a part of what keeps it from its return, it would go without them, whatever else is
 * said.
 */
function reasonsOfFallback(own: readonly Reason[], others: readonly Reason[]): readonly Reason[] {
  if (others.length === 0) return own;
  if (!own.every(({ code }) => code === 'fallback-not-needed')) {
    return areAmong(others, own) ? others : own;
  }
  const further = others.filter(({ code }) => !LEFT_BY_SETTINGS.has(code));
  return further.length === others.length ? further : [...own, ...further];
}

/** What the other methods say of a node comes before what consolidation says. */
export function reasonsFound({ outcome }: DisruptPass): ReadonlyMap<string, readonly Reason[]> {
  const { kept, fallbacks, events } = outcome;
  const returns = [...fallbacks].map(
    ([name, own]) => [name, reasonsOfFallback(own, kept.get(name) ?? [])] as const,
  );
  const all = [...kept, ...returns, ...events.reasons];
  return new Map(all.filter(([, reasons]) => reasons.length > 0));
}

/** All that is known of why nodes stay, by the claim's name. */
function reasonsOf(pass: DisruptPass): ReadonlyMap<string, readonly Reason[]> {
  const notDue = disruptionCandidates(pass).flatMap((each) => {
    const reasons = reasonsNotDue(each, pass.nowMs);
    return reasons.length === 0 ? [] : [[each.claim.name, reasons] as const];
  });
  const awaited = pass.commands.map((each) => [each.claim.name, awaiting(pass, each)] as const);
  return new Map([...notDue, ...reasonsFound(pass), ...awaited]);
}

/** What the node waits for whose disruption has begun. */
function awaiting(pass: DisruptPass, command: Command): readonly Reason[] {
  const { claim, progress } = command;
  if (progress.kind === 'ready') {
    const paused = pausedByPool(pass, poolOf(pass, claim));
    const held = paused.length > 0 ? paused : holdersOf(pass, command, 'graceful');
    if (held.length > 0) return held;
  }
  const nodeClaims = replacementNames(claim.annotations) ?? [];
  return [reason('replacements-awaited', { nodeClaims })];
}

/** Says why a pass has disrupted nothing, in one record. */
export async function recordStays(pass: DisruptPass): Promise<void> {
  const { ports, state, nowMs, driftResults, outcome } = pass;
  const { created, deleted, disruptions } = outcome;
  if (created.length + deleted.length + disruptions.length > 0) return;
  // A pause has a record of its own.
  if (isPaused(state.pausedUntilMs.disrupt, nowMs)) return;
  const known = reasonsOf(pass);
  const all = [...driftResults.values()].flatMap(({ claim }) => {
    const [why = reason('not-considered-yet', {})] = known.get(claim.name) ?? [];
    return [{ object: `NodeClaim/${claim.name}`, why }];
  });
  const nothing = { object: 'cluster', why: reason('nothing-to-disrupt', {}) };
  await recordUnchanged({ ports }, 'disrupt', all.length > 0 ? all : [nothing]);
}
