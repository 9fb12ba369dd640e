import { FLEET, LAUNCH_TRIED } from '../model/labels.ts';
import type { NodeClaim } from '../model/provisioning.ts';
import { sha256 } from './sha256.ts';

export interface FleetMembership {
  readonly token: string;
  /** Instances wanted by the whole group. */
  readonly size: number;
  /** Counts the calls whose outcome is known to be a failure: each repeat needs a new token. */
  readonly attempt: number;
}

/** The client token of these claims: same claims, same token, in whatever order they come. */
export function clientToken(uids: readonly string[], attempt: number): string {
  const sorted = [...uids].sort().join(',');
  return sha256(attempt === 0 ? sorted : `${sorted}#${attempt}`);
}

export function encodeMembership({ token, size, attempt }: FleetMembership): string {
  return `${token}/${size}/${attempt}`;
}

/** The group written on the claim; undefined where there is none or it is unreadable. */
export function membershipOf(claim: NodeClaim): FleetMembership | undefined {
  const match = /^([0-9a-f]{64})\/(\d{1,4})\/(\d{1,4})$/.exec(claim.annotations[FLEET] ?? '');
  const [, token, size, attempt] = match ?? [];
  if (token === undefined) return undefined;
  return { token, size: Number(size), attempt: Number(attempt) };
}

/** Since when launches of the claim have been tried in vain; undefined: nobody has tried one yet. */
export function launchTriedAtMs(claim: NodeClaim): number | undefined {
  const { annotations, conditions, createdAtMs } = claim;
  const noted = Date.parse(annotations[LAUNCH_TRIED] ?? '');
  const said = conditions.find(({ type }) => type === 'Launched')?.lastTransitionAtMs;
  const times = [...(Number.isNaN(noted) ? [] : [noted]), ...(said === undefined ? [] : [said])];
  if (times.length > 0) return Math.min(...times);
  // Its group was written by a version that did not write when.
  return annotations[FLEET] === undefined ? undefined : createdAtMs;
}

/** Splits claims whose launch would say the same into one group each, at most `sizeMax` large. */
export function groupClaims<Item extends { readonly claim: NodeClaim; readonly same: string }>(
  items: readonly Item[],
  sizeMax: number,
): readonly (readonly Item[])[] {
  const bySame = new Map<string, Item[]>();
  const sorted = [...items].sort((a, b) => (a.claim.uid < b.claim.uid ? -1 : 1));
  for (const item of sorted) {
    const group = bySame.get(item.same);
    if (group === undefined) bySame.set(item.same, [item]);
    else group.push(item);
  }
  return [...bySame.values()].flatMap((group) => {
    const parts: Item[][] = [];
    for (let at = 0; at < group.length; at += sizeMax) parts.push(group.slice(at, at + sizeMax));
    return parts;
  });
}
