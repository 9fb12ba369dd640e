import type { ClaimsState, Ports } from '../ports.ts';
import { isShadowed } from './settings.ts';

/** The leader lease is asked for again after this long: an act follows a look at most this old. */
const LOOK_MS = 1_000;

/**
 * Whether Karpenter runs in the cluster, asked before every act: a plan may take long, and it may
 * have been started meanwhile. While it runs, nothing is written.
 */
export class Shadow {
  private readonly ports: Ports;
  private renewedAtMs: number | undefined;
  private lookedAtMs: number;
  /** Acts that go on at the same time share one look. */
  private looking: Promise<void> | undefined;

  /** `lookedAtMs` is when reading the state began. */
  constructor(ports: Ports, state: Pick<ClaimsState, 'karpenterRenewedAtMs'>, lookedAtMs: number) {
    this.ports = ports;
    this.renewedAtMs = state.karpenterRenewedAtMs;
    this.lookedAtMs = lookedAtMs;
  }

  async isCast(): Promise<boolean> {
    const { clock } = this.ports;
    if (clock.nowMs() - this.lookedAtMs >= LOOK_MS) {
      this.looking ??= this.look().finally(() => {
        this.looking = undefined;
      });
      await this.looking;
    }
    return isShadowed(this.renewedAtMs, clock.nowMs());
  }

  private async look(): Promise<void> {
    const { cluster, clock } = this.ports;
    const nowMs = clock.nowMs();
    if (cluster.karpenterRenewedAtMs !== undefined) {
      this.renewedAtMs = await cluster.karpenterRenewedAtMs();
    }
    this.lookedAtMs = nowMs;
  }
}
