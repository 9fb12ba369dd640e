import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { parse } from 'yaml';
import packageJson from '../../package.json' with { type: 'json' };
import { dnsSuffixOf } from '../aws-regions.ts';
import { BadInput, reporting, unreadable } from '../bad-input.ts';
import { collect } from '../simulate/variables.ts';
import { writeOut } from '../terminal.ts';

interface Options {
  readonly cluster: string;
  readonly bucket: string;
  readonly region?: string;
  readonly set: readonly string[];
  readonly settings?: string;
  readonly prefix: string;
  readonly output: string;
}

/** `PROP=VALUE`, whose value may have further signs of equality. */
function pairOf(text: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1) throw new BadInput([`--set ${text}: expected PROP=VALUE`]);
  return [text.slice(0, at), text.slice(at + 1)];
}

function parsed(file: string): unknown {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw unreadable(file, error);
  }
  try {
    return parse(text);
  } catch (error) {
    throw new BadInput([`${file}: ${error instanceof Error ? error.message : String(error)}`]);
  }
}

/** Props of a file of JSON or YAML, such as the key `context` of cdk.json has. */
function settingsIn(file: string): Readonly<Record<string, unknown>> {
  const settings = parsed(file);
  if (typeof settings !== 'object' || settings === null || Array.isArray(settings)) {
    throw new BadInput([`${file}: expected an object of props and their values`]);
  }
  return { ...settings };
}

/** Where what is written goes. */
type Place = Pick<Options, 'bucket' | 'prefix' | 'output'> & { readonly region?: string };

/** https://docs.aws.amazon.com/AWSCloudFormation/latest/UserGuide/cfn-console-create-stacks-quick-create-links.html */
function quickCreateLink({ bucket, prefix, region = 'REGION' }: Place, stackName: string): string {
  const host = region.startsWith('cn-') ? 'console.amazonaws.cn' : 'console.aws.amazon.com';
  const templateURL = `https://${bucket}.s3.${region}.${dnsSuffixOf(region)}/${prefix}template.json`;
  const query = new URLSearchParams({ templateURL, stackName });
  return `https://${host}/cloudformation/home?region=${region}#/stacks/create/review?${query}`;
}

/** As a shell reads it, in quotes where it has to be. */
function shellWord(text: string): string {
  return /^[\w./:@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

function nextSteps(place: Place, stackName: string): string {
  const { bucket, prefix } = place;
  const output = shellWord(place.output);
  const region = place.region === undefined ? '' : ` --region ${place.region}`;
  return `Next:
  aws s3 cp${region} --recursive ${output}/${prefix} s3://${bucket}/${prefix}
  aws cloudformation deploy${region} --stack-name ${stackName} \\
    --template-file ${output}/template.json --s3-bucket ${bucket} \\
    --capabilities CAPABILITY_NAMED_IAM
Or, for Terraform (joiner export terraform) and the console, with the template in the bucket, too:
  aws s3 cp${region} ${output}/template.json s3://${bucket}/${prefix}template.json
  ${quickCreateLink(place, stackName)}
`;
}

/** The settings of all options together; what names the cluster or the region twice has to agree. */
function propsOf(options: Options): Readonly<Record<string, unknown>> {
  const given: Readonly<Record<string, unknown>> = {
    ...(options.settings === undefined ? {} : settingsIn(options.settings)),
    ...Object.fromEntries(options.set.map(pairOf)),
  };
  const { cluster, region } = options;
  const own = { cluster, ...(region === undefined ? {} : { region }) };
  const faults = Object.entries(own).flatMap(([name, value]) => {
    const other = given[name] ?? value;
    return other === value ? [] : [`--${name} is "${value}", but the settings have "${other}"`];
  });
  if (faults.length > 0) throw new BadInput(faults);
  return { ...given, ...own };
}

async function run(options: Options): Promise<number> {
  const { bucket, prefix, output } = options;
  const props = propsOf(options);
  const request = { props, bucket, prefix, folder: resolve(output) };
  const { templateFaults, writeTemplate } = await import('../../infra/template.ts');
  const faults = templateFaults(request);
  if (faults.length > 0) throw new BadInput(faults);
  const { stackName, files } = writeTemplate(request);
  for (const { path, bytes } of files) {
    writeOut(`${output}/${path}  ${Math.ceil(bytes / 1024)} KB\n`);
  }
  const { region } = props;
  const place = { bucket, prefix, output, ...(typeof region === 'string' ? { region } : {}) };
  writeOut(nextSteps(place, stackName));
  return 0;
}

/** `joiner template`: the stack of a cluster for CloudFormation and Terraform. */
export function templateCommand(): Command {
  return new Command('template')
    .description('write the CloudFormation template of a cluster, and the code of the functions')
    .requiredOption('--cluster <name>', 'the EKS cluster that the template is for')
    .requiredOption('--bucket <bucket>', "an S3 bucket for the code, in the stack's region")
    .option('--region <region>', "the cluster's region; default: the region of the deployment")
    .option('--set <prop=value>', 'a setting of the stack; may be repeated', collect, [])
    .option('--settings <file>', 'settings of the stack, as an object in JSON or YAML')
    .option('--prefix <prefix>', 'of the code in the bucket', `joiner/${packageJson.version}/`)
    .option('-o, --output <folder>', 'where to write; emptied before', 'joiner-template')
    .addHelpText(
      'after',
      '\nThe command needs neither AWS credentials nor the CDK. It prints the commands that create the\n' +
        'stack. --set overrides --settings. Give all settings again at each upgrade.',
    )
    .action((options: Options) => reporting(() => run(options)));
}
