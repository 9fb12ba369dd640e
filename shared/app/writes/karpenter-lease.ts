import type { ClaimsState, Ports } from '../../ports.ts';
import { isKarpenterActive } from '../settings.ts';
import { CachedRead } from './cached-read.ts';
import { guardedPorts } from './guarded-ports.ts';

/** Karpenter has become active: the write was not made, and the pass ends. */
export class KarpenterActive extends Error {
  override readonly name = 'KarpenterActive';
}

/**
 * Whether Karpenter is active in the cluster. A plan may take long, and Karpenter may be started
 * meanwhile: it is asked before every write. While it is active, nothing is written.
 */
export class KarpenterLease {
  private readonly clock: Ports['clock'];
  private readonly renewedAtMs: CachedRead<number | undefined>;

  /** `readAtMs` is when reading the state began. */
  constructor(
    { clock, cluster }: Ports,
    { karpenterRenewedAtMs: value }: Pick<ClaimsState, 'karpenterRenewedAtMs'>,
    readAtMs: number,
  ) {
    this.clock = clock;
    const look = () => cluster.karpenterRenewedAtMs();
    this.renewedAtMs = new CachedRead({ clock, value, readAtMs, look });
  }

  async isActive(): Promise<boolean> {
    const renewedAtMs = await this.renewedAtMs.read();
    return isKarpenterActive(renewedAtMs, this.clock.nowMs());
  }

  /**
   * The ports of a pass: each write and event ends it once Karpenter is active. Steps need no check
   * of their own; the use case runs them in {@link untilKarpenterIsActive}.
   */
  guarded(ports: Ports): Ports {
    return guardedPorts(ports, async () => {
      if (await this.isActive())
        throw new KarpenterActive('Karpenter is active in this cluster: nothing is written');
    });
  }
}

/** Runs steps on guarded ports. Undefined: Karpenter became active, and the rest was not done. */
export async function untilKarpenterIsActive<Result>(
  steps: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await steps();
  } catch (error) {
    if (error instanceof KarpenterActive) return undefined;
    throw error;
  }
}
