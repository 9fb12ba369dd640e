import { App, Duration, Lazy, Stack } from 'aws-cdk-lib';
import * as olderEks from 'aws-cdk-lib/aws-eks';
import * as eks from 'aws-cdk-lib/aws-eks-v2';
import * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import { Construct } from 'constructs';
import { describe, expect, it } from 'vitest';
import { Joiner } from '../../infra/constructs/joiner.ts';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { JOINER_PROPS } from '../../infra/constructs/props-check.ts';
import { propsFromContext } from '../../infra/context.ts';
import { isSettingKey, settingOf } from '../../shared/contract/settings.ts';
import { standInCode, synthesise } from './synthesis.ts';

/** What is said about props that nobody checks at compile time: those of `-c`. */
function refusal(
  props: Readonly<Record<string, unknown>>,
  region?: string,
  account = '111122223333',
): string {
  const env = region === undefined ? {} : { env: { region, account } };
  const stack = new Stack(new App(), 'stack', env);
  try {
    new Joiner(stack, 'Joiner', Object.assign({ cluster: 'demo', code: standInCode }, props));
  } catch (error) {
    return String(error);
  }
  return '';
}

type Row = readonly [prop: string, value: unknown, shown: string, allowed: string];

const IAM = 'arn:aws:iam::111122223333';
const IAM_CN = 'arn:aws-cn:iam::999988887777:role/a';
const EU_KMS = 'arn:aws:kms:eu-west-1:111122223333';
const EU_SNS = 'arn:aws:sns:eu-west-1:111122223333';

const NONSENSE: readonly Row[] = [
  ['cluster', undefined, 'undefined', 'the name of an EKS cluster'],
  ['cluster', 'my cluster', '"my cluster"', 'letters, digits, - and _, at most 100'],
  ['cluster', 'x'.repeat(101), `"${'x'.repeat(101)}"`, 'at most 100'],
  ['cluster', 7, '7', 'the name of an EKS cluster'],
  ['region', 'Ireland', '"Ireland"', 'such as eu-west-1'],
  ['shadow', 'yes', '"yes"', 'true or false'],
  ['reaction', 'poll', '"poll"', "'watch' or 'tick'"],
  ['memorySizes', { provision: 64 }, '{"provision":64}', 'a whole number from 128 to 10240'],
  ['memorySizes', { provide: 512 }, '{"provide":512}', 'an object from watch, provision,'],
  ['memorySizes', 512, '512', 'an object from watch, provision,'],
  ['endpoint', 'internal', '"internal"', "'public' or 'private'"],
  ['subnets', 'subnet-1', '"subnet-1"', 'a list of subnets'],
  ['subnets', [], '[]', 'a list of subnets'],
  ['subnets', ['vpc-1'], '["vpc-1"]', 'ids such as subnet-0123456789abcdef0'],
  ['securityGroups', ['default'], '["default"]', 'an id such as sg-0123456789abcdef0'],
  ['clusterSecurityGroup', 'default', '"default"', 'an id such as sg-0123456789abcdef0'],
  ['isolatedVpc', 'yes', '"yes"', 'true or false'],
  ['featureGates', { DRA: true }, '{"DRA":true}', 'an object from ReservedCapacity,'],
  ['featureGates', { NodeRepair: 'on' }, '{"NodeRepair":"on"}', 'true or false'],
  ['batchIdleDuration', 300, '300', 'a Duration from 0s to 1m'],
  ['batchIdleDuration', Duration.hours(1), '1h', 'from 0s to 1m'],
  ['batchMaxDuration', '3 s', '"3 s"', 'a Duration from 0s to 1m'],
  ['preferencePolicy', 'Maybe', '"Maybe"', "'Respect' or 'Ignore'"],
  ['minValuesPolicy', 'Loose', '"Loose"', "'Strict' or 'BestEffort'"],
  ['preferenceWorthZone', -0.1, '-0.1', 'a number from 0 to 10'],
  ['consolidationHorizon', '2 h', '"2 h"', 'from 0s to 30d (on the command line such as 4h)'],
  ['evictionPrice', -1, '-1', 'a number from 0 to 1000'],
  ['limitGroups', 'batch', '"batch"', 'limit groups such as'],
  ['limitGroups', '', '""', '"none", or limit groups such as'],
  ['limitGroups', 'all nodes=2 nodes=5', '"all nodes=2 nodes=5"', 'each resource once'],
  ['limitGroups', 'All nodes=5', '"All nodes=5"', 'every NodePool written "all"'],
  ['nodePrice', -0.1, '-0.1', 'a number from 0 to 1000'],
  ['preferenceWorthOther', '2%', '"2%"', 'a number from 0 to 10'],
  ['vmMemoryOverhead', 7.5, '7.5', 'a number from 0 to 0.9'],
  ['vmMemoryOverhead', Number.NaN, 'NaN', 'a number from 0 to 0.9'],
  ['reservedEnis', 1.5, '1.5', 'a whole number from 0 to 100'],
  ['maxLaunchesPerMinute', 0, '0', 'a whole number from 1 to 10000'],
  ['maxTerminationsPerMinute', -5, '-5', 'a whole number from 1 to 10000'],
  ['logLevel', 'verbose', '"verbose"', "'DEBUG' or 'INFO' or 'WARN' or 'ERROR'"],
  ['logRetentionDays', 31, '31', '1, 3, 5, 7, 14, 30, 60, 90'],
  ['dataRetentionDays', 0, '0', 'a whole number from 1 to 3650'],
  [
    'metrics',
    'all',
    '"all"',
    'an object with remoteWrite: { endpoint, secret, perPod } (on the command',
  ],
  ['decisionEvents', 'some', '"some"', "'changes' or 'all'"],
  ['nodeRoles', ['nodes'], '["nodes"]', "a list of a role's ARN"],
  ['imageParameters', ['golden'], '["golden"]', 'names of SSM parameters such as /images/golden'],
  ['leaveNodes', 'yes', '"yes"', 'true or false'],
  ['bucket', 'My_Bucket', '"My_Bucket"', "a bucket's name or construct"],
  ['encryptionKey', 'alias/key', '"alias/key"', 'arn:aws:kms:eu-west-1:111122223333:key/'],
  ...['queueEncryptionKey', 'logEncryptionKey', 'busEncryptionKey'].map(
    (prop) =>
      [prop, 'alias/key', '"alias/key"', 'arn:aws:kms:eu-west-1:111122223333:key/'] as const,
  ),
  ['alarms', 'none', '"none"', 'true or false'],
  ['alarmTopic', 'alarms', '"alarms"', 'arn:aws:sns:eu-west-1:111122223333:alarms'],
  ['dashboard', 1, '1', 'true or false'],
  ['permissionsBoundary', 'boundary', '"boundary"', 'arn:aws:iam::111122223333:policy/'],
  ['nodeRole', 'EksNodes', '"EksNodes"', 'arn:aws:iam::111122223333:role/'],
  ['nodeRole', `${IAM}:role/*`, `"${IAM}:role/*"`, "a role's ARN such as"],
  ['nodeRole', `x ${IAM}:role/a`, `"x ${IAM}:role/a"`, "a role's ARN such as"],
  ['nodeRole', { roleArn: `${IAM}:role/*` }, `{"roleArn":"${IAM}:role/*"}`, "a role's ARN"],
  ['encryptionKey', `${EU_KMS}:key/*`, `"${EU_KMS}:key/*"`, "a key's ARN such as"],
  ['encryptionKey', `${EU_KMS}:key/`, `"${EU_KMS}:key/"`, "a key's ARN such as"],
  ['alarmTopic', `${EU_SNS}:*`, `"${EU_SNS}:*"`, "a topic's ARN such as"],
  ['alarmTopic', `${EU_SNS}:a:b`, `"${EU_SNS}:a:b"`, "a topic's ARN such as"],
  ['permissionsBoundary', `${IAM}:policy/a b`, `"${IAM}:policy/a b"`, "a policy's ARN such as"],
  ['permissionsBoundary', `${IAM}:policy/?`, `"${IAM}:policy/?"`, "a policy's ARN such as"],
  ['region', 'zz-nowhere-9', '"zz-nowhere-9"', 'such as eu-west-1'],
  ['region', 'us-gov-west-1', '"us-gov-west-1"', 'others are not supported'],
  ['subnets', [{ subnetId: '' }], '[{"subnetId":""}]', 'a list of subnets'],
  ['securityGroups', [{ securityGroupId: 1 }], '[{"securityGroupId":1}]', 'a security group'],
  ['cluster', { clusterName: 5 }, '{"clusterName":5}', 'the name of an EKS cluster'],
  ['cluster', { clusterName: '' }, '{"clusterName":""}', 'the name of an EKS cluster'],
  ['batchIdleDuration', '1h', '"1h"', 'on the command line such as 300ms'],
  ['memorySizes', 'big', '"big"', 'on the command line provision=3008'],
  ['nodeRoleEntry', 'no', '"no"', 'true or false'],
  ['windowsNodes', 'no', '"no"', 'true or false'],
  ['reservedConcurrency', { watch: 0 }, '{"watch":0}', 'a whole number from 1 to 1000'],
  ['installerAccess', null, 'null', 'true or false'],
  ['installCrds', 'no', '"no"', 'true or false'],
  ['code', 'code.zip', '"code.zip"', 'a function from a name to Code'],
];

describe('a prop that is nonsense', () => {
  it.each(NONSENSE)('%s: %j', (prop, value, shown, allowed) => {
    const said = refusal({ [prop]: value });
    expect(said).toContain(`${prop} is ${shown}, but has to be `);
    expect(said).toContain(allowed);
  });

  it('is in the table for every prop that is no setting', () => {
    const covered = new Set(NONSENSE.map(([prop]) => prop));
    const missing = JOINER_PROPS.filter((prop) => !covered.has(prop) && !isSettingKey(prop));
    expect(missing).toEqual([]);
  });

  it.each(JOINER_PROPS.filter(isSettingKey))('%s: nonsense, as every setting refuses it', (key) => {
    expect(refusal({ [key]: '-1 of it' })).toContain(`${key} is "-1 of it", but has to be `);
    const words = settingOf(key).kind.words.toLowerCase();
    expect(refusal({ [key]: null }).toLowerCase()).toContain(words);
  });

  it('is told when it does not exist', () => {
    const said = refusal({ memorySize: 512, Endpont: 'private' });
    expect(said).toContain('memorySize is not a prop of Joiner (did you mean memorySizes?). The');
    expect(said).toContain('Endpont is not a prop of Joiner (did you mean endpoint?)');
  });

  it('is told with no other name where none is near', () => {
    expect(refusal({ karpenter: true })).toContain('karpenter is not a prop of Joiner. The props');
  });

  it('is told together with all others', () => {
    const said = refusal({ reaction: 'poll', logLevel: 'loud', reservedEnis: -1 });
    expect(said.split('\n')).toHaveLength(4);
  });
});

const SUBNETS = ['subnet-0a0a0a0a0a0a0a0a0'];
const GROUPS = ['sg-0c0c0c0c0c0c0c0c0'];

describe('props that do not go together', () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['private without subnets', { endpoint: 'private', securityGroups: GROUPS }, 'subnets is'],
    ['private without groups', { endpoint: 'private', subnets: SUBNETS }, 'securityGroups is'],
    ['subnets for nothing', { subnets: SUBNETS }, "a meaning only where endpoint is 'private'"],
    [
      'an idle time beyond the longest',
      { batchIdleDuration: Duration.seconds(5) },
      'batchIdleDuration is 5s, but has to be at most batchMaxDuration, 3s',
    ],
    [
      'a shared limit group without a bucket in common',
      { limitGroups: 'batch nodes=3 shared; all nodes=9' },
      'bucket is undefined, but has to be given where limitGroups shares a group (batch)',
    ],
    [
      'a topic without alarms',
      { alarms: false, alarmTopic: 'arn:aws:sns:eu-west-1:111122223333:alarms' },
      'alarmTopic is given, but alarms is false',
    ],
    ['nobody lets the nodes in', { nodeRoleEntry: false }, 'nodeRoleEntry is false'],
    [
      'a watch that cannot hand over',
      { reservedConcurrency: { watch: 1 } },
      'has to be 2 at least',
    ],
    [
      'rules of a bucket that is not the stack’s',
      { bucket: 'shared-memory', dataRetentionDays: 7 },
      'dataRetentionDays is 7, but bucket is given',
    ],
    [
      'memory of a watch that there is not',
      { reaction: 'tick', memorySizes: { watch: 512 } },
      'memorySizes.watch is given, but there is no watch',
    ],
    [
      'concurrency of a watch that there is not',
      { reaction: 'tick', reservedConcurrency: { watch: 2 } },
      'reservedConcurrency.watch is given, but there is no watch',
    ],
    ['a key of elsewhere', { region: 'us-east-1', encryptionKey: `${EU_KMS}:key/1` }, 'us-east-1'],
    ['no code', { code: () => undefined }, 'code gave undefined for watch'],
  ])('%s', (_, props, message) => {
    expect(refusal(props)).toContain(message);
  });

  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['a topic of another region', { alarmTopic: `${EU_SNS}:a` }, 'alarmTopic is "arn:aws:sns:eu'],
    ['a key of another region', { encryptionKey: `${EU_KMS}:key/1` }, 'encryptionKey is "arn:'],
    ['a log key of another region', { logEncryptionKey: `${EU_KMS}:key/1` }, 'logEncryptionKey is'],
    ['a role of another partition', { nodeRole: IAM_CN }, 'has to be of aws us-east-1'],
    ['a role of another account', { nodeRole: `${IAM}:role/a` }, 'account 999988887777'],
  ])('%s than the stack', (_, props, message) => {
    expect(refusal(props, 'us-east-1', '999988887777')).toContain(message);
  });

  it('a stack where there are neither prices nor a catalog', () => {
    expect(refusal({}, 'us-gov-west-1')).toContain('the stack is in us-gov-west-1, but Joiner');
  });

  it('a region that is not the stack’s', () => {
    const said = refusal({ region: 'eu-west-1' }, 'us-east-1');
    expect(said).toContain('region is "eu-west-1", but the stack is in us-east-1');
  });
});

describe('a cluster of the same app', () => {
  const version = eks.KubernetesVersion.of('1.34');

  function withCluster(props: { readonly clusterName?: string }): Stack {
    const stack = new Stack(new App(), 'stack');
    const cluster = new eks.Cluster(stack, 'Cluster', { ...props, version });
    new Joiner(stack, 'Joiner', { cluster, code: standInCode });
    return stack;
  }

  it('is taken when its name is given', () => {
    const joiner = withCluster({ clusterName: 'demo' }).node.findChild('Joiner');
    expect(joiner instanceof Joiner && joiner.clusterName).toBe('demo');
  });

  it('is refused when its name is only known later', () => {
    expect(() => withCluster({})).toThrow('give it an explicit clusterName');
  });

  it('may be one of the older module, which makes it by a custom resource', () => {
    const made = (name: object): Joiner => {
      const stack = new Stack(new App(), 'stack');
      const code = standInCode();
      const kubectlLayer = new lambda.LayerVersion(stack, 'Layer', { code });
      const older = { kubectlLayer, version: olderEks.KubernetesVersion.of('1.34'), ...name };
      const cluster = new olderEks.Cluster(stack, 'Cluster', older);
      return new Joiner(stack, 'Joiner', { cluster, code: standInCode });
    };
    expect(made({ clusterName: 'demo' }).clusterName).toBe('demo');
    expect(() => made({})).toThrow('give it an explicit clusterName');
  });
});

it.each(['encryptionKey', 'queueEncryptionKey', 'logEncryptionKey', 'busEncryptionKey'])(
  'an alias is refused as %s: roles cannot be allowed a key by it',
  (name) => {
    const stack = new Stack(new App(), 'stack');
    const made = new kms.Key(stack, 'Key').addAlias('joiner');
    const found = kms.Alias.fromAliasName(stack, 'Alias', 'alias/joiner');
    for (const alias of [made, found]) {
      expect(refusal({ [name]: alias })).toContain('or construct, not its alias');
    }
  },
);

describe('an app with a copy of CDK of its own', () => {
  it('gives durations and code whose classes are not ours', () => {
    const ofAnotherCopy = { toMilliseconds: () => 500, toString: () => 'Duration.millis(500)' };
    const code = () => {
      const ours = standInCode();
      return { isInline: false, bind: ours.bind.bind(ours), bindToResource() {} };
    };
    expect(refusal({ batchIdleDuration: ofAnotherCopy, code })).toBe('');
    const tooLong = { ...ofAnotherCopy, toMilliseconds: () => 70_000 };
    expect(refusal({ batchMaxDuration: tooLong })).toContain('batchMaxDuration is 70s');
  });

  it('makes clusters whose resources are not of our class', () => {
    const stack = new Stack(new App(), 'stack');
    const cluster = Object.assign(new Construct(stack, 'Cluster'), {
      clusterName: Lazy.string({ produce: () => 'demo' }),
      clusterSecurityGroupId: 'sg-0a0a0a0a0a0a0a0a0',
    });
    const resource = { cfnResourceType: 'AWS::EKS::Cluster', name: 'demo' };
    Object.assign(new Construct(cluster, 'Resource'), resource);
    const joiner = new Joiner(stack, 'Joiner', { cluster, code: standInCode });
    expect(joiner.clusterName).toBe('demo');
  });
});

describe('props of the command line', () => {
  const read = propsFromContext;

  it('are read as what they are', () => {
    expect(
      read({
        cluster: '1234',
        subnets: 'subnet-1, subnet-2',
        memorySizes: 'provision=3008, watch = 512',
        featureGates: 'NodeRepair=true',
        batchIdleDuration: '500ms',
        batchMaxDuration: '5s',
        consolidationHorizon: '4h',
        alarms: 'false',
        vmMemoryOverhead: '0.05',
        reaction: 'tick',
        '@aws-cdk/core:stackRelativeExports': true,
        'aws:cdk:enable-path-metadata': true,
        'cli-telemetry': false,
        preferenceWorthZone: '1e-7',
      }),
    ).toEqual({
      cluster: '1234',
      subnets: ['subnet-1', 'subnet-2'],
      memorySizes: { provision: 3008, watch: 512 },
      featureGates: { NodeRepair: true },
      batchIdleDuration: Duration.millis(500),
      batchMaxDuration: Duration.millis(5000),
      consolidationHorizon: Duration.millis(14_400_000),
      alarms: false,
      vmMemoryOverhead: 0.05,
      preferenceWorthZone: 1e-7,
      reaction: 'tick',
    });
  });

  it.each<readonly [string, number]>([
    ['0s', 0],
    ['300ms', 300],
    ['90m', 5_400_000],
    ['4h', 14_400_000],
    ['1h30m', 5_400_000],
    ['30d', 2_592_000_000],
  ])('are durations in every unit: %s', (text, ms) => {
    const { consolidationHorizon } = read({ consolidationHorizon: text });
    expect(consolidationHorizon).toEqual(Duration.millis(ms));
    expect(refusal({ consolidationHorizon })).toBe('');
  });

  it('are shown as they were written where they are out of range', () => {
    const said = refusal(read({ consolidationHorizon: '31d', batchIdleDuration: '2m' }));
    expect(said).toContain(
      'consolidationHorizon is "31d", but has to be a Duration from 0s to 30d',
    );
    expect(said).toContain('batchIdleDuration is "2m", but has to be a Duration from 0s to 1m');
  });

  it('are passed on when nothing is called so, and refused with the nearest name', () => {
    const said = refusal(read({ cluster: 'demo', endpont: 'private' }));
    expect(said).toContain('endpont is not a prop of Joiner (did you mean endpoint?)');
  });

  it('are passed on as they are when they cannot be read, and refused with the rest', () => {
    const props = read({ cluster: 'demo', memorySizes: 'large', batchMaxDuration: 'long' });
    const said = refusal(props);
    expect(said).toContain('memorySizes is "large", but has to be an object from watch');
    expect(said).toContain('batchMaxDuration is "long", but has to be a Duration');
  });
});

it('the least that can be said is the name of the cluster', () => {
  const props: JoinerProps = { cluster: 'demo' };
  expect(() => synthesise(props)).not.toThrow();
});
