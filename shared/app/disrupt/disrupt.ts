import { commandsOf, drainingOf } from '../../core/disruption/commands.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import type { Ports } from '../../ports.ts';
import { resolveTypes } from '../planning/provisioning-input.ts';
import { SharedGroups } from '../planning/shared-groups.ts';
import { withLaunchWindow } from '../planning/statuses.ts';
import type { AppSettings } from '../settings.ts';
import type { Failure } from '../writes/attempt.ts';
import { recordNothing } from '../writes/decisions.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { type WriteLeases, withoutLeases } from '../writes/write-leases.ts';
import { forgetCanaries, noteCanaries } from './canary.ts';
import { followCommands } from './commands.ts';
import { markConsolidatable } from './consolidatable.ts';
import { ConsolidationMemory } from './consolidation-memory.ts';
import { canariesOf, driftResults, markDrift, provenStates, targetsOf } from './drift-results.ts';
import { BlockedEvents } from './events.ts';
import { forgetFailedMoves, noteEndedMoves } from './failed-moves.ts';
import type { Search } from './method.ts';
import { METHODS } from './methods.ts';
import { type Disruption, type DisruptPass, newOutcome, noChanges } from './pass.ts';
import { reasonsFound, recordStays } from './stays.ts';
import { hasNews, recordUnconsolidatable } from './unconsolidatable.ts';
import { judgeMoves } from './undone-moves.ts';
import { PassUsage } from './usage.ts';

export interface DisruptReport {
  /** Claims that `provision` has to launch. */
  readonly created: readonly string[];
  /** Claims that `lifecycle` has to drain. */
  readonly deleted: readonly string[];
  /** What was begun or done, beside what was under way. */
  readonly disruptions: readonly Disruption[];
  /** Why nodes that were looked at stay, by the claim's name. */
  readonly kept: ReadonlyMap<string, readonly Reason[]>;
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
  /** Somebody came for a turn meanwhile. */
  readonly isWoken: boolean;
  /** Another had the turn: nothing was done. */
  readonly isLeftToAnother: boolean;
}

const LEFT_TO_ANOTHER: DisruptReport = {
  created: [],
  deleted: [],
  disruptions: [],
  kept: new Map(),
  failures: [],
  isWoken: false,
  isLeftToAnother: true,
};

/** Nodes of which one pass says that they have to wait: of a whole cluster it would take minutes. */
const SAID_MAX = 20;

export interface DisruptOptions {
  /** Nodes of which one pass says that they have to wait; 20 by default. */
  readonly saidMax?: number;
  /** What earlier passes of the process have found; nothing by default. */
  readonly memory?: ConsolidationMemory;
  /** The claim of a node about which somebody asks why it stays. */
  readonly asked?: string;
}

/** The cluster as it is now, and nothing done yet. */
export async function observePass(
  unguarded: Ports,
  settings: AppSettings,
  { saidMax = SAID_MAX, memory = new ConsolidationMemory(), asked }: DisruptOptions,
): Promise<DisruptPass> {
  const startedAtMs = unguarded.clock.nowMs();
  const shared = await SharedGroups.read(unguarded, settings);
  const read = await unguarded.cluster.read();
  const nodePools = read.objects.nodePools.map((pool) => withLaunchWindow(pool, startedAtMs));
  const state = { ...read, objects: { ...read.objects, nodePools } };
  const karpenter = new KarpenterLease(unguarded, state, startedAtMs);
  const ports = karpenter.guarded(unguarded);
  const nowMs = ports.clock.nowMs();
  const resolution = await resolveTypes(ports, settings, state);
  const targets = targetsOf(ports, state, resolution);
  const results = driftResults(state, targets, nowMs);
  const proven = provenStates(state, results);
  const { nodeClaims, nodes } = state.objects;
  const ours = nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  return {
    ports,
    settings,
    state,
    resolution,
    nowMs,
    karpenter,
    shared,
    driftResults: results,
    commands: commandsOf(ours, nodes, nowMs),
    draining: drainingOf(ours, nodes),
    proven,
    canaries: canariesOf(state, targets, proven, nowMs),
    memory,
    usage: new PassUsage(),
    asked,
    approved: undefined,
    outcome: newOutcome(new BlockedEvents(ports, saidMax)),
    changes: noChanges(),
  };
}

/** What is decided at once, and what is to be looked for after that. */
interface Decided {
  readonly pass: DisruptPass;
  readonly searches: readonly Search[];
  readonly isKarpenterActive: boolean;
}

/** Says of all claims whether they differ and whether they may be consolidated. */
async function mark(pass: DisruptPass): Promise<void> {
  await markDrift(pass);
  await markConsolidatable(pass);
}

/** What is done under the first Lease, and what is to be looked for after it. */
async function actAtOnce(pass: DisruptPass): Promise<readonly Search[]> {
  await mark(pass);
  await forgetCanaries(pass);
  await noteCanaries(pass);
  await noteEndedMoves(pass);
  await forgetFailedMoves(pass);
  await judgeMoves(pass);
  await followCommands(pass);
  const searches: Search[] = [];
  for (const method of METHODS) {
    const search = await method.disrupt(pass, method.candidates(pass));
    if (search !== undefined) searches.push(search);
  }
  return searches;
}

async function decide(
  ports: Ports,
  settings: AppSettings,
  options: DisruptOptions,
): Promise<Decided> {
  const pass = await observePass(ports, settings, options);
  if (await pass.karpenter.isActive()) {
    await recordNothing({ ports }, reason('karpenter-runs', {}), 'NodeClaims', 'disrupt');
    return { pass, searches: [], isKarpenterActive: true };
  }
  const searches = await untilKarpenterIsActive(() => actAtOnce(pass));
  return { pass, searches: searches ?? [], isKarpenterActive: searches === undefined };
}

/** The same pass as things are now: what it has done, said and found out stays. */
export async function observedAgain(
  ports: Ports,
  settings: AppSettings,
  options: DisruptOptions,
  done: DisruptPass,
): Promise<DisruptPass> {
  const pass = await observePass(ports, settings, options);
  const { outcome, approved, usage } = done;
  return { ...pass, outcome, approved, usage };
}

/** Times that a pass takes the Lease again for marks; the next pass goes on with them. */
const MARKINGS_MAX = 20;

/**
 * Marks the claims that there was no time for, until none is left or somebody else wants the
 * Lease; returns whether somebody does.
 */
async function markTheRest(
  { withLease }: WriteLeases,
  settings: AppSettings,
  options: DisruptOptions,
  first: DisruptPass,
): Promise<boolean> {
  let pass = first;
  for (let at = 0; at < MARKINGS_MAX && pass.changes.unmarked.size > 0; at += 1) {
    const held = await withLease('decide', async (ports) => {
      pass = await observedAgain(ports, settings, options, pass);
      await untilKarpenterIsActive(() => mark(pass));
    });
    if (held === undefined) return false;
    if (held.isWoken) return true;
  }
  return false;
}

/**
 * One pass. It marks drifted and consolidatable claims, continues replacements that are under way,
 * removes empty nodes, begins replacements of drifted nodes, and consolidates. All progress is kept
 * in the objects of the cluster. The search for cheaper nodes may take seconds: it runs between two
 * holds of the Lease `decide`, so that `provision` does not wait for it.
 */
export async function disrupt(
  ports: Ports,
  settings: AppSettings,
  options: DisruptOptions = {},
  leases: WriteLeases = withoutLeases(ports),
): Promise<DisruptReport> {
  const memory = options.memory ?? new ConsolidationMemory();
  const own = { ...options, memory };
  const first = await leases.withLease('decide', (held) => decide(held, settings, own));
  if (first === undefined) return LEFT_TO_ANOTHER;
  const { pass, searches, isKarpenterActive } = first.result;
  const found = searches.map((each) => each.run()).filter(({ isEmpty }) => !isEmpty);
  const isOver = found.length === 0;
  if (isOver && !isKarpenterActive) await recordStays(pass);
  if (isKarpenterActive) return reportOf(pass, first.isWoken);
  const rest = async (isWoken: boolean): Promise<boolean> =>
    isWoken || (await markTheRest(leases, settings, own, pass));
  if (isOver && !hasNews(pass)) return reportOf(pass, await rest(first.isWoken));
  if (first.isWoken) leases.wakeAnother?.();
  const second = await leases.withLease('decide', async (held) => {
    let again = await observedAgain(held, settings, own, pass);
    await untilKarpenterIsActive(async () => {
      for (const [at, each] of found.entries()) {
        // What the one before has done changes what this one may do.
        if (at > 0) again = await observedAgain(held, settings, own, again);
        await each.carryOut(again);
      }
      await recordUnconsolidatable(again);
    });
  });
  return reportOf(pass, await rest(second?.isWoken ?? false));
}

function reportOf(pass: DisruptPass, isWoken: boolean): DisruptReport {
  const { created, deleted, disruptions, failures } = pass.outcome;
  const kept = reasonsFound(pass);
  return { created, deleted, disruptions, kept, failures, isWoken, isLeftToAnother: false };
}
