import { App, CfnResource, Stack } from 'aws-cdk-lib';
import { Match, Template } from 'aws-cdk-lib/assertions';
import { Vpc } from 'aws-cdk-lib/aws-ec2';
import * as iam from 'aws-cdk-lib/aws-iam';
import { describe, expect, it } from 'vitest';
import { Joiner } from '../../infra/constructs/joiner.ts';
import type { JoinerStack } from '../../infra/joiner-stack.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import {
  CLUSTER_FUNCTIONS,
  FUNCTION_NAMES,
  type FunctionName,
  OPTIONAL_FUNCTIONS,
} from '../../shared/contract.ts';
import { resources, standInCode, synthesise } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

const defaults = synthesiseVariant('defaults');
const shared = synthesiseVariant('shared-bucket');
const shut = synthesiseVariant('private');

/** The ids that each resource waits for. */
const after = new Map(
  Object.entries<{ readonly DependsOn?: readonly string[] }>(
    defaults.template.toJSON()['Resources'],
  ).map(([id, { DependsOn = [] }]) => [id, DependsOn]),
);

/** Whether one is made only when the other is, by whatever lies between. */
function isAfter(id: string, other: string, seen = new Set<string>()): boolean {
  if (seen.has(id)) return false;
  seen.add(id);
  return (after.get(id) ?? []).some((each) => each === other || isAfter(each, other, seen));
}

function idsOf(type: string, pattern = /./): readonly string[] {
  const found = Object.keys(defaults.template.findResources(type));
  return found.filter((id) => pattern.test(id));
}

function stepId(step: string): string {
  const [id = ''] = idsOf('Custom::JoinerInstall', new RegExp(`Installer${step}`));
  return id;
}

const measured = synthesise({
  cluster: 'demo',
  metrics: { remoteWrite: { endpoint: 'https://prometheus.example.com/api/v1/write' } },
});

const shadow = synthesise({ cluster: 'demo', shadow: true });

/** One that has the function. */
function stackWith(name: FunctionName): typeof defaults {
  if (name === 'shadow') return shadow;
  return name === 'metrics' ? measured : defaults;
}

describe('access to the cluster', () => {
  it.each(CLUSTER_FUNCTIONS)('of %s is by a group of its own', (name) => {
    const entry = { ClusterName: 'demo', KubernetesGroups: [`joiner:${name}`] };
    const { template } = stackWith(name);
    template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', entry, 1);
  });

  it('of the installer is the admin’s until it is given back, unless that is taken away', () => {
    const admin = { AccessPolicies: [{ AccessScope: { Type: 'cluster' } }] };
    defaults.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', admin, 1);
    defaults.template.hasResourceProperties('Custom::JoinerInstall', {
      Step: 'settle',
      Policy: Match.objectLike({}),
      Principal: Match.objectLike({}),
    });
    shared.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', admin, 0);
    const own = { KubernetesGroups: ['joiner:install'] };
    shared.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', own, 1);
    shared.template.hasResourceProperties('Custom::JoinerInstall', { Step: 'settle', Policy: '' });
  });

  it('is the admin’s again for each version, since the installer has another role then', () => {
    const steps = [...resources(defaults, 'Custom::JoinerInstall').values()];
    const version = String(steps.find((each) => each['Step'] === 'apply')?.['Fingerprint']);
    expect(idsOf('AWS::EKS::AccessEntry', new RegExp(version))).toHaveLength(1);
    expect(idsOf('AWS::IAM::Role', new RegExp(version))).toHaveLength(1);
  });

  it('can be made more by no role of the stack', () => {
    const text = JSON.stringify(defaults.template.findResources('AWS::IAM::Role'));
    expect(text).toContain('eks:DisassociateAccessPolicy');
    expect(
      text.match(/eks:(?!DescribeCluster|DisassociateAccessPolicy|eks-cluster-name)\w+/g),
    ).toBe(null);
  });

  it('of nodes is by role and platform', () => {
    defaults.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_LINUX' }, 1);
    shut.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_WINDOWS' }, 1);
    shared.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_LINUX' }, 0);
  });

  it('is given after the cluster was checked', () => {
    for (const id of idsOf('AWS::EKS::AccessEntry')) {
      expect(isAfter(id, stepId('Check')), id).toBe(true);
    }
  });

  it('is taken back while the rule by which the installer reaches the cluster is still there', () => {
    const [rule = ''] = resources(shut, 'AWS::EC2::SecurityGroupIngress').keys();
    const installs = shut.template.findResources('Custom::JoinerInstall');
    for (const step of ['Roles', 'Apply']) {
      const [, each] = Object.entries(installs).find(([id]) => id.includes(step)) ?? [];
      expect(each?.['DependsOn'], step).toContain(rule);
    }
  });

  it('leaves the routes of a VPC of the same stack until the installer has answered', () => {
    const stack = new Stack(new App(), 'stack');
    const { privateSubnets: subnets } = new Vpc(stack, 'Vpc');
    const securityGroups = ['sg-0c0c0c0c0c0c0c0c0'];
    const place = { endpoint: 'private', subnets, securityGroups } as const;
    new Joiner(stack, 'Joiner', { cluster: 'demo', code: standInCode, ...place });
    const routes = subnets
      .flatMap(({ node }) => node.findChild('DefaultRoute'))
      .filter((each) => CfnResource.isCfnResource(each));
    Template.fromStack(stack).hasResource('AWS::Lambda::Function', {
      DependsOn: Match.arrayWith(routes.map((each) => stack.getLogicalId(each))),
      Properties: { FunctionName: 'joiner-demo-install' },
    });
    expect(routes).toHaveLength(subnets.length);
  });

  it('is moved to rights that are there: the installer’s, what it applies, then all others', () => {
    const [own = ''] = idsOf('AWS::EKS::AccessEntry', /InstallerAccess/);
    expect(isAfter(stepId('Apply'), own)).toBe(true);
    const others = idsOf('AWS::EKS::AccessEntry').filter((id) => id !== own);
    const code = idsOf('AWS::Lambda::Function').filter((id) => !id.includes('install'));
    expect(code).toHaveLength(FUNCTION_NAMES.length - OPTIONAL_FUNCTIONS.size - 1);
    for (const id of [...others, ...code, ...idsOf('AWS::Lambda::EventSourceMapping')]) {
      expect(isAfter(id, stepId('Apply')), id).toBe(true);
    }
  });

  it('is settled when all else is made, and only then may nodes keep the stack', () => {
    const settled = stepId('Settle');
    const ids = ['AWS::EKS::AccessEntry', 'AWS::Lambda::Function', 'AWS::Events::Rule'];
    for (const id of ids.flatMap((type) => idsOf(type))) {
      expect(isAfter(settled, id), id).toBe(true);
    }
    const waiting = [...after].filter(([, on]) => on.includes(settled)).map(([id]) => id);
    expect(waiting).toEqual([stepId('Nodes')]);
  });
});

describe('roles', () => {
  it('all have the boundary', () => {
    shut.template.allResourcesProperties('AWS::IAM::Role', {
      PermissionsBoundary: 'arn:aws:iam::111122223333:policy/boundary',
    });
  });

  it('pass only nodes’ roles', () => {
    shared.template.hasResourceProperties('AWS::IAM::Role', {
      Policies: Match.arrayWith([
        Match.objectLike({
          PolicyDocument: {
            Statement: Match.arrayWith([
              Match.objectLike({
                Action: 'iam:PassRole',
                Resource: 'arn:aws:iam::111122223333:role/EksNodes',
              }),
            ]),
          },
        }),
      ]),
    });
  });

  it('name no partition', () => {
    for (const each of [defaults, shut]) {
      const text = JSON.stringify(each.template.toJSON()).replaceAll(
        'arn:aws:iam::111122223333:policy/boundary',
        '',
      );
      expect(text).not.toMatch(/arn:aws[a-z-]*:/);
    }
  });
});

describe('the bucket', () => {
  it('is private, encrypted, over TLS, and forgets', () => {
    defaults.template.hasResource('AWS::S3::Bucket', {
      DeletionPolicy: 'Delete',
      Properties: {
        BucketEncryption: {
          ServerSideEncryptionConfiguration: [
            { ServerSideEncryptionByDefault: { SSEAlgorithm: 'AES256' } },
          ],
        },
        PublicAccessBlockConfiguration: { RestrictPublicBuckets: true, BlockPublicPolicy: true },
        LifecycleConfiguration: {
          Rules: Match.arrayWith([
            Match.objectLike({ Prefix: 'clusters/demo/decisions/', ExpirationInDays: 30 }),
            Match.objectLike({ Prefix: 'clusters/demo/snapshots/', ExpirationInDays: 30 }),
          ]),
        },
      },
    });
    defaults.template.hasResourceProperties('AWS::S3::BucketPolicy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Effect: 'Deny',
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          }),
        ]),
      },
    });
  });

  it('may be one that is there', () => {
    shared.template.resourceCountIs('AWS::S3::Bucket', 0);
  });

  it('is emptied after all who write to it are gone', () => {
    const functions = defaults.template.findResources('AWS::Lambda::Function');
    for (const each of Object.values(functions)) {
      const dependsOn = JSON.stringify(each['DependsOn']);
      const isInstaller = each['Properties']['FunctionName'] === 'joiner-demo-install';
      expect(dependsOn.includes('InstallerData')).toBe(!isInstaller);
    }
  });
});

describe('alarms and dashboard', () => {
  it('there is an alarm for each thing to be woken for, with what to do', () => {
    const alarms = [...resources(defaults, 'AWS::CloudWatch::Alarm')];
    const kinds = alarms.map(([id]) => /JoinerAlarms([A-Za-z]+)[0-9A-F]{8}/.exec(id)?.[1]);
    expect(kinds.toSorted()).toEqual(
      [
        'CatalogErrors',
        'DeadLetters',
        'Errors',
        'FailedInvocations',
        'LaunchFailures',
        'Memorydisrupt',
        'Memoryinterrupt',
        'Memorylifecycle',
        'Memorynodeclass',
        'Memoryprovision',
        'Memorywatch',
        'NoTick',
        'NoTickdisrupt',
        'NoTicklifecycle',
        'NoTicknodeclass',
        'NoTickwatch',
        'OldestMessage',
        'OldestPending',
        'PriceAge',
      ].toSorted(),
    );
    for (const [, each] of alarms) {
      expect(String(each['AlarmDescription'])).toMatch(/^Joiner, demo: .{60}/);
      expect(each['AlarmActions']).toBeUndefined();
    }
  });

  it('they tell the topic', () => {
    shared.template.allResourcesProperties('AWS::CloudWatch::Alarm', {
      AlarmActions: ['arn:aws:sns:eu-west-1:111122223333:platform-alarms'],
    });
  });

  it('no tick is an alarm also when there is nothing to measure', () => {
    defaults.template.hasResourceProperties('AWS::CloudWatch::Alarm', {
      ComparisonOperator: 'LessThanThreshold',
      Threshold: 1,
      TreatMissingData: 'breaching',
    });
  });

  it('the dashboard shows every metric but those of alarms alone', () => {
    const body = JSON.stringify(defaults.template.findResources('AWS::CloudWatch::Dashboard'));
    const absent = Object.values(METRICS)
      .map(({ name }) => name)
      .filter((name) => !body.includes(name));
    expect(absent).toEqual([METRICS.priceAge.name]);
  });

  it('there are at most 35 series', () => {
    const filters = resources(defaults, 'AWS::Logs::MetricFilter').size;
    expect(Object.keys(METRICS).length + filters).toBeLessThanOrEqual(35);
  });

  it('both may be left out', () => {
    const { template } = synthesise({ cluster: 'demo', alarms: false, dashboard: false });
    template.resourceCountIs('AWS::CloudWatch::Alarm', 0);
    template.resourceCountIs('AWS::CloudWatch::Dashboard', 0);
  });
});

describe('grants and metrics', () => {
  it('let others wake the functions and read the memory', () => {
    const { template } = synthesise(
      { cluster: 'demo' },
      {
        change: ({ joiner }) => {
          const assumedBy = new iam.AccountRootPrincipal();
          const role = new iam.Role(joiner, 'Reader', { assumedBy });
          joiner.grantWake(role);
          joiner.grantReadMemory(role);
        },
      },
    );
    template.hasResourceProperties('AWS::IAM::Policy', {
      PolicyDocument: {
        Statement: Match.arrayWith([
          Match.objectLike({
            Action: 'events:PutEvents',
            Condition: { StringEquals: { 'events:source': 'joiner' } },
          }),
          Match.objectLike({ Action: Match.arrayWith(['s3:GetObject*']) }),
        ]),
      },
    });
  });

  it.each([
    ['its own bucket', {}],
    ['a bucket by name', { bucket: 'shared-bucket' }],
  ])('let others decrypt what they read of %s', (_, given) => {
    const encryptionKey = 'arn:aws:kms:eu-west-1:111122223333:key/11111111-2222-3333-4444';
    const change = ({ joiner }: JoinerStack): void => {
      const assumedBy = new iam.AccountRootPrincipal();
      joiner.grantReadMemory(new iam.Role(joiner, 'Reader', { assumedBy }));
    };
    const { template } = synthesise({ cluster: 'demo', encryptionKey, ...given }, { change });
    const [policy] = Object.values(template.findResources('AWS::IAM::Policy'));
    const statements: readonly object[] = policy?.['Properties'].PolicyDocument.Statement ?? [];
    const ofKey = statements.filter((each) => Reflect.get(each, 'Resource') === encryptionKey);
    expect(JSON.stringify(ofKey)).toContain('"kms:Decrypt"');
  });

  it('are those of the cluster', () => {
    const { joiner } = defaults.stack;
    expect(joiner.metricPendingPods().dimensions).toEqual({ cluster: 'demo' });
    expect(joiner.metricCost().metricName).toBe('karpenter_nodepools_cost_total');
    expect(joiner.metricLaunchFailures({ statistic: 'Average' }).statistic).toBe('Average');
  });
});
