import { RESOURCES } from '../api/resources.ts';
import type { KubeClient } from './client.ts';
import { find } from './find.ts';
import { property, text } from './list.ts';
import type { Address } from './resource-paths.ts';

/** A wake-up that arrived while the Lease was held; its value only has to differ each time. */
export const WAKE = 'joiner.dev/wake';

/** Marks of ticks, which have whoever holds the Lease look at nothing that it does not look at. */
export const TICK_PREFIX = 'tick/';

/** What names of new NodeClaims follow from: see `names` of a Lease. */
export const NAMES = 'joiner.dev/names';

/**
 * Which function has asked for the Lease, and when: others leave it free for a moment, so that one
 * which is woken again and again does not keep it for ever.
 */
export const ASKED = 'joiner.dev/asked';
/** Who asks looks for it that long. */
const ASKED_MS = 25_000;
/** Who does not renew it for so long has lost it. */
export const LEASE_SECONDS = 15;
export const LEASE_MS = LEASE_SECONDS * 1000;
/** Clocks of two functions may differ by a little; the later one waits that long. */
const SKEW_MS = 1_000;

/** What a Lease object says. */
export interface LeaseState {
  readonly resourceVersion: string;
  readonly holder: string;
  readonly acquiredAtMs: number;
  readonly renewedAtMs: number;
  readonly durationMs: number;
  readonly transitions: number;
  readonly names: string;
  readonly wake: string;
  readonly asked: string;
}

export async function readLease(
  client: KubeClient,
  address: Address,
): Promise<LeaseState | undefined> {
  const object = await find(client, RESOURCES.leases, address);
  if (object === undefined) return undefined;
  const metadata = property(object, 'metadata');
  const spec = property(object, 'spec');
  const seconds = property(spec, 'leaseDurationSeconds');
  const transitions = property(spec, 'leaseTransitions');
  return {
    resourceVersion: text(property(metadata, 'resourceVersion')),
    names: text(property(property(metadata, 'annotations'), NAMES)),
    wake: text(property(property(metadata, 'annotations'), WAKE)),
    asked: text(property(property(metadata, 'annotations'), ASKED)),
    holder: text(property(spec, 'holderIdentity')),
    acquiredAtMs: Date.parse(text(property(spec, 'acquireTime'))) || 0,
    renewedAtMs: Date.parse(text(property(spec, 'renewTime'))) || 0,
    durationMs: typeof seconds === 'number' ? seconds * 1000 : LEASE_MS,
    transitions: typeof transitions === 'number' ? transitions : 0,
  };
}

/**
 * Whether its holder is to look at the work again as it is by now. It does not hurry for a tick's
 * mark: whoever has something to say leaves one besides.
 */
export function isMarkedSince(
  state: LeaseState,
  oldMark: string,
  holder: string,
  nowMs: number,
): boolean {
  const isNew = state.wake !== '' && state.wake !== oldMark;
  const isEnough = holder.startsWith(TICK_PREFIX) || !state.wake.startsWith(TICK_PREFIX);
  return isNew && isEnough && isHeldByAnother(state, holder, nowMs);
}

/** Whether it has not expired by then. */
export function isHeldByAnother(state: LeaseState, holder: string, nowMs: number): boolean {
  if (state.holder === '' || state.holder === holder) return false;
  return nowMs < state.renewedAtMs + state.durationMs + SKEW_MS;
}

/** Whether another function has asked for the Lease, and may still want it. */
export function isAskedByAnother(
  { asked }: LeaseState,
  by: string | undefined,
  nowMs: number,
): boolean {
  const at = asked.lastIndexOf('/');
  const isOwn = by !== undefined && asked.slice(0, at) === by;
  return at > 0 && !isOwn && nowMs < Number(asked.slice(at + 1)) + ASKED_MS;
}

/** Those of the holder before, where it has not released the Lease: it may write late. */
export function namesAfter(before: LeaseState | undefined, own: string): string {
  const isReleased = before === undefined || before.holder === '' || before.names === '';
  return isReleased ? own : before.names;
}
