export const OPERATORS = [
  'In',
  'NotIn',
  'Exists',
  'DoesNotExist',
  'Gt',
  'Lt',
  'Gte',
  'Lte',
] as const;

export type Operator = (typeof OPERATORS)[number];

/** One node selector requirement, its key already normalised (see labels.ts). */
export interface RequirementExpression {
  readonly key: string;
  readonly operator: Operator;
  /** Empty for Exists and DoesNotExist; a single integer for Gt, Lt, Gte, Lte. */
  readonly values: readonly string[];
  /** NodePool and NodeClaim only: how many distinct values must stay possible. */
  readonly minValues?: number;
}
