import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { isPossibleRenewal } from '../../shared/kube/karpenter-lease.ts';
import { KARPENTER_LEASE, LEASE_NAMESPACE, TAKEN_BY } from '../../shared/kube/leases.ts';
import { listEach, property, text } from '../../shared/kube/list.ts';

/** Who would drain nodes and end instances, and when it last said that it is there. */
export interface Sign {
  readonly who: 'Joiner' | 'Karpenter';
  /** e.g. `kube-system/joiner-lifecycle` */
  readonly lease: string;
  /** Who holds it; undefined: nobody does. */
  readonly holder: string | undefined;
  readonly atMs: number;
  /** By function, when it last took the Lease; others may have taken it since. */
  readonly takenBy: ReadonlyMap<string, number>;
}

/**
 * Joiner takes its Leases at least once a minute and frees them again, so what tells that it is
 * there is when one was last acquired or renewed. Five minutes forgive what throttling delays.
 */
const JOINER_MS = 5 * 60_000;
/** Karpenter renews its own every few seconds; the functions give it a minute, too. */
const KARPENTER_MS = 60_000;

/** How old the last sign of somebody who is at work may be. */
export function aliveMs(who: Sign['who']): number {
  return who === 'Joiner' ? JOINER_MS : KARPENTER_MS;
}

/** The last signs of those that are alive, the youngest first. */
export async function signsOfLife(client: KubeClient, nowMs: number): Promise<readonly Sign[]> {
  return (await lastSigns(client, nowMs))
    .filter(({ who, atMs }) => nowMs - atMs < aliveMs(who))
    .sort((a, b) => b.atMs - a.atMs);
}

/** The last sign of every Lease of Joiner and Karpenter that was ever taken, none still to come. */
export async function lastSigns(client: KubeClient, nowMs: number): Promise<readonly Sign[]> {
  let signs: Sign[] = [];
  await listEach(
    client,
    { resource: RESOURCES.leases },
    {
      start: () => {
        signs = [];
      },
      object: (lease) => signs.push(...signOf(lease, nowMs)),
    },
  );
  return signs;
}

function signOf(lease: unknown, nowMs: number): readonly Sign[] {
  const metadata = property(lease, 'metadata');
  const name = text(property(metadata, 'name'));
  const namespace = text(property(metadata, 'namespace'));
  const isOurs = namespace === LEASE_NAMESPACE && name.startsWith('joiner-');
  if (!isOurs && name !== KARPENTER_LEASE) return [];
  const spec = property(lease, 'spec');
  const times = ['acquireTime', 'renewTime'].map((each) => Date.parse(text(property(spec, each))));
  const known = times.filter((each) => isPossibleRenewal(each, nowMs));
  if (known.length === 0) return [];
  const who = isOurs ? 'Joiner' : 'Karpenter';
  const takenBy = takersOf(property(metadata, 'annotations'));
  const holder = text(property(spec, 'holderIdentity')) || undefined;
  return [{ who, lease: `${namespace}/${name}`, holder, atMs: Math.max(...known), takenBy }];
}

function takersOf(annotations: unknown): ReadonlyMap<string, number> {
  const entries = Object.entries(annotations ?? {}).filter(([key]) => key.startsWith(TAKEN_BY));
  return new Map(
    entries.map(([key, at]) => [key.slice(TAKEN_BY.length), Date.parse(text(at)) || 0]),
  );
}
