import { PLAN } from '../core/model/labels.ts';
import type { Plan } from '../core/model/plan.ts';
import { replan } from '../core/scheduling/replan.ts';
import { type ClusterState, objectKey, type Ports } from '../ports.ts';
import type { Failure } from './attempt.ts';
import { writeBufferStatuses } from './capacity-buffers.ts';
import { type Nominated, relyOnExisting } from './existing-nodes.ts';
import { planRollouts } from './expected-pods.ts';
import {
  LAUNCH_MS,
  type LaunchReport,
  launchClaims,
  NOTHING_LAUNCHED,
  waitingClaims,
} from './launch.ts';
import { noteUse, withBackedOff } from './launch-backoffs.ts';
import { LaunchPause, PAUSED } from './launch-brakes.ts';
import { recordNothing } from './launch-records.ts';
import { measuresOf } from './measures.ts';
import { isUsable, nodeClassOf } from './offers.ts';
import { type Outlook, observe, resolveTypes, typesByClaim } from './outlook.ts';
import { createClaims, type PlannedWritten } from './planned-claims.ts';
import { tellOfPods } from './pod-events.ts';
import { planRecording } from './recording/recording.ts';
import { claimRef } from './references.ts';
import { type AppSettings, isPaused } from './settings.ts';
import { Shadow } from './shadow.ts';
import { keepStaticCapacity } from './static-capacity.ts';
import { alone, type Turns } from './turns.ts';
import { recordUnplaced } from './unplaced.ts';

export interface ProvisionReport {
  readonly created: readonly string[];
  readonly launched: readonly string[];
  /** Pods that no plan could place, with the reason. */
  readonly unplaced: ReadonlyMap<string, string>;
  /** Steps that were refused; the others went on. */
  readonly failures: readonly Failure[];
  /** Launches, or another plan, were left to the next pass for want of time. */
  readonly isUnfinished: boolean;
  /** Somebody came for a turn meanwhile: there is to be another pass. */
  readonly isWoken: boolean;
  /** Another had a turn, and does what there is to do. */
  readonly isLeftToAnother: boolean;
}

/** What passes by itself is tried again after these, at the latest of them from then on. */
const PASSING_MS = [5_000, 10_000] as const;

/** Plans in one pass: each more answers a shortage that the one before ran into. */
const ROUNDS_MAX = 8;

function measure(ports: Ports, outlook: Outlook, plan: Plan): void {
  const nowMs = ports.clock.nowMs();
  const seconds = {
    observe_duration_seconds: (outlook.readyAtMs - outlook.startedAtMs) / 1000,
    scheduler_scheduling_duration_seconds: (nowMs - outlook.readyAtMs) / 1000,
  };
  const backedOff = { pods_backed_off: outlook.backoffs.pods.size };
  const levels = { ...measuresOf({ ...outlook, plan, nowMs }), ...backedOff, ...seconds };
  for (const [name, value] of Object.entries(levels)) ports.recorder.measure?.(name, value);
}

/** What holds launches back now, with the reason and a sentence. */
async function brakeOf(
  ports: Ports,
  { state, shadow }: Outlook,
): Promise<readonly [string, string] | undefined> {
  if (await shadow.isCast()) return ['karpenter-runs', 'Karpenter runs here: nothing is written'];
  if (!isPaused(state.pausedUntilMs.launch, ports.clock.nowMs())) return undefined;
  return ['launches-paused', PAUSED];
}

/** Held launches are what nobody may overlook: what waits is measured as in every other round. */
async function isHeldBack(ports: Ports, settings: AppSettings, outlook: Outlook): Promise<boolean> {
  const brake = await brakeOf(ports, outlook);
  ports.recorder.measure?.('held_back', brake === undefined ? 0 : 1);
  if (brake === undefined) return false;
  measure(ports, outlook, replan(outlook.snapshot, settings.scheduling));
  const [reason, message] = brake;
  await recordNothing({ ports }, reason, 'NodeClaims', message);
  return true;
}

/** What is to be launched, and by what. */
interface Decision {
  readonly outlook: Outlook;
  readonly written: readonly PlannedWritten[];
  /** Undefined: nothing was planned. */
  readonly plan: Plan | undefined;
  /** Where pods are meant to go that wait. */
  readonly nominated: readonly Nominated[];
  /** Something is launched first, and pods are planned after it: they may find their place there. */
  readonly isPartial: boolean;
}

/** What all rounds of a pass come to. */
interface Tally {
  readonly created: string[];
  readonly launched: string[];
  readonly failures: Failure[];
  unplaced: ReadonlyMap<string, string>;
}

/**
 * Whether nodes are on their way that the plan cannot count on yet: static ones, which are written
 * here, and claims that others have written, of which nobody knows what they will be before they
 * are launched. Karpenter plans nothing while a claim has no provider id.
 */
async function launchesFirst(
  ports: Ports,
  { staticCapacity }: AppSettings,
  outlook: Outlook,
): Promise<boolean> {
  const { state } = outlook;
  if (staticCapacity && (await keepStaticCapacity(ports, outlook)) > 0) return true;
  return waitingClaims(state.objects.nodeClaims).some(({ annotations, nodeClassRef }) => {
    const nodeClass = nodeClassOf(state, nodeClassRef);
    const isLaunchable = nodeClass !== undefined && isUsable(nodeClass);
    return isLaunchable && annotations[PLAN] === undefined;
  });
}

/** Overlays → plan → NodeClaims. Undefined: something holds launches back. */
async function decide(
  ports: Ports,
  settings: AppSettings,
  tally: Tally,
  isFirst: boolean,
): Promise<Decision | undefined> {
  const { failures } = tally;
  const outlook = await observe(ports, settings, failures);
  if (await isHeldBack(ports, settings, outlook)) return undefined;
  if (isFirst && (await launchesFirst(ports, settings, outlook))) {
    const nothing = { written: [], plan: undefined, nominated: [] };
    return { outlook, ...nothing, isPartial: true };
  }
  const { snapshot } = outlook;
  const { scheduling } = settings;
  const { plan: planned, expected } = await planRollouts(ports, snapshot, scheduling, failures);
  const plan = withBackedOff(planned, outlook.backoffs);
  measure(ports, outlook, plan);
  const decidedAtMs = ports.clock.nowMs();
  tally.unplaced = new Map([...plan.unplaced].map(([pod, { message }]) => [pod, message]));
  const written = await createClaims(ports, outlook, plan);
  const [first] = written;
  if (first !== undefined) {
    const planning = { snapshot, settings: scheduling, expected };
    const text = planRecording(planning, planned, decidedAtMs);
    ports.recorder.recording?.(`provision-${first.claim.name}`, decidedAtMs, text);
  }
  tally.created.push(...written.map(({ claim }) => claim.name));
  if (await outlook.shadow.isCast()) return undefined;
  const { nodeClaims } = outlook.state.objects;
  failures.push(...(await noteUse(ports, outlook.shadow, nodeClaims, outlook.backoffs)));
  const relied = await relyOnExisting(ports, outlook, plan);
  failures.push(...relied.failures);
  await recordUnplaced(ports, outlook.virtual, plan);
  const writing = { ports, shadow: outlook.shadow };
  failures.push(...(await writeBufferStatuses(writing, outlook.state, plan)));
  const made = written.map(({ claim, pods }) => ({ target: `nodeclaim/${claim.name}`, pods }));
  const nominated = [...made, ...relied.nominated];
  return { outlook, written, plan, nominated, isPartial: false };
}

/** Whether there were claims without an instance before anything was decided. */
function hasWaiting({ state }: Outlook): boolean {
  return waitingClaims(state.objects.nodeClaims).length > 0;
}

function hasLaunches({ outlook, written, isPartial }: Decision): boolean {
  return isPartial || written.length > 0 || hasWaiting(outlook);
}

/** The claims that the plan counted on, and those just written: nothing is read again for it. */
function withWritten(state: ClusterState, written: readonly PlannedWritten[]): ClusterState {
  const names = new Set(written.map(({ claim }) => claim.name));
  const others = state.objects.nodeClaims.filter(({ name }) => !names.has(name));
  const versions = written.map(
    ({ claim, resourceVersion }) => [objectKey(claimRef(claim)), resourceVersion] as const,
  );
  return {
    ...state,
    objects: { ...state.objects, nodeClaims: [...others, ...written.map(({ claim }) => claim)] },
    resourceVersions: new Map([...state.resourceVersions, ...versions]),
  };
}

/**
 * Launches every claim that has no instance. Where some had none before, another invocation may
 * have launched them since: the cluster is read again then.
 */
async function launch(
  ports: Ports,
  settings: AppSettings,
  { outlook, written, isPartial }: Decision,
  remainingMs: () => number,
): Promise<LaunchReport> {
  const { failures } = outlook;
  if (!isPartial && !hasWaiting(outlook)) {
    const { shadow, state, startedAtMs, typesOf } = outlook;
    const pause = new LaunchPause(ports, state, startedAtMs);
    const launching = { ports, settings, shadow, pause, failures, remainingMs };
    return await launchClaims(launching, withWritten(state, written), typesOf);
  }
  const startedAtMs = ports.clock.nowMs();
  const state = await ports.cluster.read();
  const shadow = new Shadow(ports, state, startedAtMs);
  const pause = new LaunchPause(ports, state, startedAtMs);
  const typesOf = typesByClaim(await resolveTypes(ports, settings, state));
  const launching = { ports, settings, shadow, pause, failures, remainingMs };
  return await launchClaims(launching, state, typesOf);
}

/** Who plays a round, and by what. */
interface Playing {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly remainingMs: () => number;
  readonly turns: Turns;
}

interface Round {
  /** There is to be another, while there is time: what was planned cannot all be had. */
  readonly isAgain: boolean;
  readonly isWoken: boolean;
  readonly isLeftToAnother: boolean;
  /** The other round is to be in a moment: what launches have met passes by itself. */
  readonly isPassing: boolean;
}

/** Decides, launches, and tells people. */
async function playRound(
  { ports, settings, remainingMs, turns }: Playing,
  tally: Tally,
  isFirst: boolean,
): Promise<Round> {
  const deciding = await turns.take('decide', (own) => decide(own, settings, tally, isFirst));
  const nothing = { isAgain: false, isPassing: false };
  if (deciding === undefined) return { ...nothing, isWoken: false, isLeftToAnother: true };
  const { result: decision, isWoken } = deciding;
  if (decision === undefined) return { ...nothing, isWoken, isLeftToAnother: false };
  if (!hasLaunches(decision)) {
    await tellOfPods(ports, decision, []);
    return { ...nothing, isWoken, isLeftToAnother: false };
  }
  // EC2 takes its time: who came while this was decided is planned for meanwhile. Should nobody
  // hear of it, this invocation goes round all the same.
  if (isWoken) turns.wakeAnother?.();
  const launching = await turns.take('launch', (own) =>
    launch(own, settings, decision, remainingMs),
  );
  const { launched, givenUp, postponed, changed, passing } = launching?.result ?? NOTHING_LAUNCHED;
  const again = givenUp.length + postponed + changed;
  tally.launched.push(...launched);
  await tellOfPods(ports, decision, givenUp);
  return {
    isAgain: launching !== undefined && (decision.isPartial || again + passing > 0),
    isPassing: again === 0 && passing > 0,
    isWoken: isWoken || launching?.isWoken === true,
    isLeftToAnother: launching === undefined,
  };
}

/** Waits for what passes by itself, where there is time; how many such pauses there were. */
async function pauseAfter({ ports, remainingMs }: Playing, pauses: number): Promise<number> {
  const pauseMs = PASSING_MS[pauses] ?? PASSING_MS[1];
  if (remainingMs() >= pauseMs + LAUNCH_MS) await ports.clock.sleep(pauseMs);
  return pauses + 1;
}

/**
 * One pass: overlays → plan → NodeClaims, and then a launch for every claim that has no instance. A
 * shortage met while launching leads to another plan in the same pass, while there is time.
 */
export async function provision(
  ports: Ports,
  settings: AppSettings,
  remainingMs: () => number = () => Number.POSITIVE_INFINITY,
  turns: Turns = alone(ports),
): Promise<ProvisionReport> {
  const tally: Tally = { created: [], launched: [], failures: [], unplaced: new Map() };
  let isWoken = false;
  // Noted as soon as a turn ends: what is left of its round may fail.
  const take: Turns['take'] = async (turn, work) => {
    const taken = await turns.take(turn, work);
    isWoken ||= taken?.isWoken === true;
    return taken;
  };
  const playing = { ports, settings, remainingMs, turns: { ...turns, take } };
  let round: Round;
  let rounds = 0;
  let pauses = 0;
  try {
    do {
      round = await playRound(playing, tally, rounds === 0);
      rounds += 1;
      // Another round looks at everything again, and so answers who came during the one before.
      isWoken = round.isWoken || (isWoken && round.isLeftToAnother);
      if (round.isPassing && rounds < ROUNDS_MAX) pauses = await pauseAfter(playing, pauses);
    } while (round.isAgain && rounds < ROUNDS_MAX && remainingMs() >= LAUNCH_MS);
  } catch (error) {
    if (isWoken) turns.wakeAnother?.();
    throw error;
  }
  const { isAgain, isLeftToAnother } = round;
  return { ...tally, isUnfinished: isAgain && remainingMs() < LAUNCH_MS, isWoken, isLeftToAnother };
}
