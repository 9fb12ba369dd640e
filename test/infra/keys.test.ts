import { App, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import * as kms from 'aws-cdk-lib/aws-kms';
import { expect, it } from 'vitest';
import { JoinerStack } from '../../infra/joiner-stack.ts';
import { resources, standInCode, synthesise } from './synthesis.ts';

const ARN = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444-555555555555';
const ENV = { account: '111122223333', region: 'eu-west-1' };

it('the policy of a key of the app lets the services use it that encrypt with it', () => {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Keys', { env: ENV });
  const [queue, logs, bus] = ['Queue', 'Logs', 'Bus'].map((id) => new kms.Key(stack, id));
  if (queue === undefined || logs === undefined || bus === undefined) throw new Error('no keys');
  const keys = { queueEncryptionKey: queue, logEncryptionKey: logs, busEncryptionKey: bus };
  new JoinerStack(app, 'Joiner', {
    joiner: { cluster: 'demo', code: standInCode, ...keys },
    env: ENV,
  });
  const template = Template.fromStack(stack);
  const admits = (Service: unknown, Action: readonly string[], Condition: unknown) =>
    template.hasResourceProperties('AWS::KMS::Key', {
      KeyPolicy: {
        Statement: Match.arrayWith([
          Match.objectLike({ Action, Principal: { Service }, Condition }),
        ]),
      },
    });
  admits('events.amazonaws.com', ['kms:Decrypt', 'kms:GenerateDataKey'], Match.absent());
  const bound = { ArnEquals: { 'kms:EncryptionContext:aws:logs:arn': Match.anyValue() } };
  const logging = ['Encrypt', 'Decrypt', 'ReEncrypt*', 'GenerateDataKey*', 'DescribeKey'];
  admits(
    { 'Fn::Join': ['', ['logs.eu-west-1.', { Ref: 'AWS::URLSuffix' }]] },
    logging.map((action) => `kms:${action}`),
    bound,
  );
  const busing = ['kms:Decrypt', 'kms:GenerateDataKey', 'kms:DescribeKey'];
  admits('events.amazonaws.com', busing, Match.objectLike({ StringEquals: Match.anyValue() }));
});

it('clusters that share keys add statements to their policies that differ in their Sids', () => {
  const app = new App({ analyticsReporting: false });
  const stack = new Stack(app, 'Keys', { env: ENV });
  const key = new kms.Key(stack, 'Key');
  for (const cluster of ['blue', 'green']) {
    const keys = { queueEncryptionKey: key, logEncryptionKey: key };
    new JoinerStack(app, cluster, { joiner: { cluster, code: standInCode, ...keys }, env: ENV });
  }
  const [policy] = Object.values(Template.fromStack(stack).findResources('AWS::KMS::Key'));
  const statements: readonly { readonly Sid?: string }[] =
    policy?.['Properties'].KeyPolicy.Statement;
  const sids = statements.flatMap(({ Sid }) => Sid ?? []);
  expect(sids).toEqual([...new Set(sids)]);
  expect(JSON.stringify(statements)).toContain('log-group:/aws/lambda/joiner-green-provision');
});

it('every queue and log group has the key, and Lambda may decrypt what it takes for interrupt', () => {
  const synthesised = synthesise({
    cluster: 'demo',
    queueEncryptionKey: ARN,
    logEncryptionKey: ARN,
  });
  const keysOf = (type: string, name: string) =>
    new Set([...resources(synthesised, type).values()].map((each) => each[name]));
  expect(keysOf('AWS::SQS::Queue', 'KmsMasterKeyId')).toEqual(new Set([ARN]));
  expect(keysOf('AWS::Logs::LogGroup', 'KmsKeyId')).toEqual(new Set([ARN]));
  const users = [...resources(synthesised, 'AWS::IAM::Role')].filter(([, role]) =>
    JSON.stringify(role).includes(
      `"kms:Decrypt","Condition":{"StringEquals":{"kms:ViaService":{"Fn`,
    ),
  );
  expect(users.map(([id]) => id.slice(0, 15))).toEqual(['Joinerinterrupt']);
});
