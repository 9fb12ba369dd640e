import { existsSync } from 'node:fs';
import { join } from 'node:path';
import * as ec2 from '@aws-sdk/client-ec2';
import * as eks from '@aws-sdk/client-eks';
import * as events from '@aws-sdk/client-eventbridge';
import * as iam from '@aws-sdk/client-iam';
import * as s3api from '@aws-sdk/client-s3';
import * as sqs from '@aws-sdk/client-sqs';
import * as ssm from '@aws-sdk/client-ssm';
import { describe, expect, it } from 'vitest';
import { JOINER_PROPS } from '../../infra/constructs/props-check.ts';
import packageJson from '../../package.json' with { type: 'json' };
import { RESOURCES } from '../../shared/api/resources.ts';
import { root } from '../support/repository.ts';
import { blocksIn, placeOf } from './pages.ts';
import { commandsIn, joinerWords } from './shell.ts';

/** Commands of the pages that need a cluster, an account or another program: names are checked. */

const COMMANDS = blocksIn('sh', 'bash', 'console').flatMap((block) =>
  commandsIn(block.text).map(({ words }) => ({ place: placeOf(block), words })),
);

function of(program: string) {
  return COMMANDS.filter(({ words }) => words[0] === program)
    .map(({ place, words }) => ({ place, words: words.slice(1) }))
    .map((each) => ({ ...each, line: each.words.join(' ') }));
}

/** Services whose SDK is installed; of others the operations that the pages name are listed. */
const CLIENTS: Readonly<Record<string, object>> = { ec2, eks, events, iam, s3api, sqs, ssm };
const OPERATIONS: Readonly<Record<string, readonly string[]>> = {
  sts: ['decode-authorization-message'],
  s3: ['cp', 'ls', 'mb', 'rb', 'sync'],
  cloudformation: [
    'deploy',
    'describe-stack-events',
    'describe-stack-resources',
    'describe-stacks',
    'list-stacks',
    'update-termination-protection',
  ],
  autoscaling: ['describe-auto-scaling-groups'],
  fis: ['create-experiment-template', 'start-experiment'],
  kms: ['create-grant'],
  lambda: [
    'delete-function-concurrency',
    'get-function-configuration',
    'put-function-concurrency',
    'update-function-configuration',
  ],
  logs: ['put-metric-filter', 'tail'],
  cloudwatch: ['describe-alarms'],
  'arc-zonal-shift': ['start-zonal-shift', 'cancel-zonal-shift'],
};

/** Operations of the AWS CLI alone. */
const OF_THE_CLI: readonly string[] = ['eks update-kubeconfig'];

/** `update-cluster-config` → `UpdateClusterConfigCommand`. */
function commandName(operation: string): string {
  const words = operation.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`);
  return `${words.join('')}Command`;
}

function isOperation(service: string, operation: string): boolean {
  if (OF_THE_CLI.includes(`${service} ${operation}`)) return true;
  const client = CLIENTS[service];
  if (client === undefined) return OPERATIONS[service]?.includes(operation) === true;
  const name = commandName(operation);
  return Object.keys(client).some((each) => each.toLowerCase() === name.toLowerCase());
}

/** What of kubectl the pages use. */
const VERBS = [
  'annotate',
  'apply',
  'cordon',
  'create',
  'delete',
  'describe',
  'drain',
  'edit',
  'explain',
  'get',
  'label',
  'logs',
  'patch',
  'rollout',
  'run',
  'scale',
  'uncordon',
  'wait',
];
const KINDS = new Set([
  ...Object.values(RESOURCES).flatMap(({ plural }) => [
    plural,
    plural.replace(/e?s$/, ''),
    plural.slice(0, -1),
  ]),
  'ec2nc',
  'overlays',
  'cb',
  'configmap',
  'events',
  'lease',
  'leases',
  'pdb',
]);

/** The kinds in `get nodeclaims,nodes` and `delete nodepool/default`. */
function kindsOf(words: readonly string[]): readonly string[] {
  const [verb = '', ...rest] = words;
  if (!['get', 'delete', 'describe', 'annotate', 'label', 'patch', 'scale'].includes(verb))
    return [];
  const [first = ''] = rest.filter((word) => !word.startsWith('-'));
  if (rest.includes('-f') && !/^[a-z0-9,]+$/.test(first)) return [];
  return first
    .split('/')
    .slice(0, 1)
    .join('')
    .split(',')
    .filter((kind) => kind !== '');
}

describe('programs that the pages name', () => {
  it.each(of('npm').filter(({ words }) => words[0] === 'run'))('$place: npm $line', ({ words }) => {
    const [name = ''] = words.slice(1).filter((word) => !word.startsWith('-'));
    expect(Object.keys(packageJson.scripts)).toContain(name);
  });

  it.each(of('node').filter(({ words }) => /\.(ts|mjs)$/.test(words[0] ?? '')))(
    '$place: node $line',
    ({ words }) => expect(existsSync(join(root, words[0] ?? ''))).toBe(true),
  );

  it.each(of('npx').filter(({ words }) => words[0] === 'cdk'))('$place: npx $line', ({ words }) => {
    const names = words
      .filter((_word, at) => words[at - 1] === '-c')
      .map((pair) => pair.split('=')[0]);
    const unknown = names.filter(
      (name) =>
        ![...JOINER_PROPS, 'metrics.remoteWrite', 'clusters', 'PROP'].some((p) => p === name),
    );
    expect(unknown).toEqual([]);
    expect(['bootstrap', 'deploy', 'destroy', 'diff', 'synth']).toContain(words[1]);
  });

  it.each(of('aws'))('$place: aws $line', ({ words: [service = '', operation = ''] }) => {
    expect(isOperation(service, operation)).toBe(true);
  });

  it.each(
    of('kubectl').filter(
      ({ words }) => joinerWords({ words: ['kubectl', ...words] }) === undefined,
    ),
  )('$place: kubectl $line', ({ words }) => {
    expect(VERBS).toContain(words[0]);
    expect(kindsOf(words).filter((kind) => !KINDS.has(kind))).toEqual([]);
  });

  it('no operation is allowed that no page names', () => {
    const named = new Set(of('aws').map(({ words }) => `${words[0]} ${words[1]}`));
    const listed = Object.entries(OPERATIONS).flatMap(([service, operations]) =>
      operations.map((operation) => `${service} ${operation}`),
    );
    expect(listed.filter((each) => !named.has(each))).toEqual([]);
  });
});
