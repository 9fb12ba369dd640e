import { mayBeLate } from '../core/interruption/belief.ts';
import { confirmsWarning } from '../core/interruption/spot-request.ts';
import { instanceIdOf } from '../core/lifecycle/actions.ts';
import { INTERRUPTED } from '../core/model/labels.ts';
import type { Instance } from '../ports.ts';
import type { Told } from './interrupt-answers.ts';
import {
  type Hit,
  type InterruptPass,
  isLeaving,
  recordWhy,
  refuse,
} from './interrupt-messages.ts';
import { isOurs } from './offers.ts';

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

/** What EC2 says of the instance: `contradicts` = it runs and nothing is known of an end. */
function contradicts({ interruption: { kind } }: Hit, instance: Instance | undefined): boolean {
  if (kind === 'spot_interrupted') return instance?.capacityType === 'on-demand';
  return (
    (kind === 'instance_stopped' || kind === 'instance_terminated') && instance?.state === 'running'
  );
}

/** Whether EC2 has begun to end it already. */
function isEnding(instance: Instance | undefined): boolean {
  const state = instance?.state;
  return state === 'stopping' || state === 'stopped' || state === 'shutting-down';
}

/** A claim that is leaving because of EC2 needs no second opinion. */
function needsConfirmation(hit: Hit): boolean {
  const isKnown = isLeaving(hit) && hit.claim.annotations[INTERRUPTED] !== undefined;
  return hit.action.confirmable && !isKnown;
}

function instancesOf({ state }: InterruptPass): readonly string[] {
  return state.nodeClaims
    .filter(({ nodeClassRef, deletedAtMs }) => isOurs(nodeClassRef) && deletedAtMs === undefined)
    .flatMap(({ providerId }) => instanceIdOf(providerId) ?? [])
    .sort();
}

function askForInstances(pass: InterruptPass, hits: readonly Hit[]): Promise<Told<Instance>> {
  const { compute } = pass.ports;
  const ask = async (ids: readonly string[]): Promise<ReadonlyMap<string, Instance>> =>
    new Map((await compute.describe(ids)).map((each) => [each.id, each]));
  return pass.known.instances.about({ questions: hits, ours: () => instancesOf(pass), ask });
}

/** Asks for the spot requests of all warnings in one call. */
export function askForWarnings(
  pass: InterruptPass,
  warnings: readonly Hit[],
): Promise<Told<boolean>> {
  const { compute } = pass.ports;
  const ask = async (ids: readonly string[]): Promise<ReadonlyMap<string, boolean>> => {
    const requests = await compute.spotRequests(ids);
    const takenBack = requests.filter(({ statusCode }) => confirmsWarning(statusCode));
    return new Map(takenBack.map(({ instanceId }) => [instanceId, true]));
  };
  return pass.known.takenBack.about({ questions: warnings, ours: () => instancesOf(pass), ask });
}

/**
 * What an instance is does not change, but how it is may have done so since EC2 has looked: the
 * message comes again, and the queue hides it until EC2's answer is to be believed.
 */
async function refute(pass: InterruptPass, hit: Hit, answeredAtMs: number): Promise<void> {
  const isState = hit.interruption.kind !== 'spot_interrupted';
  if (isState && mayBeLate(answeredAtMs, hit.sentAtMs)) {
    pass.failed.add(hit.messageId);
    await recordWhy(pass, hit, 'contradicted', 'EC2 says otherwise, but may be late');
    return;
  }
  refuse(pass, 'contradicted');
  await recordWhy(pass, hit, 'contradicted', 'EC2 says otherwise');
}

/**
 * The one batched confirmation. A spot request may say `fulfilled` for a moment after the warning,
 * so that a warning is never contradicted by it; the other kinds nothing can confirm. A warning has
 * two minutes: it is acted on at once where EC2 cannot be asked.
 */
export async function confirm(pass: InterruptPass, hits: readonly Hit[]): Promise<Verdicts> {
  const [instances, takenBack] = await Promise.all([
    askForInstances(pass, hits.filter(needsConfirmation)),
    askForWarnings(pass, hits.filter(isWarning)),
  ]);
  const sure: Hit[] = [];
  const unsure: Hit[] = [];
  for (const hit of hits) {
    const shown = instances.answers.get(hit.instanceId);
    const instance = shown?.value;
    const request = isWarning(hit) ? takenBack.answers.get(hit.instanceId) : undefined;
    const isUnconfirmable = hit.action.deleteClaim && !hit.action.confirmable && !isLeaving(hit);
    if (request !== undefined && (request.value === true || isEnding(instance))) sure.push(hit);
    else if (shown !== undefined && contradicts(hit, instance)) await refute(pass, hit, shown.atMs);
    else if (request !== undefined || isUnconfirmable) unsure.push(hit);
    else sure.push(hit);
  }
  return { sure, unsure };
}
