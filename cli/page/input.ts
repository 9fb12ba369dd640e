/** A page that shows what a command found. */
export interface PageInput {
  readonly command: 'simulate' | 'plan' | 'compare' | 'solve' | 'replay' | 'diagnose' | 'shadow';
  /** What it is about: paths, or a cluster. */
  readonly subject: string;
  /** What `-o json` prints. */
  readonly json: object;
}
