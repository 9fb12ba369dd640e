/** Something that no input can cause has happened: a defect of ours, and nothing may be done by it. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

/** Ends the decision where what it relies on does not hold. `rule` is a sentence that is true. */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new InvariantViolation(`A rule that always holds was broken: ${rule}`);
}
