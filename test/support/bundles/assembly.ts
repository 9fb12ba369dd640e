import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { App } from 'aws-cdk-lib';
import { Template } from 'aws-cdk-lib/assertions';
import type { JoinerProps } from '../../../infra/constructs/joiner-props.ts';
import { JoinerStack } from '../../../infra/joiner-stack.ts';
import {
  ENV,
  FUNCTION_NAMES,
  type FunctionName,
  OPTIONAL_FUNCTIONS,
} from '../../../shared/contract.ts';
import { property, text } from '../../../shared/kube/list.ts';

/** A function as the synthesised assembly has it. */
export interface DeployedFunction {
  readonly name: FunctionName;
  /** Holds `index.mjs`, as Lambda would unpack it. */
  readonly folder: string;
  /** The template's variables, with what CloudFormation would put into them. */
  readonly environment: Readonly<Record<string, string>>;
}

/** What CloudFormation would answer, by logical id or pseudo parameter. */
export interface Resolved {
  readonly 'AWS::AccountId': string;
  readonly 'AWS::URLSuffix': string;
  readonly bucket: string;
}

const BUCKET_TYPE = 'AWS::S3::Bucket';

/**
 * Synthesises the stack with the functions' bundles, and beside it one that never acts, for its
 * function; `stop` removes the assembly.
 */
export function synthesiseFunctions(
  props: JoinerProps,
  region: string,
  resolved: Resolved,
): { readonly functions: readonly DeployedFunction[]; readonly stop: () => void } {
  const outdir = mkdtempSync(join(tmpdir(), 'joiner-assembly-'));
  const app = new App({ analyticsReporting: false, outdir });
  const env = { region };
  const stack = new JoinerStack(app, 'joiner-demo', { joiner: props, env });
  const shadowed = { cluster: props.cluster, shadow: true };
  const shadow = new JoinerStack(app, 'joiner-demo-shadow', { joiner: shadowed, env });
  app.synth();
  const functions = [
    ...functionsOf(stack, outdir, resolved),
    // The others of that stack are those of the whole one.
    ...functionsOf(shadow, outdir, resolved).filter(({ name }) => name === 'shadow'),
  ];
  const needed = FUNCTION_NAMES.filter((name) => !OPTIONAL_FUNCTIONS.has(name));
  const missing = needed.filter((name) => !functions.some((each) => each.name === name));
  if (missing.length > 0) throw new Error(`the template has no ${missing.join(', ')}`);
  return { functions, stop: () => rmSync(outdir, { recursive: true, force: true }) };
}

function functionsOf(
  stack: JoinerStack,
  outdir: string,
  resolved: Resolved,
): readonly DeployedFunction[] {
  const template = Template.fromStack(stack);
  const resources: unknown = template.toJSON()['Resources'];
  return Object.values(template.findResources('AWS::Lambda::Function')).map((each) =>
    deployed(each, outdir, (value) => resolve(value, resources, resolved)),
  );
}

function deployed(
  resource: unknown,
  outdir: string,
  value: (given: unknown) => string,
): DeployedFunction {
  const properties = property(resource, 'Properties');
  const asset = text(property(property(properties, 'Code'), 'S3Key')).replace(/\.zip$/, '');
  const variables = property(property(properties, 'Environment'), 'Variables');
  const environment = Object.fromEntries(
    Object.entries(Object(variables)).map(([name, given]) => [name, value(given)]),
  );
  const name = FUNCTION_NAMES.find((each) => each === environment[ENV.function]);
  if (name === undefined || asset === '') throw new Error('a function without name or code');
  return { name, folder: join(outdir, `asset.${asset}`), environment };
}

/** Of CloudFormation's functions those that the environment uses. */
function resolve(value: unknown, resources: unknown, resolved: Resolved): string {
  if (typeof value === 'string') return value;
  const reference = text(property(value, 'Ref'));
  if (reference === 'AWS::AccountId' || reference === 'AWS::URLSuffix') return resolved[reference];
  const target = property(resources, reference);
  if (text(property(target, 'Type')) === BUCKET_TYPE) return resolved.bucket;
  const name = text(property(property(target, 'Properties'), 'Name'));
  if (name !== '') return name;
  throw new Error(`the environment has a value that is not understood: ${JSON.stringify(value)}`);
}
