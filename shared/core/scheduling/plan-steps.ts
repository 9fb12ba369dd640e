/** Of what is left, one part takes at most such a share: others may still follow it. */
const SHARE = 0.75;

/** The steps of one plan: all attempts at it draw from them, so that later ones get what is left. */
export class PlanSteps {
  private readonly most: number;
  /** For what follows. */
  private kept = 0;
  taken = 0;

  constructor(most: number) {
    this.most = most;
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
  }
}
