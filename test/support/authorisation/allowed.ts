import type { Conditions, Statement } from '../../../infra/policies/statement.ts';
import type { Asked } from './asked.ts';

type Operator = (given: readonly string[], wanted: readonly string[]) => boolean;

/** https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_policies_elements_condition_operators.html */
const OPERATORS: Readonly<Record<string, Operator>> = {
  StringEquals: (given, wanted) => given.some((each) => wanted.includes(each)),
  StringLike: (given, wanted) =>
    given.some((each) => wanted.some((pattern) => isLike(each, pattern))),
  StringLikeIfExists: (given, wanted) =>
    given.length === 0 || given.some((each) => wanted.some((pattern) => isLike(each, pattern))),
  StringEqualsIfExists: (given, wanted) =>
    given.length === 0 || given.some((each) => wanted.includes(each)),
  'ForAllValues:StringEquals': (given, wanted) => given.every((each) => wanted.includes(each)),
};

/** `*` stands for any text. */
export function isLike(text: string, pattern: string): boolean {
  const parts = pattern.split('*').map((part) => part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'));
  return new RegExp(`^${parts.join('.*')}$`, 's').test(text);
}

function list(value: string | readonly string[] | undefined): readonly string[] {
  if (value === undefined) return [];
  return typeof value === 'string' ? [value] : value;
}

function holds(conditions: Conditions, context: Asked['context']): boolean {
  return Object.entries(conditions).every(([name, keys]) => {
    const operator = OPERATORS[name];
    if (operator === undefined) throw new Error(`the operator ${name} is not known`);
    return Object.entries(keys).every(([key, wanted]) =>
      operator(list(context[key]), list(wanted)),
    );
  });
}

/** One action on one of a statement's resources. */
export interface Use {
  readonly sid: string;
  readonly action: string;
  readonly resource: string;
}

/** What of the statements allows it; nothing: it is denied. */
export function allowing(statements: readonly Statement[], asked: Asked): readonly Use[] {
  return statements.flatMap(({ sid, actions, resources, conditions = {} }) => {
    if (!actions.includes(asked.action) || !holds(conditions, asked.context)) return [];
    return resources
      .filter((resource) => isLike(asked.resource, resource))
      .map((resource) => ({ sid, action: asked.action, resource }));
  });
}
