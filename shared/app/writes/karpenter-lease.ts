import type { ClaimsState, Ports } from '../../ports.ts';
import { isKarpenterActive } from '../settings.ts';
import { Recent } from './recent.ts';

/** Karpenter has come up: what was to be written is not, and what led up to it is given up. */
export class KarpenterActive extends Error {
  override readonly name = 'KarpenterActive';
}

/**
 * Whether Karpenter runs in the cluster, asked before every act: a plan may take long, and it may
 * have been started meanwhile. While it runs, nothing is written.
 */
export class KarpenterLease {
  private readonly clock: Ports['clock'];
  private readonly renewedAtMs: Recent<number | undefined>;

  /** `readAtMs` is when reading the state began. */
  constructor(
    { clock, cluster }: Ports,
    { karpenterRenewedAtMs: value }: Pick<ClaimsState, 'karpenterRenewedAtMs'>,
    readAtMs: number,
  ) {
    this.clock = clock;
    const look = cluster.karpenterRenewedAtMs?.bind(cluster);
    this.renewedAtMs = new Recent({ clock, value, readAtMs, look });
  }

  async isActive(): Promise<boolean> {
    const renewedAtMs = await this.renewedAtMs.read();
    return isKarpenterActive(renewedAtMs, this.clock.nowMs());
  }

  /** Before a write that many steps lead up to, each of which would have to say that it is not made. */
  async throwIfActive(): Promise<void> {
    if (await this.isActive())
      throw new KarpenterActive('Karpenter is active in this cluster: nothing is written');
  }
}
