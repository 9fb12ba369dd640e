import { type Reason, reason } from '../../core/explain/reason.ts';
import { actionFor, type InterruptionAction } from '../../core/interruption/action.ts';
import {
  type Interruption,
  type InterruptionKind,
  parseInterruption,
  type Refusal,
} from '../../core/interruption/interruption.ts';
import { isOurs } from '../../core/launch/node-classes.ts';
import { instanceIdOf } from '../../core/lifecycle/actions.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { NodeClaim } from '../../core/model/provisioning.ts';
import { type ClaimsState, PortError, type Ports } from '../../ports.ts';
import type { AppSettings } from '../settings.ts';
import type { Failure } from '../writes/attempt.ts';
import { recordNothing } from '../writes/decisions.ts';
import type { UnconfirmedWarnings } from './unconfirmed-warnings.ts';

export interface QueueMessage {
  readonly id: string;
  readonly body: string;
  /** When the queue took it, which nobody can forge; absent where there is no queue. */
  readonly queuedAtMs?: number;
}

/**
 * `foreign_cluster`: about instances that no NodeClaim here stands for. `unconfirmed`: a warning of
 * which EC2 knows nothing, where as many of its NodePool's nodes have gone as may go like that.
 * `contradicted`: EC2 says otherwise, and has had the time to know.
 */
export type RefusalReason = Refusal | 'foreign_cluster' | 'unconfirmed' | 'contradicted';

/** Why a message has to come again. */
export interface MessageFailure extends Failure {
  readonly messageId: string;
  /** What was thrown: a refusal of the cluster or the cloud, or a fault of ours. */
  readonly cause: unknown;
}

/** One batch of the queue, and what has become of it so far. */
export interface InterruptPass {
  readonly ports: Ports;
  readonly settings: AppSettings;
  readonly state: ClaimsState;
  /** Of this batch and those before it. */
  readonly unconfirmed: UnconfirmedWarnings;
  /** Claims deleted by this batch. */
  readonly deleted: Set<string>;
  /** Messages that have to come again. */
  readonly failed: Set<string>;
  readonly failures: MessageFailure[];
  readonly refused: Map<RefusalReason, number>;
  /** Has those who replace and drain woken: before anything is waited for. */
  readonly onDeleted: () => Promise<void>;
}

/** A message about an instance of ours. */
export interface MatchedMessage {
  readonly messageId: string;
  readonly interruption: Interruption;
  readonly action: InterruptionAction;
  readonly claim: NodeClaim;
  readonly instanceId: string;
  /** At the latest: whatever the message says, it was sent before it was in the queue. */
  readonly sentAtMs: number;
  /** Why EC2 has ended the instance, where it was asked and says so. */
  readonly stateReason?: string | undefined;
}

export function countRefusal({ refused, ports }: InterruptPass, reason: RefusalReason): void {
  refused.set(reason, (refused.get(reason) ?? 0) + 1);
  // Of an account's instances most may be another cluster's: no sign of anything wrong.
  if (reason === 'foreign_cluster') return;
  ports.recorder.count('interruption_refused_messages_total', { reason });
}

/** The message comes again, whatever was wrong with it: those that came with it have no part. */
export function fail(pass: InterruptPass, messageId: string, object: string, cause: unknown): void {
  pass.failed.add(messageId);
  const message = cause instanceof PortError ? `${cause.code}: ${cause.message}` : String(cause);
  pass.failures.push({ messageId, object, message, cause });
}

export function poolNameOf({ claim }: MatchedMessage): string {
  return claim.labels[NODE_POOL] ?? '';
}

/** What the message is about, for reasons. */
export function aboutOf({ interruption, instanceId }: MatchedMessage): {
  readonly kind: InterruptionKind;
  readonly instance: string;
} {
  return { kind: interruption.kind, instance: instanceId };
}

/** Deleted before; it only has to be known that EC2 takes the instance. */
export function isLeaving({ claim }: MatchedMessage): boolean {
  return claim.deletedAtMs !== undefined;
}

/** Why nothing is done about a message that is about an instance of ours. */
type NotActedOn =
  | 'interruption-throttled'
  | 'interruption-unconfirmed'
  | 'interruption-contradicted'
  | 'interruption-contradicted-early';

/** That nothing was done about the message, for people. */
export async function recordWhy(
  pass: InterruptPass,
  hit: MatchedMessage,
  code: NotActedOn,
): Promise<void> {
  const object = `NodeClaim/${hit.claim.name}`;
  await recordNothing(pass, reason(code, aboutOf(hit)), object, 'interrupt');
}

/** By what is wrong with a message that is not believed. */
const REFUSALS: Readonly<Record<Refusal, Reason>> = {
  malformed: reason('message-malformed', {}),
  foreign_account: reason('message-of-other-account', {}),
  foreign_region: reason('message-of-other-region', {}),
  too_large: reason('message-too-large', {}),
  stale: reason('message-stale', {}),
};

/** What is wrong with messages of the batch, each thing once: nobody knows what they are about. */
export async function recordRefusals(pass: InterruptPass): Promise<void> {
  for (const [refusal, why] of Object.entries(REFUSALS)) {
    const isMet = [...pass.refused.keys()].some((each) => each === refusal);
    if (isMet) await recordNothing(pass, why, 'InterruptionQueue', 'interrupt');
  }
}

function matchesOf(
  pass: InterruptPass,
  byInstance: ReadonlyMap<string | undefined, NodeClaim>,
  { id: messageId, body, queuedAtMs }: QueueMessage,
): readonly MatchedMessage[] {
  const { ports, settings } = pass;
  const nowMs = ports.clock.nowMs();
  const parsed = parseInterruption(body, settings.envelope, nowMs);
  if (!parsed.ok) {
    countRefusal(pass, parsed.refusal);
    return [];
  }
  const { interruption } = parsed;
  const labels = { message_type: interruption.kind };
  ports.recorder.count('interruption_received_messages_total', labels);
  const action = actionFor(interruption);
  if (action === undefined) return [];
  const sentAtMs = Math.min(interruption.sentAtMs, queuedAtMs ?? nowMs, nowMs);
  const said = { messageId, interruption, action, sentAtMs };
  const hits = interruption.instanceIds.flatMap((instanceId) => {
    const claim = byInstance.get(instanceId);
    return claim === undefined ? [] : [{ ...said, claim, instanceId }];
  });
  if (hits.length === 0) countRefusal(pass, 'foreign_cluster');
  return hits.filter((hit) => !isOfOurDoing(hit));
}

/** EC2 tells of each instance that `lifecycle` has it terminate: nobody interrupts that one. */
function isOfOurDoing({ claim, action }: MatchedMessage): boolean {
  return action.confirmedBy === 'instance-state' && isTrue(claim, 'InstanceTerminating');
}

/** Envelope and membership: which messages are about instances of ours. Each is judged alone. */
export function matchMessages(
  pass: InterruptPass,
  messages: readonly QueueMessage[],
): readonly MatchedMessage[] {
  const ours = pass.state.nodeClaims.filter(({ nodeClassRef }) => isOurs(nodeClassRef));
  const byInstance = new Map(ours.map((claim) => [instanceIdOf(claim.providerId), claim]));
  return messages.flatMap((message) => {
    try {
      return matchesOf(pass, byInstance, message);
    } catch (error) {
      fail(pass, message.id, `message ${message.id}`, error);
      return [];
    }
  });
}
