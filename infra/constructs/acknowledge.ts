import { Stack, Validations } from 'aws-cdk-lib';
import type { IConstruct } from 'constructs';
import type { Statement } from '../policies/statement.ts';

/** Rules of the checks at synthesis that do not hold for this construct, each with its reason. */
export function acknowledge(
  construct: IConstruct,
  reasons: Readonly<Record<string, string>>,
): void {
  const rules = Object.entries(reasons).map(([rule, reason]) => ({
    id: `AwsSolutions::AwsSolutions-${rule}`,
    reason,
  }));
  Validations.of(construct).acknowledge(...rules);
}

/** Resources with `*` in a role's statements: what the statement is for, and what bounds it. */
export function acknowledgeWildcards(role: IConstruct, statements: readonly Statement[]): void {
  const stack = Stack.of(role);
  const reasons = new Map<string, string>();
  for (const statement of statements) {
    for (const resource of statement.resources) {
      const text = flat(stack.resolve(resource));
      if (!text.includes('*')) continue;
      const rule = `IAM5[Resource::${text}]`;
      const others = reasons.get(rule);
      reasons.set(
        rule,
        others === undefined ? reasonOf(statement) : `${others} ${reasonOf(statement)}`,
      );
    }
  }
  acknowledge(role, Object.fromEntries(reasons));
}

function reasonOf({ sid, why, conditions }: Statement): string {
  const keys = Object.values(conditions ?? {}).flatMap((each) => Object.keys(each));
  const bound = keys.length === 0 ? '' : ` Bound by ${keys.join(', ')}.`;
  return `${sid}: ${why}${bound}`;
}

/** A resolved text in one line, as the checks write it: `arn:<AWS::Partition>:…/<Id.Arn>`. */
function flat(resolved: unknown): string {
  if (typeof resolved === 'string') return resolved;
  if (typeof resolved !== 'object' || resolved === null) return '';
  const join: unknown = Reflect.get(resolved, 'Fn::Join');
  if (Array.isArray(join) && Array.isArray(join[1])) return join[1].map(flat).join(String(join[0]));
  const attribute: unknown = Reflect.get(resolved, 'Fn::GetAtt');
  if (Array.isArray(attribute)) return `<${attribute.join('.')}>`;
  return `<${String(Reflect.get(resolved, 'Ref'))}>`;
}
