import { conditionOf, isTrue } from '../lifecycle/conditions.ts';
import type { Node } from '../model/cluster.ts';
import { DISRUPTED_TAINT_KEY, REPLACED_BY, REPLACES } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';

/** Between the names in {@link REPLACED_BY}. */
const SEPARATOR = ',';
/** Replacements have this long to be ready, and longer where many nodes are replaced at once. */
const WAIT_MS_MIN = 10 * 60_000;
const WAIT_MS_MAX = 60 * 60_000;
const WAIT_MS_EACH = 80;

export type Progress =
  /** The replacements are written, and the claim does not say so yet. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'waiting' }
  /** All replacements are initialised: the old node may go. */
  | { readonly kind: 'ready' }
  | {
      readonly kind: 'failed';
      readonly message: string;
      /** An instance was launched and its node did not become ready: what is new may be broken. */
      readonly isNodeBroken: boolean;
    };

/** A node that is being replaced, as claims say. */
export interface Command {
  readonly claim: NodeClaim;
  /** Undefined: it is gone. */
  readonly node: Node | undefined;
  /** Those that are there and not on their way out; by name. */
  readonly replacements: readonly NodeClaim[];
  readonly progress: Progress;
}

/** The annotation that names a claim's replacements. */
export function replacedByText(names: readonly string[]): string {
  return [...names].sort().join(SEPARATOR);
}

function failed(message: string, isNodeBroken: boolean): Progress {
  return { kind: 'failed', message, isNodeBroken };
}

/** A launch that had to wait is no fault of the node: its time begins with the instance. */
function startOf(claim: NodeClaim): number {
  const launched = conditionOf(claim, 'Launched');
  return launched?.status === 'True' ? launched.lastTransitionAtMs : claim.createdAtMs;
}

function progressOf(
  claim: NodeClaim,
  replacements: readonly NodeClaim[],
  waitMs: number,
  nowMs: number,
): Progress {
  const text = claim.annotations[REPLACED_BY];
  if (text === undefined) return { kind: 'unfinished' };
  const here = new Set(replacements.map(({ name }) => name));
  const lost = text.split(SEPARATOR).find((name) => !here.has(name));
  if (lost !== undefined) return failed(`NodeClaim ${lost}, its replacement, is gone`, false);
  if (replacements.every((each) => isTrue(each, 'Initialized'))) return { kind: 'ready' };
  const overdue = replacements.filter(
    (each) => !isTrue(each, 'Initialized') && nowMs - startOf(each) >= waitMs,
  );
  const [late] = overdue;
  if (late === undefined) return { kind: 'waiting' };
  const broken = overdue.find((each) => isTrue(each, 'Launched'));
  const { name, conditions } = broken ?? late;
  const state = conditionOf(
    { conditions },
    isTrue({ conditions }, 'Registered') ? 'Initialized' : 'Registered',
  );
  const why = state === undefined || state.message === '' ? '' : `: ${state.message}`;
  const minutes = Math.round(waitMs / 60_000);
  const message = `NodeClaim ${name}, its replacement, was not ready after ${minutes} minutes${why}`;
  return failed(message, broken !== undefined);
}

function byName(a: NodeClaim, b: NodeClaim): number {
  return a.name < b.name ? -1 : 1;
}

/** Replacements that are under way, by the name of the claim that they replace. */
export function commandsOf(
  claims: readonly NodeClaim[],
  nodes: readonly Node[],
  nowMs: number,
): readonly Command[] {
  const live = claims.filter(({ deletedAtMs }) => deletedAtMs === undefined).sort(byName);
  const byReplaced = Map.groupBy(live, ({ annotations }) => annotations[REPLACES]);
  const byProvider = new Map(nodes.map((node) => [node.providerId, node]));
  const replaced = live.filter(
    ({ uid, annotations }) => byReplaced.has(uid) || annotations[REPLACED_BY] !== undefined,
  );
  const waitMs = Math.min(WAIT_MS_MAX, Math.max(WAIT_MS_MIN, WAIT_MS_EACH * replaced.length));
  return replaced.map((claim) => {
    const replacements = byReplaced.get(claim.uid) ?? [];
    const node = claim.providerId === undefined ? undefined : byProvider.get(claim.providerId);
    return { claim, node, replacements, progress: progressOf(claim, replacements, waitMs, nowMs) };
  });
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
  const byProvider = new Map(claims.map((claim) => [claim.providerId, claim]));
  return nodes
    .filter((node) => node.providerId !== undefined && node.deletedAtMs === undefined)
    .flatMap((node) => {
      const claim = byProvider.get(node.providerId);
      if (claim === undefined || claim.deletedAtMs !== undefined || busy.has(claim.uid)) return [];
      const isTainted = node.taints.some(({ key }) => key === DISRUPTED_TAINT_KEY);
      return isTainted || isTrue(claim, 'DisruptionReason') ? [{ node, claim }] : [];
    })
    .sort((a, b) => byName(a.claim, b.claim));
}
