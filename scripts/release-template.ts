import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { JoinerProps } from '../infra/constructs/joiner-props.ts';
import { propFaults } from '../infra/constructs/props-check.ts';
import { propsFromContext } from '../infra/context.ts';
import { stackNameOf } from '../infra/joiner-stack.ts';
import { writeRelease } from '../infra/release.ts';
import packageJson from '../package.json' with { type: 'json' };

const USAGE = `usage: npm run release:template -- --bucket BUCKET -c cluster=NAME [-c PROP=VALUE …]
         [--prefix joiner/${packageJson.version}/] [--out dist/release]
Writes template.json and the functions' code into a folder that it empties before, and prints how
to copy the code to the bucket and create the stack.
`;

/** The stack as a template for CloudFormation and Terraform. */
function main(): void {
  const { values } = parseArgs({
    options: {
      bucket: { type: 'string' },
      prefix: { type: 'string', default: `joiner/${packageJson.version}/` },
      out: { type: 'string', default: 'dist/release' },
      context: { type: 'string', short: 'c', multiple: true, default: [] },
    },
  });
  const joiner = propsFromContext(Object.fromEntries(values.context.map(split)));
  if (values.bucket === undefined) throw new Error('--bucket is missing');
  const { bucket, prefix, out } = values;
  const faults = [...placeFaults(bucket, prefix), ...propFaults(joiner)];
  if (faults.length > 0 || !isJoinerProps(joiner)) throw new Error(faults.join('\n'));
  const folder = resolve(out);
  for (const { path, bytes } of writeRelease({ joiner, bucket, prefix, folder })) {
    process.stdout.write(`${out}/${path}  ${Math.ceil(bytes / 1024)} KB\n`);
  }
  process.stdout.write(nextSteps(out, bucket, prefix, joiner));
}

/** What CloudFormation would refuse, or `aws s3 cp` put elsewhere than the template looks. */
function placeFaults(bucket: string, prefix: string): readonly string[] {
  const faults = propFaults({ cluster: 'any', bucket }).map((each) => `--${each}`);
  if (!/^([\w.-]+\/)+$/.test(prefix) || /(^|\/)\.\.?\//.test(prefix)) {
    faults.push(`--prefix is "${prefix}", but has to be folders that end in /, e.g. joiner/1.0/`);
  }
  return faults;
}

function nextSteps(out: string, bucket: string, prefix: string, joiner: JoinerProps): string {
  const region = joiner.region === undefined ? '' : ` --region ${joiner.region}`;
  return `Next:
  aws s3 cp${region} --recursive ${out}/${prefix} s3://${bucket}/${prefix}
  aws cloudformation deploy${region} --stack-name ${stackNameOf(String(joiner.cluster))} \\
    --template-file ${out}/template.json --capabilities CAPABILITY_NAMED_IAM --s3-bucket ${bucket}
Or, for Terraform (infra/terraform) and for the console, with the template in the bucket as well:
  aws s3 cp${region} ${out}/template.json s3://${bucket}/${prefix}template.json
  ${quickCreateLink(bucket, prefix, joiner)}
`;
}

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-create-stacks-quick-create-links.html */
function quickCreateLink(bucket: string, prefix: string, { region, cluster }: JoinerProps): string {
  const place = region ?? 'REGION';
  const template = `https://${bucket}.s3.${place}.amazonaws.com/${prefix}template.json`;
  const query = new URLSearchParams({
    templateURL: template,
    stackName: stackNameOf(String(cluster)),
  });
  return `https://console.aws.amazon.com/cloudformation/home?region=${place}#/stacks/create/review?${query}`;
}

function split(pair: string): readonly [string, string] {
  if (!pair.includes('=')) throw new Error(`-c ${pair} has no value: write -c ${pair}=VALUE`);
  const at = pair.indexOf('=');
  return [pair.slice(0, at), pair.slice(at + 1)];
}

function isJoinerProps(props: object): props is JoinerProps {
  return propFaults(props).length === 0;
}

try {
  main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${USAGE}`);
  process.exitCode = 2;
}
