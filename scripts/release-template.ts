import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { JoinerProps } from '../infra/constructs/joiner-props.ts';
import { propFaults } from '../infra/constructs/props-check.ts';
import { propsFromContext } from '../infra/context.ts';
import { writeRelease } from '../infra/release.ts';
import packageJson from '../package.json' with { type: 'json' };

const USAGE = `usage: npm run release:template -- --bucket BUCKET -c cluster=NAME [-c PROP=VALUE …]
         [--prefix joiner/${packageJson.version}/] [--out dist/release]
Writes template.json and the functions' code. Copy the code to the bucket, then create the stack:
  aws s3 cp --recursive dist/release/joiner s3://BUCKET/joiner
  aws cloudformation deploy --stack-name joiner-NAME --template-file dist/release/template.json \\
    --capabilities CAPABILITY_NAMED_IAM --s3-bucket BUCKET
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
  const given = new Map(values.context.map((pair) => split(pair)));
  const joiner = propsFromContext((name) => given.get(name));
  if (values.bucket === undefined) throw new Error('--bucket is missing');
  if (!isJoinerProps(joiner)) throw new Error(propFaults(joiner).join('\n'));
  const folder = join(process.cwd(), values.out);
  const { bucket, prefix } = values;
  for (const { path, bytes } of writeRelease({ joiner, bucket, prefix, folder })) {
    process.stdout.write(`${values.out}/${path}  ${Math.ceil(bytes / 1024)} KB\n`);
  }
}

function split(pair: string): readonly [string, string] {
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
