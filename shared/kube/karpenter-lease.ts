import { RESOURCES } from '../api/resources.ts';
import type { KubeClient } from './client.ts';
import { KARPENTER_LEASE } from './leases.ts';
import { listEach, property, text } from './list.ts';

/** A Lease of Karpenter's name that somebody holds. */
export interface KarpenterRenewal {
  /** e.g. `kube-system/karpenter-leader-election`: whoever may write Leases anywhere has one. */
  readonly lease: string;
  readonly holder: string;
  readonly renewedAtMs: number;
}

export type OnKarpenter = (renewal: KarpenterRenewal) => void;

/** So far the clock of a Karpenter may be ahead: AWS answers none that is further off. */
const CLOCK_AHEAD_MS = 300_000;

/** Whether a Lease can have been renewed then: a time that is still to come says nothing. */
export function isPossibleRenewal(renewedAtMs: number, nowMs: number): boolean {
  return renewedAtMs <= nowMs + CLOCK_AHEAD_MS;
}

/** The newest renewal of any Lease of that name with a holder. */
export async function readKarpenterLease(
  client: KubeClient,
): Promise<KarpenterRenewal | undefined> {
  let newest: KarpenterRenewal | undefined;
  const selection = {
    resource: RESOURCES.leases,
    fieldSelector: `metadata.name=${KARPENTER_LEASE}`,
  };
  await listEach(client, selection, {
    start: () => {
      newest = undefined;
    },
    object: (object) => {
      const spec = property(object, 'spec');
      const renewedAtMs = Date.parse(text(property(spec, 'renewTime')));
      const holder = text(property(spec, 'holderIdentity'));
      if (holder === '' || !isPossibleRenewal(renewedAtMs, client.timing.nowMs())) return;
      if (renewedAtMs <= (newest?.renewedAtMs ?? 0)) return;
      const namespace = text(property(property(object, 'metadata'), 'namespace'));
      newest = { lease: `${namespace}/${KARPENTER_LEASE}`, holder, renewedAtMs };
    },
  });
  return newest;
}
