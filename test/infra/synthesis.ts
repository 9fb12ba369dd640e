import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App, type Environment, Validations } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { AwsSolutionsChecks } from 'cdk-nag';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { JoinerStack } from '../../infra/joiner-stack.ts';

/** Code that never changes, so that templates show the stack and not the functions' bytes. */
const STAND_IN = mkdtempSync(join(tmpdir(), 'joiner-code-'));
mkdirSync(STAND_IN, { recursive: true });
writeFileSync(join(STAND_IN, 'index.mjs'), 'export const handler = async () => {};\n');

export const standInCode = (): lambda.Code => lambda.Code.fromAsset(STAND_IN);

export interface Synthesised {
  readonly stack: JoinerStack;
  readonly template: Template;
}

/** A stack of the construct alone. With `rules` the checks of AWS Solutions run over it. */
export function synthesise(
  joiner: JoinerProps,
  options: {
    readonly env?: Environment;
    readonly rules?: boolean;
    /** Adds to the stack before it is synthesised. */
    readonly change?: (stack: JoinerStack) => void;
  } = {},
): Synthesised {
  const app = new App({ analyticsReporting: false });
  const stack = new JoinerStack(app, 'joiner-demo', {
    joiner: { code: standInCode, ...joiner },
    ...(options.env === undefined ? {} : { env: options.env }),
  });
  options.change?.(stack);
  if (options.rules === true) Validations.of(app).addPlugins(new AwsSolutionsChecks(app));
  app.synth();
  return { stack, template: Template.fromStack(stack) };
}

type Properties = Readonly<Record<string, unknown>>;

/** Properties of all resources of a type, by logical id. */
export function resources(
  { template }: Synthesised,
  type: string,
): ReadonlyMap<string, Properties> {
  return new Map(
    Object.entries(template.findResources(type)).map(([id, each]) => [
      id,
      each['Properties'] ?? {},
    ]),
  );
}
