/** Time as the functions see it: the machine's, and what a test has let pass at once. */
export class TestClock {
  private aheadMs = 0;
  private readonly machine = Date.now;

  /** From here on `Date.now` answers with this clock's time, until it is stopped. */
  start(): void {
    Date.now = () => this.machine() + this.aheadMs;
  }

  stop(): void {
    Date.now = this.machine;
  }

  /** Lets time pass; objects that the API server has stamped grow older by it. */
  pass(ms: number): void {
    this.aheadMs += ms;
  }

  /** How far ahead of the machine it is, for processes of their own. */
  get offsetMs(): number {
    return this.aheadMs;
  }
}
