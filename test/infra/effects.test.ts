import { describe, expect, it } from 'vitest';
import type { JoinerProps } from '../../infra/constructs/joiner-props.ts';
import { JOINER_PROPS } from '../../infra/constructs/props-check.ts';
import { isSettingKey } from '../../shared/contract/settings.ts';
import { ENV } from '../../shared/contract.ts';
import { resources, type Synthesised, standInCode, synthesise } from './synthesis.ts';

/** What a prop changes of the template, as a text that has to be there with it and not without. */
type Row = readonly [
  prop: keyof JoinerProps,
  props: Omit<JoinerProps, 'cluster'>,
  type: string,
  text: string,
];

const ARN = 'arn:aws:iam::111122223333';
const KEY = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';
const SUBNETS = ['subnet-0a0a0a0a0a0a0a0a0'];
const GROUPS = ['sg-0c0c0c0c0c0c0c0c0'];
const PRIVATE = { endpoint: 'private', subnets: SUBNETS, securityGroups: GROUPS } as const;
const FUNCTION = 'AWS::Lambda::Function';

const variable = (name: string, value: string): string => `"${name}":"${value}"`;

const ROWS: readonly Row[] = [
  ['shadow', { shadow: true }, FUNCTION, '"FunctionName":"joiner-demo-shadow"'],
  ['memorySizes', { memorySizes: { interrupt: 640 } }, FUNCTION, '"MemorySize":640'],
  ['endpoint', PRIVATE, 'Custom::JoinerInstall', '"Endpoint":"private"'],
  ['subnets', PRIVATE, FUNCTION, '"SubnetIds":["subnet-0a0a0a0a0a0a0a0a0"]'],
  ['securityGroups', PRIVATE, FUNCTION, '"SecurityGroupIds":["sg-0c0c0c0c0c0c0c0c0"]'],
  [
    'clusterSecurityGroup',
    { ...PRIVATE, clusterSecurityGroup: 'sg-0d0d0d0d0d0d0d0d0' },
    'AWS::EC2::SecurityGroupIngress',
    '"FromPort":443,"GroupId":"sg-0d0d0d0d0d0d0d0d0"',
  ],
  ['logLevel', { logLevel: 'DEBUG' }, FUNCTION, '"ApplicationLogLevel":"DEBUG"'],
  ['logRetentionDays', { logRetentionDays: 90 }, 'AWS::Logs::LogGroup', '"RetentionInDays":90'],
  ['dataRetentionDays', { dataRetentionDays: 7 }, 'AWS::S3::Bucket', '"ExpirationInDays":7'],
  ['bucket', { bucket: 'shared-memory' }, FUNCTION, variable(ENV.bucket, 'shared-memory')],
  ['encryptionKey', { encryptionKey: KEY }, 'AWS::S3::Bucket', '"SSEAlgorithm":"aws:kms"'],
  [
    'queueEncryptionKey',
    { queueEncryptionKey: KEY },
    'AWS::SQS::Queue',
    `"KmsMasterKeyId":"${KEY}"`,
  ],
  ['logEncryptionKey', { logEncryptionKey: KEY }, 'AWS::Logs::LogGroup', `"KmsKeyId":"${KEY}"`],
  [
    'busEncryptionKey',
    { busEncryptionKey: KEY },
    'AWS::Events::EventBus',
    `"KmsKeyIdentifier":"${KEY}"`,
  ],
  [
    'alarmTopic',
    { alarmTopic: 'arn:aws:sns:eu-west-1:111122223333:alarms' },
    'AWS::CloudWatch::Alarm',
    '"AlarmActions":["arn:aws:sns:eu-west-1:111122223333:alarms"]',
  ],
  [
    'permissionsBoundary',
    { permissionsBoundary: `${ARN}:policy/boundary` },
    'AWS::IAM::Role',
    '"PermissionsBoundary":"arn:aws:iam::111122223333:policy/boundary"',
  ],
  ['nodeRole', { nodeRole: `${ARN}:role/EksNodes` }, 'AWS::IAM::Role', `${ARN}:role/EksNodes`],
  [
    'nodeRoleEntry',
    { nodeRole: `${ARN}:role/EksNodes`, nodeRoleEntry: true },
    'AWS::EKS::AccessEntry',
    `"PrincipalArn":"${ARN}:role/EksNodes","Type":"EC2_LINUX"`,
  ],
  [
    'nodeRoles',
    { nodeRoles: [`${ARN}:role/TeamA`] },
    'AWS::EKS::AccessEntry',
    `"PrincipalArn":"${ARN}:role/TeamA"`,
  ],
  [
    'imageParameters',
    { imageParameters: ['/golden/image'] },
    'AWS::IAM::Role',
    'parameter/golden/image',
  ],
  ['leaveNodes', { leaveNodes: true }, 'Custom::JoinerInstall', '"LeaveNodes":"true"'],
  [
    'decisionEvents',
    { decisionEvents: 'changes' },
    FUNCTION,
    variable(ENV.decisionEvents, 'changes'),
  ],
  [
    'metrics',
    { metrics: { remoteWrite: { endpoint: 'https://prometheus.example.com/api/v1/write' } } },
    'AWS::Logs::SubscriptionFilter',
    '"FilterPattern":"{ ($.kind = \\"joiner-measurements\\") || ($.type = \\"platform.report\\") }"',
  ],
  ['windowsNodes', { windowsNodes: true }, 'AWS::EKS::AccessEntry', '"Type":"EC2_WINDOWS"'],
  ['installCrds', { installCrds: false }, 'Custom::JoinerInstall', '"Crds":"checked"'],
  [
    'reservedConcurrency',
    { reservedConcurrency: { lifecycle: 2 } },
    FUNCTION,
    '"ReservedConcurrentExecutions":2',
  ],
];

/** Props whose effect is that something is not there. */
const WITHOUT: readonly Row[] = [
  ['reaction', { reaction: 'tick' }, FUNCTION, '"FunctionName":"joiner-demo-watch"'],
  ['alarms', { alarms: false }, 'AWS::CloudWatch::Alarm', '"AlarmDescription"'],
  ['dashboard', { dashboard: false }, 'AWS::CloudWatch::Dashboard', '"DashboardBody"'],
  ['installerAccess', { installerAccess: false }, 'AWS::EKS::AccessEntry', 'ClusterAdminPolicy'],
];

/** These have no place of their own in a template. */
const ELSEWHERE: Readonly<Partial<Record<keyof JoinerProps, string>>> = {
  cluster: 'in nearly every resource: access.test.ts and policies.test.ts',
  region: 'compared with that of the stack: props.test.ts',
  code: 'the stand-in of every synthesis here',
};

const defaults = synthesise({ cluster: 'demo' });

function text(stack: Synthesised, type: string): string {
  return JSON.stringify([...resources(stack, type).values()]);
}

describe('the effect of a prop', () => {
  it.each(ROWS)('%s: %j', (_, props, type, expected) => {
    expect(text(synthesise({ cluster: 'demo', ...props }), type)).toContain(expected);
    expect(text(defaults, type)).not.toContain(expected);
  });

  it.each(WITHOUT)('%s: %j', (_, props, type, absent) => {
    expect(text(synthesise({ cluster: 'demo', ...props }), type)).not.toContain(absent);
    expect(text(defaults, type)).toContain(absent);
  });

  it('is in the tables for every prop; of settings it is in operator-settings.test.ts', () => {
    const tried = new Set([...ROWS, ...WITHOUT].map(([prop]) => prop));
    const missing = JOINER_PROPS.filter((prop) => !tried.has(prop) && !isSettingKey(prop));
    expect(missing).toEqual(Object.keys(ELSEWHERE));
  });

  it('of the code: it is asked for by the name of each function', () => {
    const names: string[] = [];
    const code = (name: string) => {
      names.push(name);
      return standInCode();
    };
    synthesise({ cluster: 'demo', code });
    expect(names).toContain('provision');
  });
});
