import type { ClaimsState, Ports } from '../../ports.ts';
import { isKarpenterActive, isKarpenterInDoubt } from '../settings.ts';
import { CachedRead } from './cached-read.ts';
import { guardedPorts } from './guarded-ports.ts';

/** Karpenter has become active: the write was not made, and the pass ends. */
export class KarpenterActive extends Error {
  override readonly name = 'KarpenterActive';
}

/** Between looks at a Lease that nobody renews, which counts for another 45 s. */
const DOUBTFUL_LOOK_MS = 5_000;
const DOUBTFUL_LOOKS = 9;

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

  /** The same, once it renews its Lease or the Lease counts no longer, after 45 s at most. */
  async isActiveAfterAll(): Promise<boolean> {
    for (let look = 0; look < DOUBTFUL_LOOKS; look += 1) {
      const renewedAtMs = await this.renewedAtMs.read();
      if (!isKarpenterInDoubt(renewedAtMs, this.clock.nowMs())) break;
      await this.clock.sleep(DOUBTFUL_LOOK_MS);
    }
    return await this.isActive();
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
