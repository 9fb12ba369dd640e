import { mayBeLate } from '../../core/interruption/belief.ts';
import { confirmsWarning } from '../../core/interruption/spot-request.ts';
import { CAPACITY_TYPE, INTERRUPTED, SPOT } from '../../core/model/labels.ts';
import { type Instance, PortError, type Ports } from '../../ports.ts';
import {
  countRefusal,
  type InterruptPass,
  isLeaving,
  type MatchedMessage,
  recordWhy,
} from './messages.ts';

/** Instances whose warning EC2 confirms, or why it could not be asked. */
export type Confirmed = ReadonlySet<string> | PortError;

/** What is known of the messages once EC2 has been asked. */
export interface Verdicts {
  /** To be acted on at once: confirmed, nothing to be lost, or EC2 cannot be asked. */
  readonly sure: readonly MatchedMessage[];
  /** Neither confirmed nor contradicted: few nodes of a pool go on these. */
  readonly unsure: readonly MatchedMessage[];
}

/** A spot warning that would delete its claim. */
export function isWarning(hit: MatchedMessage): boolean {
  return hit.action.confirmedBy === 'spot-request' && !isLeaving(hit);
}

/** What EC2 says of the instance: `contradicts` = it runs and nothing is known of an end. */
function contradicts({ action }: MatchedMessage, instance: Instance | undefined): boolean {
  switch (action.confirmedBy) {
    case 'spot-request':
      return instance?.capacityType === 'on-demand';
    case 'instance-state':
      return instance?.state === 'running';
    case 'nothing':
      return false;
  }
}

/** Whether EC2 has begun to end it already. */
function isEnding(instance: Instance | undefined): boolean {
  const state = instance?.state;
  return state === 'stopping' || state === 'stopped' || state === 'shutting-down';
}

/** A claim that is leaving because of EC2 needs no second opinion. */
function needsConfirmation(hit: MatchedMessage): boolean {
  const isKnown = isLeaving(hit) && hit.claim.annotations[INTERRUPTED] !== undefined;
  return hit.action.confirmedBy !== 'nothing' && !isKnown;
}

function idsOf(hits: readonly MatchedMessage[]): readonly string[] {
  return [...new Set(hits.map(({ instanceId }) => instanceId))].sort();
}

async function describeHits(
  { compute }: Ports,
  hits: readonly MatchedMessage[],
): Promise<ReadonlyMap<string, Instance>> {
  const ids = idsOf(hits);
  if (ids.length === 0) return new Map();
  try {
    return new Map((await compute.describe(ids)).map((each) => [each.id, each]));
  } catch (error) {
    // A warning has two minutes: it is acted on at once where EC2 cannot be asked.
    if (error instanceof PortError) return new Map();
    throw error;
  }
}

/** Asks for the spot requests of all warnings in one call, and remembers which say nothing. */
export async function askForWarnings(
  { ports: { clock, compute }, unconfirmed }: InterruptPass,
  warnings: readonly MatchedMessage[],
): Promise<Confirmed> {
  const ids = idsOf(warnings);
  if (ids.length === 0) return new Set();
  const askedAtMs = clock.nowMs();
  try {
    const requests = await compute.spotRequests(ids);
    const takenBack = requests.filter(({ statusCode }) => confirmsWarning(statusCode));
    const confirmed = new Set(takenBack.map(({ instanceId }) => instanceId));
    const silent = ids.filter((id) => !confirmed.has(id));
    unconfirmed.note(silent, askedAtMs);
    return confirmed;
  } catch (error) {
    if (error instanceof PortError) return error;
    throw error;
  }
}

/**
 * What an instance is does not change, but how it is may have done so since EC2 has looked: the
 * message comes again, and the queue hides it until EC2's answer is to be believed.
 */
async function refute(
  pass: InterruptPass,
  hit: MatchedMessage,
  answeredAtMs: number,
): Promise<void> {
  const isState = hit.action.confirmedBy === 'instance-state';
  if (isState && mayBeLate(answeredAtMs, hit.sentAtMs)) {
    pass.failed.add(hit.messageId);
    await recordWhy(pass, hit, 'interruption-contradicted-early');
    return;
  }
  countRefusal(pass, 'contradicted');
  await recordWhy(pass, hit, 'interruption-contradicted');
}

/**
 * The one batched confirmation. A spot request may say `fulfilled` for a moment after the warning,
 * so that a warning is never contradicted by it; the other kinds nothing can confirm. A warning has
 * two minutes: it is acted on at once where EC2 cannot be asked.
 */
export async function confirm(
  pass: InterruptPass,
  hits: readonly MatchedMessage[],
): Promise<Verdicts> {
  const { ports, unconfirmed } = pass;
  // That an instance is not spot contradicts a warning each time.
  const isSettled = (hit: MatchedMessage): boolean =>
    isWarning(hit) && hit.claim.labels[CAPACITY_TYPE] === SPOT && unconfirmed.isSettled(hit);
  const open = hits.filter((hit) => !isSettled(hit));
  const askedAtMs = ports.clock.nowMs();
  const [described, confirmed] = await Promise.all([
    describeHits(ports, open.filter(needsConfirmation)),
    askForWarnings(pass, open.filter(isWarning)),
  ]);
  const sure: MatchedMessage[] = [];
  const unsure: MatchedMessage[] = [];
  for (const matched of hits) {
    const instance = described.get(matched.instanceId);
    const hit = { ...matched, stateReason: instance?.stateReason };
    const isAsked = isWarning(hit) && (isSettled(hit) || !(confirmed instanceof PortError));
    const isTakenBack = !(confirmed instanceof PortError) && confirmed.has(hit.instanceId);
    const isUnconfirmable =
      hit.action.deleteClaim && hit.action.confirmedBy === 'nothing' && !isLeaving(hit);
    if (isAsked && (isTakenBack || isEnding(instance))) sure.push(hit);
    else if (contradicts(hit, instance)) await refute(pass, hit, askedAtMs);
    else if (isAsked || isUnconfirmable) unsure.push(hit);
    else sure.push(hit);
  }
  return { sure, unsure };
}
