import { triedBy } from '../../core/disruption/tried.ts';
import { reason } from '../../core/explain/reason.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { launchedAtMs } from '../../core/lifecycle/due-times.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  INTERRUPTED,
  RESERVATION_ID,
  RESERVED,
  SPOT,
  ZONE,
} from '../../core/model/labels.ts';
import { type ClaimsState, PortError, type Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import { recordDecision, saying } from '../writes/decisions.ts';
import {
  KarpenterActive,
  KarpenterLease,
  untilKarpenterIsActive,
} from '../writes/karpenter-lease.ts';
import { claimRef } from '../writes/references.ts';
import { throttleUnconfirmed } from './budget.ts';
import { askForWarnings, type Confirmed, confirm, isWarning } from './confirmation.ts';
import { KnownInstances } from './known-instances.ts';
import {
  aboutOf,
  countRefusal,
  fail,
  type InterruptPass,
  isLeaving,
  type MatchedMessage,
  type MessageFailure,
  matchMessages,
  poolNameOf,
  type QueueMessage,
  type RefusalReason,
  recordRefusals,
  recordWhy,
} from './messages.ts';
import { UnconfirmedWarnings } from './unconfirmed-warnings.ts';

export type { QueueMessage, RefusalReason } from './messages.ts';

export interface InterruptReport {
  /** Messages that have to come again; all others are done with. */
  readonly failedIds: readonly string[];
  /** Claims deleted by this batch. */
  readonly deleted: readonly string[];
  /** How many messages led to nothing, by reason. */
  readonly refused: ReadonlyMap<RefusalReason, number>;
  /** Why messages have to come again, as far as something was refused or broken. */
  readonly failures: readonly MessageFailure[];
}

async function markOffering(ports: Ports, hit: MatchedMessage): Promise<void> {
  const { [INSTANCE_TYPE]: instanceType, [ZONE]: zone } = hit.claim.labels;
  const capacityType = hit.claim.labels[CAPACITY_TYPE] === RESERVED ? RESERVED : SPOT;
  if (instanceType === undefined || zone === undefined) return;
  const reservationId = hit.claim.labels[RESERVATION_ID];
  await ports.memory.markUnavailable(
    { instanceType, zone, capacityType, reservationId },
    hit.interruption.kind,
    'shortage',
  );
}

/**
 * Written before the claim is deleted: the cap on terminations does not hold it up. The label is
 * what the API server can look for.
 */
async function markInterrupted(
  ports: Ports,
  { claim, interruption }: MatchedMessage,
): Promise<void> {
  if (claim.annotations[INTERRUPTED] !== undefined) return;
  const mark = { [INTERRUPTED]: interruption.kind };
  await ports.cluster.patchNodeClaim(claimRef(claim), { annotations: mark, labels: mark });
}

/**
 * Instances that end while they boot do so again and again: `lifecycle` counts those that it finds,
 * and the message of most comes before that.
 */
async function countUnjoined(ports: Ports, hit: MatchedMessage): Promise<void> {
  const isUnjoined =
    hit.action.confirmedBy === 'instance-state' && !isTrue(hit.claim, 'Registered');
  const pool = poolNameOf(hit);
  if (!isUnjoined || pool === '') return;
  await ports.memory.recordRegistration(pool, {
    launchedAtMs: launchedAtMs(hit.claim),
    tried: triedBy(hit.claim),
    cause: hit.stateReason,
  });
}

async function carryOut(ports: Ports, hit: MatchedMessage): Promise<void> {
  const { claim, action, interruption } = hit;
  const why = reason('instance-interrupted', {
    ...aboutOf(hit),
    cause: hit.stateReason ?? '',
  });
  const type = action.deleteClaim ? 'Warning' : 'Normal';
  const regarding = claimRef(claim);
  if (action.markOffering) await markOffering(ports, hit);
  if (action.deleteClaim) {
    await markInterrupted(ports, hit);
    await ports.cluster.delete(regarding);
    await countUnjoined(ports, hit);
  }
  await ports.cluster.event({ regarding, type, reason: action.eventReason, ...saying(why) });
  if (!action.deleteClaim) return;
  const { [CAPACITY_TYPE]: capacity_type = '' } = claim.labels;
  const nodepool = poolNameOf(hit);
  const labels = { reason: interruption.kind, nodepool, capacity_type };
  ports.recorder.count('nodeclaims_disrupted_total', labels);
  const decision = {
    id: `interrupt-${claim.name}`,
    useCase: 'interrupt',
    object: `NodeClaim/${claim.name}`,
    action: 'delete',
    reasons: [why],
    detail: {
      reason: interruption.kind,
      instanceId: hit.instanceId,
      nodePool: nodepool,
      chosen: { capacityType: capacity_type },
    },
  } as const;
  await recordDecision({ ports }, decision);
}

/** A claim once. What one message comes to concerns no other. */
async function actOn(pass: InterruptPass, hits: readonly MatchedMessage[]): Promise<void> {
  const { ports, deleted } = pass;
  for (const hit of hits) {
    const { claim, action } = hit;
    if (deleted.has(claim.name) && action.deleteClaim) continue;
    try {
      if (action.deleteClaim && isLeaving(hit)) {
        await markInterrupted(ports, hit);
        continue;
      }
      await carryOut(ports, hit);
      if (action.deleteClaim) deleted.add(claim.name);
    } catch (error) {
      if (error instanceof KarpenterActive) throw error;
      fail(pass, hit.messageId, `NodeClaim/${claim.name}`, error);
    }
  }
}

async function act(pass: InterruptPass, hits: readonly MatchedMessage[]): Promise<void> {
  const before = pass.deleted.size;
  await actOn(pass, hits).finally(async () => {
    if (pass.deleted.size > before) await pass.onDeleted();
  });
}

/** Nothing confirms these: few nodes of a pool go at a time. Answers what is left. */
async function actOnFew(pass: InterruptPass, hits: readonly MatchedMessage[]): Promise<Unspent> {
  const { granted, faults } = await throttleUnconfirmed(pass, hits);
  const isGranted = ({ claim }: MatchedMessage): boolean => granted.has(claim.name);
  await act(pass, hits.filter(isGranted));
  return { hits: hits.filter((hit) => !isGranted(hit)), faults };
}

interface Unspent {
  readonly hits: readonly MatchedMessage[];
  /** By NodePool: why its budget could not be written. */
  readonly faults: ReadonlyMap<string, unknown>;
}

/** Nothing can confirm these: they come again, when the pool may lose others. */
async function requeue(pass: InterruptPass, { hits, faults }: Unspent): Promise<void> {
  for (const hit of hits) {
    const pool = poolNameOf(hit);
    if (faults.has(pool)) fail(pass, hit.messageId, `NodePool/${pool}`, faults.get(pool));
    else {
      pass.failed.add(hit.messageId);
      await recordWhy(pass, hit, 'interruption-throttled');
    }
  }
}

/**
 * Between looks at spot requests: seconds of the two minutes that a node has. After the last one
 * EC2's silence speaks against whatever was there to be asked about (`CONFIRMED_WITHIN_MS`).
 */
const WAITS_MS = [1_000, 2_000, 3_000, 4_000];

/**
 * Warnings beyond what may go unconfirmed: a real one is confirmed within moments, a forged one
 * never. Where EC2 or the NodePool could not be asked, the message comes again.
 */
async function awaitConfirmation(pass: InterruptPass, { hits, faults }: Unspent): Promise<void> {
  const { ports, unconfirmed } = pass;
  let left = hits;
  let confirmed: Confirmed = new Set();
  for (const waitMs of WAITS_MS) {
    const open = left.filter((hit) => !unconfirmed.isSettled(hit));
    if (open.length === 0) break;
    await ports.clock.sleep(waitMs);
    confirmed = await askForWarnings(pass, open);
    if (confirmed instanceof PortError) continue;
    const known: ReadonlySet<string> = confirmed;
    const isKnown = ({ instanceId }: MatchedMessage): boolean => known.has(instanceId);
    await act(pass, left.filter(isKnown));
    left = left.filter((hit) => !isKnown(hit));
  }
  for (const hit of left) {
    const pool = poolNameOf(hit);
    const isUnasked = confirmed instanceof PortError && !unconfirmed.isSettled(hit);
    const fault = isUnasked ? confirmed : faults.get(pool);
    if (fault !== undefined) fail(pass, hit.messageId, `NodePool/${pool}`, fault);
    else {
      countRefusal(pass, 'unconfirmed');
      await recordWhy(pass, hit, 'interruption-unconfirmed');
    }
  }
}

/** Envelope → membership → confirmation → action. */
async function handle(pass: InterruptPass, messages: readonly QueueMessage[]): Promise<void> {
  const matched = matchMessages(pass, messages);
  await recordRefusals(pass);
  const verdicts = await confirm(pass, matched);
  await act(pass, verdicts.sure);
  const unsure = verdicts.unsure.filter(({ claim }) => !pass.deleted.has(claim.name));
  if (unsure.length === 0) return;
  const { hits, faults } = await actOnFew(pass, unsure);
  await requeue(pass, { hits: hits.filter((hit) => !isWarning(hit)), faults });
  await awaitConfirmation(pass, { hits: hits.filter(isWarning), faults });
}

/** What a process keeps from one batch to the next. */
export interface InterruptMemory {
  readonly unconfirmed: UnconfirmedWarnings;
  readonly known: KnownInstances;
}

export function newInterruptMemory(): InterruptMemory {
  return { unconfirmed: new UnconfirmedWarnings(), known: new KnownInstances() };
}

/** All that has to be known of the cluster where no message is about it. */
const NOBODYS: ClaimsState = { nodeClaims: [], karpenterRenewedAtMs: undefined };

/**
 * Handles one batch of the interruption queue. `onDeleted` is called as soon as claims have been
 * deleted, before anything is waited for; the memory is kept from one batch to the next.
 */
export async function interrupt(
  ports: Ports,
  settings: AppSettings,
  messages: readonly QueueMessage[],
  onDeleted: () => Promise<void> = async () => undefined,
  { unconfirmed, known }: InterruptMemory = newInterruptMemory(),
): Promise<InterruptReport> {
  const { isOpen, waitMs } = known.ask(messages, settings.envelope, ports.clock.nowMs());
  if (waitMs > 0) await ports.clock.sleep(waitMs);
  const startedAtMs = ports.clock.nowMs();
  const state = isOpen ? await ports.cluster.readClaims() : NOBODYS;
  if (isOpen) known.note(state.nodeClaims, startedAtMs);
  const karpenter = new KarpenterLease(ports, state, startedAtMs);
  const pass: InterruptPass = {
    ports: karpenter.guarded(ports),
    settings,
    state,
    unconfirmed,
    deleted: new Set(),
    failed: new Set(),
    failures: [],
    refused: new Map(),
    onDeleted,
  };
  // A warning that Karpenter no longer answers is answered once its Lease does not count.
  if (!(await karpenter.isActiveAfterAll()))
    await untilKarpenterIsActive(() => handle(pass, messages));
  const { failed, deleted, refused, failures } = pass;
  return { failedIds: [...failed].sort(), deleted: [...deleted].sort(), refused, failures };
}
