import { Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';

/** Rules of the checks at synthesis that do not hold for this construct, each with its reason. */
export function acknowledge(
  construct: IConstruct,
  reasons: Readonly<Record<string, string>>,
): void {
  const rules = Object.entries(reasons).map(([id, reason]) => ({ id, reason }));
  Validations.of(construct).acknowledge(...rules);
}
