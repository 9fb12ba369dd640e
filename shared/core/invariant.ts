/** Something that no input can cause has happened: a defect of ours, and nothing may be done by it. */
export class InvariantViolation extends Error {
  override readonly name = 'InvariantViolation';
}

/** Ends the decision where what it relies on does not hold. `rule` is a sentence that is true. */
export function invariant(holds: boolean, rule: string): asserts holds {
  if (!holds) throw new InvariantViolation(`A rule that always holds was broken: ${rule}`);
}

/** The item at an index that is always there; elsewhere `??` names what stands in its place. */
export function itemAt<Item>(items: ArrayLike<Item>, index: number): Item {
  const item = items[index];
  if (item === undefined) {
    // The rule is written only where it is broken: this is asked a million times.
    invariant(false, `there is an item at ${index} of ${items.length}`);
  }
  return item;
}
