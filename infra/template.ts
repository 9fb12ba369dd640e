/** What `joiner template` writes: the stack without the CDK's command line. */
import { isJoinerProps, propFaults } from './constructs/props-check.ts';
import { propsFromContext } from './context.ts';
import { stackNameOf } from './joiner-stack.ts';
import { type ReleaseFile, writeRelease } from './release.ts';

export interface TemplateRequest {
  /** Props as the CDK takes them with `-c`, as text, or as values of a settings file. */
  readonly props: Readonly<Record<string, unknown>>;
  /** Holds the functions' code when the stack is created; in its region. */
  readonly bucket: string;
  /** Below which the code is there, such as `joiner/0.1.0/`. */
  readonly prefix: string;
  /** Gets the files; it is emptied before. */
  readonly folder: string;
}

export interface WrittenTemplate {
  readonly stackName: string;
  readonly files: readonly ReleaseFile[];
}

/** Everything that is wrong with a request; none: `writeTemplate` takes it. */
export function templateFaults({ props, bucket, prefix }: TemplateRequest): readonly string[] {
  return [...placeFaults(bucket, prefix), ...propFaults(propsFromContext(props))];
}

/** Writes the template and the functions' code; of a request without `templateFaults`. */
export function writeTemplate({ props, ...place }: TemplateRequest): WrittenTemplate {
  const joiner = propsFromContext(props);
  if (!isJoinerProps(joiner)) throw new Error(propFaults(joiner).join('\n'));
  const files = writeRelease({ joiner, ...place });
  return { stackName: stackNameOf(String(joiner.cluster)), files };
}

/** What CloudFormation would refuse, or `aws s3 cp` put elsewhere than the template looks. */
function placeFaults(bucket: string, prefix: string): readonly string[] {
  const faults = propFaults({ cluster: 'any', bucket }).map((each) => `--${each}`);
  if (!/^([\w.-]+\/)+$/.test(prefix) || /(^|\/)\.\.?\//.test(prefix)) {
    faults.push(`--prefix is "${prefix}", but has to be folders that end in /, e.g. joiner/1.0/`);
  }
  return faults;
}
