import * as lambda from 'aws-cdk-lib/aws-lambda';
import type { FunctionName } from '../../shared/contract.ts';
import { bundleFunctionsNow } from '../bundle.ts';

/** What the functions run, bundled now. */
export function bundledCode(names: readonly FunctionName[]): (name: FunctionName) => lambda.Code {
  const folders = bundleFunctionsNow(names);
  return (name) => lambda.Code.fromAsset(folders.get(name) ?? '');
}

/** By what it can do: an app's own copy of CDK has a class of its own. */
export function codeOf(name: FunctionName, code: (name: FunctionName) => unknown): lambda.Code {
  const given = code(name);
  if (isCode(given)) return given;
  throw new Error(`code gave ${typeof given} for ${name}, but has to give a Code of aws-lambda`);
}

function isCode(given: unknown): given is lambda.Code {
  if (typeof given !== 'object' || given === null) return false;
  return typeof Reflect.get(given, 'bind') === 'function';
}
