import { App, Duration, Stack } from 'aws-cdk-lib';
import * as eks from 'aws-cdk-lib/aws-eks-v2';
import { describe, expect, it } from 'vitest';
import { Joiner } from '../../infra/constructs/joiner.ts';
import { JOINER_PROPS, type JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { propsFromContext } from '../../infra/context.ts';
import { standInCode, synthesise } from './synthesis.ts';

/** What is said about props that nobody checks at compile time: those of `-c`. */
function refusal(props: Readonly<Record<string, unknown>>, region?: string): string {
  const env = region === undefined ? {} : { env: { region } };
  const stack = new Stack(new App(), 'stack', env);
  try {
    new Joiner(stack, 'Joiner', Object.assign({ cluster: 'demo', code: standInCode }, props));
  } catch (error) {
    return String(error);
  }
  return '';
}

type Row = readonly [prop: string, value: unknown, shown: string, allowed: string];

const NONSENSE: readonly Row[] = [
  ['cluster', undefined, 'undefined', 'the name of an EKS cluster'],
  ['cluster', 'my cluster', '"my cluster"', 'letters, digits, - and _, at most 100'],
  ['cluster', 'x'.repeat(101), `"${'x'.repeat(101)}"`, 'at most 100'],
  ['cluster', 7, '7', 'the name of an EKS cluster'],
  ['region', 'Ireland', '"Ireland"', 'such as eu-west-1'],
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
  ['batchIdleDuration', 300, '300', 'a Duration from 0 ms to 60000 ms'],
  ['batchIdleDuration', Duration.hours(1), 'Duration.hours(1)', 'from 0 ms to 60000 ms'],
  ['batchMaxDuration', '3 s', '"3 s"', 'a Duration from 0 ms to 60000 ms'],
  ['preferencePolicy', 'Maybe', '"Maybe"', "'Respect' or 'Ignore'"],
  ['minValuesPolicy', 'Loose', '"Loose"', "'Strict' or 'BestEffort'"],
  ['preferenceWorthZone', -0.1, '-0.1', 'a number from 0 to 10'],
  ['preferenceWorthOther', '2%', '"2%"', 'a number from 0 to 10'],
  ['vmMemoryOverhead', 7.5, '7.5', 'a number from 0 to 0.9'],
  ['vmMemoryOverhead', Number.NaN, 'NaN', 'a number from 0 to 0.9'],
  ['reservedEnis', 1.5, '1.5', 'a whole number from 0 to 100'],
  ['maxLaunchesPerMinute', 0, '0', 'a whole number from 1 to 10000'],
  ['maxTerminationsPerMinute', -5, '-5', 'a whole number from 1 to 10000'],
  ['logLevel', 'verbose', '"verbose"', "'DEBUG' or 'INFO' or 'WARN' or 'ERROR'"],
  ['logRetentionDays', 31, '31', '1, 3, 5, 7, 14, 30, 60, 90'],
  ['dataRetentionDays', 0, '0', 'a whole number from 1 to 3650'],
  ['bucket', 'My_Bucket', '"My_Bucket"', "a bucket's name or construct"],
  ['encryptionKey', 'alias/key', '"alias/key"', 'arn:aws:kms:eu-west-1:111122223333:key/'],
  ['alarms', 'none', '"none"', 'true or false'],
  ['alarmTopic', 'alarms', '"alarms"', 'arn:aws:sns:eu-west-1:111122223333:alarms'],
  ['dashboard', 1, '1', 'true or false'],
  ['permissionsBoundary', 'boundary', '"boundary"', 'arn:aws:iam::111122223333:policy/'],
  ['nodeRole', 'EksNodes', '"EksNodes"', 'arn:aws:iam::111122223333:role/'],
  ['nodeRoleEntry', 'no', '"no"', 'true or false'],
  ['windowsNodes', 'no', '"no"', 'true or false'],
  ['reservedConcurrency', { watch: 0 }, '{"watch":0}', 'a whole number from 1 to 1000'],
  ['installerAccess', null, 'null', 'true or false'],
  ['code', 'code.zip', '"code.zip"', 'a function from a name to Code'],
];

describe('a prop that is nonsense', () => {
  it.each(NONSENSE)('%s: %j', (prop, value, shown, allowed) => {
    const said = refusal({ [prop]: value });
    expect(said).toContain(`${prop} is ${shown}, but has to be `);
    expect(said).toContain(allowed);
  });

  it('is in the table for every prop', () => {
    const covered = new Set(NONSENSE.map(([prop]) => prop));
    expect(JOINER_PROPS.filter((prop) => !covered.has(prop))).toEqual([]);
  });

  it('is told when it does not exist', () => {
    expect(refusal({ memory: 512 })).toContain('memory is no prop of Joiner; the props are');
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
      'batchIdleDuration is 5000 ms, but has to be at most batchMaxDuration, 3000 ms',
    ],
    [
      'a topic without alarms',
      { alarms: false, alarmTopic: 'arn:aws:sns:eu-west-1:111122223333:alarms' },
      'alarmTopic is given, but alarms is false',
    ],
  ])('%s', (_, props, message) => {
    expect(refusal(props)).toContain(message);
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
});

describe('props of the command line', () => {
  const read = (given: Readonly<Record<string, unknown>>) =>
    propsFromContext((name) => given[name]);

  it('are read as what they are', () => {
    expect(
      read({
        cluster: '1234',
        subnets: 'subnet-1,subnet-2',
        memorySizes: 'provision=3008,watch=512',
        featureGates: 'NodeRepair=true',
        batchIdleDuration: '500ms',
        batchMaxDuration: '5s',
        alarms: 'false',
        vmMemoryOverhead: '0.05',
        reaction: 'tick',
        unrelated: 'x',
      }),
    ).toEqual({
      cluster: '1234',
      subnets: ['subnet-1', 'subnet-2'],
      memorySizes: { provision: 3008, watch: 512 },
      featureGates: { NodeRepair: true },
      batchIdleDuration: Duration.millis(500),
      batchMaxDuration: Duration.seconds(5),
      alarms: false,
      vmMemoryOverhead: 0.05,
      reaction: 'tick',
    });
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
