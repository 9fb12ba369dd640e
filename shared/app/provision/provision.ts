import { type Reason, reason } from '../../core/explain/reason.ts';
import { isUsable, nodeClassOf } from '../../core/launch/node-classes.ts';
import { PLAN } from '../../core/model/labels.ts';
import type { Plan } from '../../core/model/plan.ts';
import { replan } from '../../core/scheduling/replan.ts';
import { type ClusterState, objectKey, type Ports } from '../../ports.ts';
import {
  LAUNCH_MS,
  type LaunchReport,
  launchClaims,
  NOTHING_LAUNCHED,
  waitingClaims,
} from '../launch/launch.ts';
import { writeBufferStatuses } from '../planning/capacity-buffers.ts';
import { noteUse, withBackedOff } from '../planning/launch-backoffs.ts';
import { LaunchPause } from '../planning/launch-pause.ts';
import {
  observe,
  type ProvisioningInput,
  resolveTypes,
  typesByClaim,
  wantsOf,
} from '../planning/provisioning-input.ts';
import { planRecording } from '../recording/recording.ts';
import { type AppSettings, isPaused } from '../settings.ts';
import { isApproved } from '../writes/approval.ts';
import type { Failure } from '../writes/attempt.ts';
import { recordNothing } from '../writes/decisions.ts';
import { KarpenterLease, untilKarpenterIsActive } from '../writes/karpenter-lease.ts';
import { claimRef } from '../writes/references.ts';
import { recordUnchanged } from '../writes/unchanged.ts';
import { type WriteLeases, withoutLeases } from '../writes/write-leases.ts';
import { decideForPods } from './decision.ts';
import type { Nominated } from './existing-nodes.ts';
import { costByPool, type Measures, measuresOf } from './measures.ts';
import type { PlannedWritten } from './planned-claims.ts';
import { publishPodEvents } from './pod-events.ts';
import { keepStaticCapacity } from './static-capacity.ts';
import { publishDifferences, publishRefusals, recordUnplaced, staysBecause } from './unplaced.ts';

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
const TRANSIENT_MS = [5_000, 10_000] as const;

/** Plans in one pass: each more answers a shortage that the one before ran into. */
const ROUNDS_MAX = 8;

function measure(ports: Ports, input: ProvisioningInput, plan: Plan, nowMs: number): void {
  const measures: Measures = [
    ...measuresOf({ ...input, plan, nowMs }),
    ['pods_backed_off', input.backoffs.pods.size],
    ['observe_duration_seconds', (input.readyAtMs - input.startedAtMs) / 1000],
    ['scheduler_scheduling_duration_seconds', (nowMs - input.readyAtMs) / 1000],
  ];
  const { recorder } = ports;
  for (const [name, value] of measures) recorder.measure?.(name, value);
  for (const [nodepool, price] of costByPool(input)) {
    recorder.detail?.('nodepools_cost_total', { nodepool }, price);
  }
}

/** Why launches are held back now; undefined: they are not. */
async function causeOf(
  ports: Ports,
  { state, karpenter }: ProvisioningInput,
): Promise<Reason | undefined> {
  if (await karpenter.isActive()) return reason('karpenter-runs', {});
  if (!isPaused(state.pausedUntilMs.launch, ports.clock.nowMs())) return undefined;
  return reason('launches-paused', {});
}

/** Whether launches are held back. Pending pods are measured all the same. */
async function isHeldBack(
  ports: Ports,
  settings: AppSettings,
  input: ProvisioningInput,
): Promise<boolean> {
  const cause = await causeOf(ports, input);
  ports.recorder.measure?.('held_back', cause === undefined ? 0 : 1);
  if (cause === undefined) return false;
  const plan = withBackedOff(replan(input.snapshot, settings.scheduling), input.backoffs);
  measure(ports, input, plan, ports.clock.nowMs());
  await recordNothing({ ports }, cause, 'NodeClaims');
  return true;
}

/** What is to be launched, and by what. */
interface Decision {
  readonly input: ProvisioningInput;
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
  { staticCapacity, scheduling }: AppSettings,
  input: ProvisioningInput,
): Promise<boolean> {
  const { state } = input;
  const keep = () => keepStaticCapacity(input.ports, input, scheduling.minValuesPolicy);
  if (staticCapacity && (await keep()) > 0) return true;
  return waitingClaims(state.objects.nodeClaims).some(({ annotations, nodeClassRef }) => {
    const nodeClass = nodeClassOf(state, nodeClassRef);
    const isLaunchable = nodeClass !== undefined && isUsable(nodeClass);
    return isLaunchable && annotations[PLAN] === undefined;
  });
}

/** Whether a launch that was approved during the pause is due. */
function awaitsApproved({ state }: ProvisioningInput): boolean {
  return waitingClaims(state.objects.nodeClaims).some((each) => isApproved(each, 'launch'));
}

/** Overlays → plan → NodeClaims. Undefined: launches are paused, or Karpenter is active. */
async function decide(
  ports: Ports,
  settings: AppSettings,
  tally: Tally,
  isFirst: boolean,
): Promise<Decision | undefined> {
  const input = await observe(ports, settings, tally.failures);
  const decision = await decideOn(input, settings, tally, isFirst);
  await input.shared.publish(ports, input.snapshot);
  return decision;
}

async function decideOn(
  input: ProvisioningInput,
  settings: AppSettings,
  tally: Tally,
  isFirst: boolean,
): Promise<Decision | undefined> {
  const { ports } = input;
  const isHeld = await isHeldBack(ports, settings, input);
  if (isHeld && !(isFirst && awaitsApproved(input))) return undefined;
  return await untilKarpenterIsActive(async () => {
    if (isHeld || (isFirst && (await launchesFirst(settings, input)))) {
      const nothing = { written: [], plan: undefined, nominated: [] };
      return { input, ...nothing, isPartial: true };
    }
    return await planPods(settings, input, tally);
  });
}

/** Plans pending pods, writes their NodeClaims, and records why the others have no place. */
async function planPods(
  settings: AppSettings,
  input: ProvisioningInput,
  tally: Tally,
): Promise<Decision> {
  const { ports, failures } = input;
  const { scheduling } = settings;
  const decision = await decideForPods(ports, settings, input);
  const { planned, expected, snapshot, plan, decidedAtMs, written, relied } = decision;
  measure(ports, input, plan, decidedAtMs);
  tally.unplaced = new Map([...plan.unplaced].map(([pod, { message }]) => [pod, message]));
  const [first] = written;
  if (first !== undefined) {
    const planning = { snapshot, settings: scheduling, expected };
    const text = planRecording(planning, planned, decidedAtMs);
    ports.recorder.recording?.(`provision-${first.claim.name}`, decidedAtMs, text);
  }
  tally.created.push(...written.map(({ claim }) => claim.name));
  const { nodeClaims } = input.state.objects;
  failures.push(...(await noteUse(ports, nodeClaims, input.backoffs)));
  await recordUnplaced(ports, input.virtual, plan);
  await publishRefusals(input, plan);
  await publishDifferences(input);
  if (written.length === 0 && !hasWaiting(input)) {
    await recordUnchanged({ ports }, 'provision', staysBecause(plan, input.virtual));
  }
  failures.push(...(await writeBufferStatuses(ports, input.state, plan)));
  const made = written.map(({ claim, pods }) => ({ target: `nodeclaim/${claim.name}`, pods }));
  const nominated = [...made, ...relied.nominated];
  return { input, written, plan, nominated, isPartial: false };
}

/** Whether there were claims without an instance before anything was decided. */
function hasWaiting({ state }: ProvisioningInput): boolean {
  return waitingClaims(state.objects.nodeClaims).length > 0;
}

function hasLaunches({ input, written, isPartial }: Decision): boolean {
  return isPartial || written.length > 0 || hasWaiting(input);
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
  settling: Ports,
  settings: AppSettings,
  { input, written, isPartial }: Decision,
  remainingMs: () => number,
): Promise<LaunchReport> {
  const { failures } = input;
  const launching = (state: ClusterState, karpenter: KarpenterLease, readAtMs: number) => {
    const pause = new LaunchPause(settling, state, readAtMs);
    const ports = karpenter.guarded(settling);
    return { ports, settling, settings, pause, failures, remainingMs };
  };
  if (!isPartial && !hasWaiting(input)) {
    const { karpenter, state, startedAtMs, typesOf } = input;
    const known = withWritten(state, written);
    return await launchClaims(launching(known, karpenter, startedAtMs), known, typesOf);
  }
  const startedAtMs = settling.clock.nowMs();
  const state = await settling.cluster.read();
  const karpenter = new KarpenterLease(settling, state, startedAtMs);
  const wants = wantsOf(state, startedAtMs);
  const typesOf = typesByClaim(await resolveTypes(settling, settings, state, wants));
  return await launchClaims(launching(state, karpenter, startedAtMs), state, typesOf);
}

/** Who plays a round, and by what. */
interface Playing {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly remainingMs: () => number;
  readonly leases: WriteLeases;
}

interface Round {
  /** There is to be another, while there is time: what was planned cannot all be had. */
  readonly isAgain: boolean;
  readonly isWoken: boolean;
  readonly isLeftToAnother: boolean;
  /** The other round is to be in a moment: what launches have met passes by itself. */
  readonly isTransient: boolean;
}

/** Decides, launches, and tells people. */
async function playRound(
  { settings, remainingMs, leases }: Playing,
  tally: Tally,
  isFirst: boolean,
): Promise<Round> {
  const deciding = await leases.withLease('decide', (own) => decide(own, settings, tally, isFirst));
  const nothing = { isAgain: false, isTransient: false };
  if (deciding === undefined) return { ...nothing, isWoken: false, isLeftToAnother: true };
  const { result: decision, isWoken } = deciding;
  if (decision === undefined) return { ...nothing, isWoken, isLeftToAnother: false };
  if (!hasLaunches(decision)) {
    await publishPodEvents(decision, []);
    return { ...nothing, isWoken, isLeftToAnother: false };
  }
  // EC2 takes its time: who came while this was decided is planned for meanwhile. Should nobody
  // hear of it, this invocation goes round all the same.
  if (isWoken) leases.wakeAnother?.();
  const launching = await leases.withLease('launch', (own) =>
    launch(own, settings, decision, remainingMs),
  );
  const { launched, givenUp, postponed, changed, transient } =
    launching?.result ?? NOTHING_LAUNCHED;
  const again = givenUp.length + postponed + changed;
  tally.launched.push(...launched);
  await publishPodEvents(decision, givenUp);
  return {
    isAgain: launching !== undefined && (decision.isPartial || again + transient > 0),
    isTransient: again === 0 && transient > 0,
    isWoken: isWoken || launching?.isWoken === true,
    isLeftToAnother: launching === undefined,
  };
}

/** Waits for what passes by itself, where there is time; how many such pauses there were. */
async function pauseAfter({ ports, remainingMs }: Playing, pauses: number): Promise<number> {
  const pauseMs = TRANSIENT_MS[pauses] ?? TRANSIENT_MS[1];
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
  leases: WriteLeases = withoutLeases(ports),
): Promise<ProvisionReport> {
  const tally: Tally = { created: [], launched: [], failures: [], unplaced: new Map() };
  let isWoken = false;
  // Noted as soon as a turn ends: what is left of its round may fail.
  const withLease: WriteLeases['withLease'] = async (lease, work) => {
    const done = await leases.withLease(lease, work);
    isWoken ||= done?.isWoken === true;
    return done;
  };
  const playing = { ports, settings, remainingMs, leases: { ...leases, withLease } };
  let round: Round;
  let rounds = 0;
  let pauses = 0;
  try {
    do {
      round = await playRound(playing, tally, rounds === 0);
      rounds += 1;
      // Another round looks at everything again, and so answers who came during the one before.
      isWoken = round.isWoken || (isWoken && round.isLeftToAnother);
      if (round.isTransient && rounds < ROUNDS_MAX) pauses = await pauseAfter(playing, pauses);
    } while (round.isAgain && rounds < ROUNDS_MAX && remainingMs() >= LAUNCH_MS);
  } catch (error) {
    if (isWoken) leases.wakeAnother?.();
    throw error;
  }
  const { isAgain, isLeftToAnother } = round;
  return { ...tally, isUnfinished: isAgain && remainingMs() < LAUNCH_MS, isWoken, isLeftToAnother };
}
