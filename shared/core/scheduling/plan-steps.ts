/** Of what is left, one part takes at most such a share: others may still follow it. */
const SHARE = 0.75;

/** The steps of one plan: all attempts at it draw from them, so that later ones get what is left. */
export class PlanSteps {
  private readonly most: number;
  private readonly of: PlanSteps | undefined;
  /** For what follows. */
  private kept = 0;
  taken = 0;

  /** `of`: the steps that these are a share of. */
  constructor(most: number, of?: PlanSteps) {
    this.most = most;
    this.of = of;
  }

  /** One of so many equal shares of what is left. */
  share(count: number): PlanSteps {
    return new PlanSteps(this.left / count, this);
  }

  get left(): number {
    return Math.max(0, this.most - this.kept - this.taken);
  }

  /** Keeps a share of all that are not taken for what follows, instead of what was kept before. */
  keep(share: number): void {
    this.kept = share === 0 ? 0 : share * Math.max(0, this.most - this.taken);
  }

  /** What a part may take that wants so many. */
  allowance(wanted: number): number {
    return Math.min(wanted, SHARE * this.left);
  }

  /** Some parts are made however few steps are left, so that more may be taken than there are. */
  take(steps: number): void {
    this.taken += steps;
    this.of?.take(steps);
  }
}
