import { Command } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { kindDecoders } from '../../shared/api/kinds.ts';
import { Problems, reporting } from '../bad-input.ts';
import { checkAccount } from '../doctor/check-account.ts';
import { checkCluster, isKnown } from '../doctor/check-cluster.ts';
import { checkNetwork, checkReaches } from '../doctor/check-network.ts';
import { checkStack } from '../doctor/check-stack.ts';
import type { Facts } from '../doctor/facts.ts';
import { gather, type Questions } from '../doctor/gather.ts';
import { decoded } from '../doctor/kubernetes.ts';
import type { Line } from '../doctor/line.ts';
import { probe } from '../doctor/probe.ts';
import {
  type DocumentFormat,
  documentText,
  isDocument,
  type OutputFormat,
  outputOption,
} from '../output.ts';
import { isRegionName, regionExpected } from '../region.ts';
import { loadManifests } from '../simulate/load.ts';
import { collect, variablesOf } from '../simulate/variables.ts';
import { writeErr, writeOut } from '../terminal.ts';

interface Options {
  readonly cluster: string;
  readonly region?: string;
  readonly subnets: readonly string[];
  readonly inside?: boolean;
  readonly probe?: boolean;
  readonly filename: readonly string[];
  readonly var: readonly string[];
  readonly kubeconfig?: string;
  readonly context?: string;
  readonly output: OutputFormat<'text'>;
}

/** What no call tells. */
const NOT_CHECKED: readonly string[] = [
  'EC2 Fleet: fleets of type instant have no quota beside those of their instances; the rate of ' +
    'calls is limited by EC2, and Joiner paces itself',
  'security groups and network ACLs between the functions and the cluster: once deployed, "at work" ' +
    'says whether they let the functions in',
];

function questionsOf(options: Options): Questions {
  const problems = new Problems();
  const { cluster, filename } = options;
  const region = options.region ?? process.env['AWS_REGION'] ?? process.env['AWS_DEFAULT_REGION'];
  if (!/^[0-9A-Za-z][0-9A-Za-z_-]{0,99}$/.test(cluster)) {
    problems.add(`--cluster ${cluster}: expected the name of an EKS cluster`);
  }
  if (region === undefined) problems.add('give --region, or set AWS_REGION');
  else if (!isRegionName(region)) {
    problems.add(`--region ${region}: ${regionExpected(region)}`);
  }
  for (const subnet of options.subnets) {
    if (!/^subnet-[0-9a-f]{8,17}$/.test(subnet)) {
      problems.add(`--subnets ${subnet}: expected an id such as subnet-0123456789abcdef0`);
    }
  }
  const given = variablesOf(options.var, problems);
  const variables = new Map([['CLUSTER_NAME', cluster], ...given]);
  const manifests = problems.collect(() =>
    filename.length === 0 ? [] : loadManifests(filename, region ?? '', variables, note),
  );
  const checked = problems.checked(manifests);
  const decoders = kindDecoders('server');
  const ofKind = (kind: string) => checked.filter((object) => object['kind'] === kind);
  const { kubeconfig, context } = options;
  const isNamed = kubeconfig !== undefined || context !== undefined;
  return {
    cluster,
    region: region ?? '',
    isInside: options.inside === true,
    subnets: options.subnets,
    classes: decoded(ofKind('EC2NodeClass'), decoders.EC2NodeClass),
    pools: decoded(ofKind('NodePool'), decoders.NodePool),
    kubeconfig: isNamed
      ? {
          ...(kubeconfig === undefined ? {} : { kubeconfig }),
          ...(context === undefined ? {} : { context }),
        }
      : undefined,
  };
}

function note(line: string): void {
  writeErr(`joiner: ${line}\n`);
}

/** Every check, in the order in which one builds upon the other. */
export function checkAll(facts: Facts): readonly Line[] {
  // Nothing else can be asked of AWS.
  if (!isKnown(facts)) return [...checkCluster(facts), ...checkReaches(facts)];
  return [
    ...checkCluster(facts),
    ...checkNetwork(facts),
    ...checkAccount(facts),
    ...checkStack(facts),
  ];
}

async function run(options: Options): Promise<number> {
  const facts = await gather(questionsOf(options));
  const probed = options.probe === true ? [await probe(facts)] : [];
  const lines = [...checkAll(facts), ...probed];
  writeOut(isDocument(options.output) ? asDocument(lines, options.output) : asText(lines));
  return lines.some(({ status }) => status === 'FAIL') ? 1 : 0;
}

function counts(lines: readonly Line[]): Readonly<Record<Line['status'], number>> {
  const of = (status: Line['status']): number =>
    lines.filter((line) => line.status === status).length;
  return { OK: of('OK'), WARN: of('WARN'), FAIL: of('FAIL') };
}

function asText(lines: readonly Line[]): string {
  const width = Math.max(...lines.map(({ check }) => check.length));
  const indent = ' '.repeat('WARN  '.length + width + 2);
  const shown = lines.map(({ status, check, message, advice }, at) => {
    const line = `${status.padEnd(4)}  ${check.padEnd(width)}  ${message}\n`;
    // What is said of several lines in a row is said once, below the last of them.
    const isSaid = advice !== '' && advice !== lines[at + 1]?.advice;
    return isSaid ? `${line}${indent}→ ${advice}\n` : line;
  });
  const { OK, WARN, FAIL } = counts(lines);
  const unchecked = NOT_CHECKED.map((each) => `not checked: ${each}\n`).join('');
  return `${shown.join('')}\n${OK} ok, ${WARN} to look at, ${FAIL} to change\n${unchecked}`;
}

function asDocument(lines: readonly Line[], format: DocumentFormat): string {
  const { OK: ok, WARN: warn, FAIL: fail } = counts(lines);
  const checks = lines.map(({ check, status, message, advice }) => ({
    check,
    status,
    message,
    ...(advice === '' ? {} : { advice }),
  }));
  const value = {
    joiner: packageJson.version,
    counts: { ok, warn, fail },
    checks,
    notChecked: NOT_CHECKED,
  };
  return documentText(value, format);
}

/** `joiner doctor`: what stands between a cluster and Joiner, or between Joiner and its work. */
export function doctorCommand(): Command {
  return new Command('doctor')
    .description('check a cluster and an account, before and after cdk deploy')
    .requiredOption('--cluster <name>', 'the EKS cluster')
    .option('--region <region>', "the cluster's region; default: AWS_REGION")
    .option(
      '-f, --filename <paths...>',
      'NodePools and EC2NodeClasses to check before you apply them',
      [],
    )
    .option('--var <name=value>', 'the value of a variable in the manifests', collect, [])
    .option('--subnets <ids...>', "the functions' subnets; default: the cluster's", [])
    .option(
      '--inside',
      "run the network tests from this machine (it must be in the functions' subnets)",
    )
    .option('--probe', 'send a test event through EventBridge and the interruption queue')
    .option('--kubeconfig <file>', 'default: the endpoint that DescribeCluster returns')
    .option('--context <name>', 'a context of the kubeconfig')
    .addOption(outputOption('text'))
    .addHelpText('after', HELP)
    .action((options: Options) => reporting(() => run(options)));
}

const HELP = `
The command is read-only, except for the test event of --probe. It uses the AWS credentials of the
environment, as the aws command does. Exit codes: 0 no check failed, 1 a check failed, 2 bad usage
or bad manifests.`;
