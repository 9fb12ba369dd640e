import { confirmsWarning } from '../core/interruption/spot-request.ts';
import { INTERRUPTED } from '../core/model/labels.ts';
import { type Instance, PortError, type Ports } from '../ports.ts';
import { type Hit, type InterruptPass, isLeaving, recordWhy } from './interrupt-messages.ts';

/** Instances whose warning EC2 confirms, or why it could not be asked. */
export type Confirmed = ReadonlySet<string> | PortError;

/** What is known of the messages once EC2 has been asked. */
export interface Verdicts {
  /** To be acted on at once: confirmed, nothing to be lost, or EC2 cannot be asked. */
  readonly sure: readonly Hit[];
  /** Neither confirmed nor contradicted: few nodes of a pool go on these. */
  readonly unsure: readonly Hit[];
}

/** A spot warning that would delete its claim. */
export function isWarning(hit: Hit): boolean {
  return hit.interruption.kind === 'spot_interrupted' && !isLeaving(hit);
}

/** What EC2 says of the instances: `contradicts` = it runs and nothing is known of an end. */
function contradicts(hit: Hit, described: ReadonlyMap<string, Instance> | undefined): boolean {
  if (described === undefined) return false;
  const { kind } = hit.interruption;
  const instance = described.get(hit.instanceId);
  if (kind === 'spot_interrupted') return instance?.capacityType === 'on-demand';
  return (
    (kind === 'instance_stopped' || kind === 'instance_terminated') && instance?.state === 'running'
  );
}

/** Whether EC2 has begun to end it already. */
function isEnding(hit: Hit, described: ReadonlyMap<string, Instance> | undefined): boolean {
  const state = described?.get(hit.instanceId)?.state;
  return state === 'stopping' || state === 'stopped' || state === 'shutting-down';
}

/** A claim that is leaving because of EC2 needs no second opinion. */
function needsConfirmation(hit: Hit): boolean {
  const isKnown = isLeaving(hit) && hit.claim.annotations[INTERRUPTED] !== undefined;
  return hit.action.confirmable && !isKnown;
}

function idsOf(hits: readonly Hit[]): readonly string[] {
  return [...new Set(hits.map(({ instanceId }) => instanceId))].sort();
}

async function describeHits(
  { compute }: Ports,
  hits: readonly Hit[],
): Promise<ReadonlyMap<string, Instance> | undefined> {
  const ids = idsOf(hits);
  if (ids.length === 0) return new Map();
  try {
    return new Map((await compute.describe(ids)).map((each) => [each.id, each]));
  } catch (error) {
    // A warning has two minutes: it is acted on at once where EC2 cannot be asked.
    if (error instanceof PortError) return undefined;
    throw error;
  }
}

/** Asks for the spot requests of all warnings in one call. */
export async function askForWarnings(
  { compute }: Ports,
  warnings: readonly Hit[],
): Promise<Confirmed> {
  const ids = idsOf(warnings);
  if (ids.length === 0) return new Set();
  try {
    const requests = await compute.spotRequests(ids);
    const takenBack = requests.filter(({ statusCode }) => confirmsWarning(statusCode));
    return new Set(takenBack.map(({ instanceId }) => instanceId));
  } catch (error) {
    if (error instanceof PortError) return error;
    throw error;
  }
}

/**
 * The one batched confirmation. A spot request may say `fulfilled` for a moment after the warning,
 * so that a warning is never contradicted by it; the other kinds nothing can confirm.
 */
export async function confirm(pass: InterruptPass, hits: readonly Hit[]): Promise<Verdicts> {
  const { ports } = pass;
  const [described, confirmed] = await Promise.all([
    describeHits(ports, hits.filter(needsConfirmation)),
    askForWarnings(ports, hits.filter(isWarning)),
  ]);
  const sure: Hit[] = [];
  const unsure: Hit[] = [];
  for (const hit of hits) {
    const isAsked = isWarning(hit) && !(confirmed instanceof PortError);
    const isUnconfirmable = hit.action.deleteClaim && !hit.action.confirmable && !isLeaving(hit);
    const isConfirmed = isAsked && (confirmed.has(hit.instanceId) || isEnding(hit, described));
    if (isConfirmed) sure.push(hit);
    else if (contradicts(hit, described)) {
      await recordWhy(pass, hit, 'contradicted', 'EC2 says otherwise');
    } else if (isAsked || isUnconfirmable) unsure.push(hit);
    else sure.push(hit);
  }
  return { sure, unsure };
}
