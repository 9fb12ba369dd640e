import type { Ports } from '../../ports.ts';

/** An act follows a look at most this old. */
const LOOK_MS = 1_000;

export interface CachedReadOptions<Value> {
  readonly clock: Pick<Ports['clock'], 'nowMs'>;
  /** What was read last, and when reading it began. */
  readonly value: Value;
  readonly readAtMs: number;
  readonly look: () => Promise<Value>;
}

/** What may change in the middle of a pass, read again where the last look is a while ago. */
export class CachedRead<Value> {
  private readonly options: CachedReadOptions<Value>;
  private value: Value;
  private readAtMs: number;
  /** Acts that go on at the same time share one look. */
  private looking: Promise<void> | undefined;

  constructor(options: CachedReadOptions<Value>) {
    this.options = options;
    this.value = options.value;
    this.readAtMs = options.readAtMs;
  }

  async read(): Promise<Value> {
    const { clock, look } = this.options;
    if (clock.nowMs() - this.readAtMs >= LOOK_MS) {
      this.looking ??= this.renew(look).finally(() => {
        this.looking = undefined;
      });
      await this.looking;
    }
    return this.value;
  }

  private async renew(look: () => Promise<Value>): Promise<void> {
    const nowMs = this.options.clock.nowMs();
    this.value = await look();
    this.readAtMs = nowMs;
  }
}
