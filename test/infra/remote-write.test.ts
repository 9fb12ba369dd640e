import { Fn } from 'aws-cdk-lib';
import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import type { RemoteWriteProps } from '../../infra/constructs/joiner-props.ts';
import { propsFromContext } from '../../infra/context.ts';
import { metricsPolicy } from '../../infra/policies/metrics.ts';
import { ENV, functionName } from '../../shared/contract.ts';
import { aPolicyScope } from '../builders/policies.ts';
import { resources, synthesise } from './synthesis.ts';

const WORKSPACE =
  'https://aps-workspaces.eu-west-1.amazonaws.com/workspaces/ws-1234/api/v1/remote_write';
const SECRET = 'arn:aws:secretsmanager:eu-west-1:111122223333:secret:prometheus-AbCdEf';
const env = { account: '111122223333', region: 'eu-west-1' };

const stackOf = (remoteWrite: RemoteWriteProps) =>
  synthesise({ cluster: 'demo', metrics: { remoteWrite } }, { env });

describe('metrics.remoteWrite', () => {
  const on = stackOf({ endpoint: WORKSPACE });
  const functions = [...resources(on, 'AWS::Lambda::Function').values()];
  const variablesOf = (name: 'metrics' | 'provision'): object => {
    const found = functions.find((each) => each['FunctionName'] === functionName('demo', name));
    return Object(Reflect.get(Object(found?.['Environment']), 'Variables'));
  };

  it('has measurements written, and tells one function where to', () => {
    expect(variablesOf('provision')).toMatchObject({ [ENV.measurements]: 'on' });
    expect(variablesOf('provision')).not.toHaveProperty(ENV.remoteWrite);
    expect(variablesOf('metrics')).not.toHaveProperty(ENV.measurements);
    expect(variablesOf('metrics')).toMatchObject({
      [ENV.remoteWrite]: JSON.stringify({ endpoint: WORKSPACE, perPod: true }),
    });
  });

  it('is given the logs of all functions that run for the cluster, never its own', () => {
    const groups = [...resources(on, 'AWS::Logs::SubscriptionFilter').values()].map((each) =>
      JSON.stringify(each['LogGroupName']),
    );
    const names = [
      'watch',
      'provision',
      'lifecycle',
      'disrupt',
      'interrupt',
      'nodeclass',
      'catalog',
    ];
    expect(groups).toHaveLength(names.length);
    for (const name of names) expect(groups.some((each) => each.includes(name))).toBe(true);
    on.template.hasResourceProperties('AWS::Lambda::Permission', {
      Principal: 'logs.amazonaws.com',
      SourceArn: Match.anyValue(),
    });
  });

  it('is off by default: no function, no lines, no filters', () => {
    const off = JSON.stringify(synthesise({ cluster: 'demo' }).template.toJSON());
    for (const text of ['joiner-demo-metrics', ENV.measurements, 'SubscriptionFilter']) {
      expect(off).not.toContain(text);
    }
  });

  it('runs once a minute', () => {
    on.template.hasResourceProperties('AWS::Events::Rule', {
      Description: 'Runs metrics for the cluster demo: tick',
      ScheduleExpression: 'rate(1 minute)',
    });
  });

  it('is read from the command line', () => {
    const value = 'endpoint=https://prometheus.example.com/api/v1/write,perPod=false';
    expect(propsFromContext({ 'metrics.remoteWrite': value })).toEqual({
      metrics: {
        remoteWrite: { endpoint: 'https://prometheus.example.com/api/v1/write', perPod: false },
      },
    });
  });
});

describe('the role of metrics', () => {
  const rights = (remoteWrite: ReturnType<typeof aPolicyScope>['remoteWrite']) =>
    metricsPolicy(aPolicyScope({ remoteWrite })).map(({ sid, actions, resources: of }) => [
      sid,
      ...actions,
      ...of,
    ]);

  it('may write to the one workspace, which is of the stack’s account', () => {
    const roles = JSON.stringify([
      ...resources(stackOf({ endpoint: WORKSPACE }), 'AWS::IAM::Role').values(),
    ]);
    expect(roles).toContain('aps:RemoteWrite');
    expect(roles).toContain(':aps:eu-west-1:111122223333:workspace/ws-1234');
  });

  it.each([
    [SECRET, 'aws/reference/secretsmanager/prometheus'],
    ['arn:aws:ssm:eu-west-1:111122223333:parameter/team/prometheus', 'team/prometheus'],
  ])('may read the one secret: %s', (secret, parameter) => {
    const stack = stackOf({ endpoint: 'https://prometheus.example.com/write', secret });
    const roles = JSON.stringify([...resources(stack, 'AWS::IAM::Role').values()]);
    expect(roles).toContain(`:ssm:eu-west-1:111122223333:parameter/${parameter}"`);
    expect(roles.includes('secretsmanager:GetSecretValue')).toBe(secret === SECRET);
    expect(roles).not.toContain('aps:RemoteWrite');
  });

  it('may do neither for an endpoint that knows nobody', () => {
    expect(rights({}).map(([sid]) => sid)).toEqual([
      'Cluster',
      'Totals',
      'TotalsName',
      'QueueDepth',
    ]);
  });
});

describe('props that cannot work are refused', () => {
  const endpoint = 'https://prometheus.example.com/api/v1/write';
  it.each<[object, string]>([
    [{}, 'metrics.remoteWrite is missing: it has to be an object { endpoint, secret, perPod }'],
    [
      { remoteWrite: { endpoint, url: endpoint } },
      'metrics.remoteWrite.url is no field; valid: endpoint, secret, perPod',
    ],
    [
      { remoteWrite: { endpont: endpoint } },
      'metrics.remoteWrite.endpont is no field (did you mean endpoint?); valid: endpoint, secret',
    ],
    [
      { remoteWrit: { endpoint } },
      'metrics.remoteWrit is no field (did you mean remoteWrite?); valid: remoteWrite',
    ],
    [{ remoteWrite: { endpoint }, more: true }, 'metrics.more is no field; valid: remoteWrite'],
    [
      { remoteWrite: endpoint },
      `metrics.remoteWrite is "${endpoint}", but has to be an object { endpoint, secret, perPod }`,
    ],
    [{ remoteWrite: { perPod: true } }, 'metrics.remoteWrite.endpoint is missing: it has to be an'],
    ...['prometheus.example.com', 'ftp://prometheus.example.com', 'http://', 5].map(
      (wrong): [object, string] => [
        { remoteWrite: { endpoint: wrong } },
        `metrics.remoteWrite.endpoint is ${JSON.stringify(wrong)}, but has to be an address such as ` +
          'https://prometheus.example.com/api/v1/write',
      ],
    ),
    [
      { remoteWrite: { endpoint: 'https://a:b@example.com' } },
      'metrics.remoteWrite.endpoint is "https://…@example.com/", but has to be without credentials',
    ],
    [
      { remoteWrite: { endpoint, secret: 'prometheus' } },
      'metrics.remoteWrite.secret is "prometheus", but has to be the whole ARN of a secret',
    ],
    [
      { remoteWrite: { endpoint, perPod: 'no' } },
      'metrics.remoteWrite.perPod is "no", but has to be true or false',
    ],
    [
      { remoteWrite: { endpoint: 'http://example.com', secret: SECRET } },
      'metrics.remoteWrite.endpoint is "http://example.com", but has to be one with https:// where',
    ],
    [
      { remoteWrite: { endpoint: WORKSPACE.replace('https', 'http') } },
      'but has to be one with https:// where a secret is given, and for a workspace of AWS',
    ],
    [
      { remoteWrite: { endpoint: WORKSPACE, secret: SECRET } },
      `metrics.remoteWrite.secret is "${SECRET}", but has to be left out for a workspace of AWS`,
    ],
    [
      { remoteWrite: { endpoint: 'https://aps-workspaces.eu-west-1.amazonaws.com/ws-1' } },
      'but has to be that of a workspace: its path is /workspaces/ws-…/api/v1/remote_write',
    ],
  ])('%j', (metrics, text) => {
    expect(() =>
      synthesise({ cluster: 'demo', metrics } as Parameters<typeof synthesise>[0]),
    ).toThrow(text);
  });

  it.each([
    ['endpoint', `https://${Fn.importValue('Host')}/api/v1/write`],
    ['secret', Fn.importValue('Secret')],
  ])('%s as a token, of which policies could not be made', (field, token) => {
    const remoteWrite = { endpoint, [field]: token };
    expect(() => synthesise({ cluster: 'demo', metrics: { remoteWrite } })).toThrow(
      `metrics.remoteWrite.${field} is only known when it is deployed, but is part of policies`,
    );
  });

  it('memory for a function that is not there', () => {
    expect(() => synthesise({ cluster: 'demo', memorySizes: { metrics: 512 } })).toThrow(
      'memorySizes.metrics is given, but there is no metrics where metrics.remoteWrite is not given',
    );
  });
});
