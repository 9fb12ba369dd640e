import { type Reason, reason } from '../explain/reason.ts';
import { conditionOf, isTrue } from '../lifecycle/conditions.ts';
import { replacedUids, replacementNames } from '../model/annotations/replacements.ts';
import type { Node } from '../model/cluster.ts';
import { claimOfNode, nodeOfClaim } from '../model/joins.ts';
import { REPLACED_BY, REPLACED_FOR } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { isDisrupted } from '../model/taint.ts';
import { VOLUNTARY_REASONS, type VoluntaryReason } from './voluntary.ts';

/** Replacements have this long to be ready, and longer where many nodes are replaced at once. */
const WAIT_MS_MIN = 10 * 60_000;
const WAIT_MS_MAX = 60 * 60_000;
const WAIT_MS_EACH = 80;

export type Progress =
  | { readonly kind: 'waiting' }
  /** All replacements are initialised: the old node may go. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly why: Reason;
      /** An instance was launched and its node did not become ready: what is new may be broken. */
      readonly broken: NodeClaim | undefined;
      /** Names of the replacements that should have been ready by now. */
      readonly late: ReadonlySet<string>;
    };

/** A node and what replaces it, as claims say. */
export interface Replacement {
  readonly claim: NodeClaim;
  /** Undefined: it is gone. */
  readonly node: Node | undefined;
  /** Those that are there and not on their way out; by name. */
  readonly replacements: readonly NodeClaim[];
}

/** One that waits for its replacements. */
export interface Command extends Replacement {
  /** Undefined: no reason that is known, and the command has failed. */
  readonly reason: VoluntaryReason | undefined;
  readonly progress: Progress;
}

/** Why the claim is replaced: without the annotation it has drifted; undefined: no known reason. */
function reasonOf({ annotations }: NodeClaim): VoluntaryReason | undefined {
  const text = annotations[REPLACED_FOR] ?? 'Drifted';
  return VOLUNTARY_REASONS.find((each) => each === text);
}

function failed(why: Reason, overdue: readonly NodeClaim[] = []): Progress {
  const broken = overdue.find((each) => isTrue(each, 'Launched'));
  return { kind: 'failed', why, broken, late: new Set(overdue.map(({ name }) => name)) };
}

/** A launch that had to wait is no fault of the node: its time begins with the instance. */
function startOf(claim: NodeClaim): number {
  const launched = conditionOf(claim, 'Launched');
  return launched?.status === 'True' ? launched.lastTransitionAtMs : claim.createdAtMs;
}

/** Half of the minute between two passes. */
const HALF_A_PASS_MS = 30_000;

/**
 * Whether its node should have been initialised by then. One pass begins a replacement and others
 * look at it, a minute apart: the pass that is nearest to the end of the wait counts. Otherwise
 * chance would decide whether the wait is a minute longer.
 */
export function isLate(claim: NodeClaim, waitMs: number, atMs: number): boolean {
  return !isTrue(claim, 'Initialized') && atMs - startOf(claim) >= waitMs - HALF_A_PASS_MS;
}

/** What became of a node that is late, for reasons. */
export function lateness(claim: NodeClaim, waitMs: number) {
  const type = isTrue(claim, 'Registered') ? 'Initialized' : 'Registered';
  const said = conditionOf(claim, type)?.message ?? '';
  return { nodeClaim: claim.name, minutes: Math.round(waitMs / 60_000), said };
}

function progressOf(
  claim: NodeClaim,
  replacements: readonly NodeClaim[],
  waitMs: number,
  nowMs: number,
): Progress {
  const here = new Set(replacements.map(({ name }) => name));
  const names = replacementNames(claim.annotations) ?? [];
  const lost = names.find((name) => !here.has(name));
  if (lost !== undefined) return failed(reason('replacement-gone', { nodeClaim: lost }));
  if (replacements.every((each) => isTrue(each, 'Initialized'))) return { kind: 'ready' };
  const overdue = replacements.filter((each) => isLate(each, waitMs, nowMs));
  const [late] = overdue;
  if (late === undefined) return { kind: 'waiting' };
  const broken = overdue.find((each) => isTrue(each, 'Launched'));
  return failed(reason('replacement-late', lateness(broken ?? late, waitMs)), overdue);
}

function byName(a: NodeClaim, b: NodeClaim): number {
  return a.name < b.name ? -1 : 1;
}

/** Claims that stay, and those that replace others by the uid of these. */
function replacing(claims: readonly NodeClaim[]) {
  const live = claims.filter(({ deletedAtMs }) => deletedAtMs === undefined).sort(byName);
  const byReplaced = new Map<string, NodeClaim[]>();
  for (const claim of live) {
    for (const uid of replacedUids(claim.annotations)) {
      byReplaced.set(uid, [...(byReplaced.get(uid) ?? []), claim]);
    }
  }
  const replaced = live.filter(
    ({ uid, annotations }) => byReplaced.has(uid) || annotations[REPLACED_BY] !== undefined,
  );
  return { byReplaced, replaced };
}

/** How long a replacement has to be ready. */
export function patienceMs(claims: readonly NodeClaim[]): number {
  const { replaced } = replacing(claims);
  return Math.min(WAIT_MS_MAX, Math.max(WAIT_MS_MIN, WAIT_MS_EACH * replaced.length));
}

/** Replacements that are under way, by the name of the claim that they replace. */
export function commandsOf(
  claims: readonly NodeClaim[],
  nodes: readonly Node[],
  nowMs: number,
): readonly Command[] {
  const { byReplaced, replaced } = replacing(claims);
  const waitMs = patienceMs(claims);
  return replaced.map((claim) => {
    const replacements = byReplaced.get(claim.uid) ?? [];
    const node = nodeOfClaim(nodes, claim);
    const known = reasonOf(claim);
    const value = claim.annotations[REPLACED_FOR] ?? '';
    const unknown = reason('replacement-reason-unknown', { annotation: REPLACED_FOR, value });
    const progress =
      known === undefined ? failed(unknown) : progressOf(claim, replacements, waitMs, nowMs);
    return { claim, node, replacements, reason: known, progress };
  });
}

/** Nodes that are being drained: their pods go to the replacements, if any, or to room elsewhere. */
export function drainingOf(
  claims: readonly NodeClaim[],
  nodes: readonly Node[],
): readonly Replacement[] {
  const { byReplaced } = replacing(claims);
  return claims
    .filter(({ deletedAtMs }) => deletedAtMs !== undefined)
    .map((claim) => {
      const node = nodeOfClaim(nodes, claim);
      return { claim, node, replacements: byReplaced.get(claim.uid) ?? [] };
    })
    .sort((a, b) => byName(a.claim, b.claim));
}

/**
 * Nodes of ours that carry the taint although nobody replaces them or has deleted their claim:
 * what a run has left that was cut short.
 */
export function forgottenNodes(
  claims: readonly NodeClaim[],
  nodes: readonly Node[],
  commands: readonly Command[],
): readonly { readonly node: Node; readonly claim: NodeClaim }[] {
  const busy = new Set(commands.map(({ claim }) => claim.uid));
  return nodes
    .filter((node) => node.providerId !== undefined && node.deletedAtMs === undefined)
    .flatMap((node) => {
      const claim = claimOfNode(claims, node);
      if (claim === undefined || claim.deletedAtMs !== undefined || busy.has(claim.uid)) return [];
      return isDisrupted(node) || isTrue(claim, 'DisruptionReason') ? [{ node, claim }] : [];
    })
    .sort((a, b) => byName(a.claim, b.claim));
}
