import { createHash } from 'node:crypto';
import { Stack } from 'aws-cdk-lib';
import type { Construct, IConstruct } from 'constructs';

/**
 * Eight characters for what a prop names: the same ones wherever in a list it is. A token is
 * resolved, since the number in its text counts what the app has made before it.
 */
export function referenceId(scope: Construct, given: string | IConstruct): string {
  const name: unknown =
    typeof given === 'string' ? Stack.of(scope).resolve(given) : given.node.path;
  const text = typeof name === 'string' ? name : JSON.stringify(name);
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
