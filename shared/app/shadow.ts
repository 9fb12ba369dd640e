import type { ClaimsState, Ports } from '../ports.ts';
import { Recent } from './recent.ts';
import { isShadowed } from './settings.ts';

/**
 * Whether Karpenter runs in the cluster, asked before every act: a plan may take long, and it may
 * have been started meanwhile. While it runs, nothing is written.
 */
export class Shadow {
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

  async isCast(): Promise<boolean> {
    const renewedAtMs = await this.renewedAtMs.read();
    return isShadowed(renewedAtMs, this.clock.nowMs());
  }
}
