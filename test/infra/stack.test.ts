import { Match } from 'aws-cdk-lib/assertions';
import * as iam from 'aws-cdk-lib/aws-iam';
import { beforeAll, describe, expect, it } from 'vitest';
import { ENV, FUNCTION_NAMES, functionName, METRICS, WAKE_TARGETS } from '../../shared/contract.ts';
import { type Synthesised, synthesise } from './synthesis.ts';
import { VARIANTS } from './variants.ts';

let defaults: Synthesised;
let shut: Synthesised;
let shared: Synthesised;
beforeAll(() => {
  const of = (name: string): Synthesised => {
    const { joiner, env } = VARIANTS[name] ?? { joiner: { cluster: 'demo' } };
    return synthesise(joiner, env === undefined ? {} : { env });
  };
  defaults = of('defaults');
  shut = of('private');
  shared = of('shared-bucket');
}, 60_000);

type Properties = Readonly<Record<string, unknown>>;

/** Properties of all resources of a type, by logical id. */
function resources({ template }: Synthesised, type: string): ReadonlyMap<string, Properties> {
  return new Map(
    Object.entries(template.findResources(type)).map(([id, each]) => [
      id,
      each['Properties'] ?? {},
    ]),
  );
}

describe('functions', () => {
  it('all know the same variables, every one of the contract', () => {
    for (const each of resources(defaults, 'AWS::Lambda::Function').values()) {
      const variables = Object.keys(Object(Reflect.get(Object(each['Environment']), 'Variables')));
      expect(variables.toSorted()).toEqual(Object.values(ENV).toSorted());
    }
  });

  it('are only our own', () => {
    const names = [...resources(defaults, 'AWS::Lambda::Function').values()].map(
      (each) => each['FunctionName'],
    );
    expect(names.toSorted()).toEqual(
      FUNCTION_NAMES.map((name) => functionName('demo', name)).toSorted(),
    );
  });

  it('run Node.js 24 on arm64 with a role and a log of their own', () => {
    const functions = [...resources(defaults, 'AWS::Lambda::Function').values()];
    for (const each of functions) {
      expect(each).toMatchObject({
        Runtime: 'nodejs24.x',
        Architectures: ['arm64'],
        Handler: 'index.handler',
        LoggingConfig: { LogFormat: 'JSON', LogGroup: expect.anything() },
      });
    }
    const distinct = (key: string): number =>
      new Set(functions.map((each) => JSON.stringify(each[key]))).size;
    expect(distinct('Role')).toBe(functions.length);
    expect(distinct('LoggingConfig')).toBe(functions.length);
    defaults.template.allResourcesProperties('AWS::Logs::LogGroup', { RetentionInDays: 30 });
  });

  it('take events of at most a minute, once; only the installer’s are kept', () => {
    const ages = [...resources(defaults, 'AWS::Lambda::EventInvokeConfig').values()].map((each) => [
      each['MaximumEventAgeInSeconds'],
      each['MaximumRetryAttempts'],
    ]);
    expect(ages.filter(([age, tries]) => age === 60 && tries === 0)).toHaveLength(6);
    expect(ages.filter(([age, tries]) => age === 900 && tries === 2)).toHaveLength(1);
  });

  it('have their variables', () => {
    defaults.template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'joiner-demo-provision',
      Environment: {
        Variables: {
          CLUSTER_NAME: 'demo',
          BATCH_IDLE_DURATION: '300ms',
          BATCH_MAX_DURATION: '3000ms',
          JOINER_MAX_LAUNCHES_PER_MINUTE: '200',
          FEATURE_GATES:
            'ReservedCapacity=true,SpotToSpotConsolidation=false,NodeRepair=false,' +
            'NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true',
        },
      },
    });
    shared.template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'joiner-demo-provision',
      MemorySize: 3008,
      ReservedConcurrentExecutions: 2,
      Environment: {
        Variables: {
          JOINER_BUCKET: 'joiner-memory-of-the-account',
          FEATURE_GATES: Match.stringLikeRegexp('NodeRepair=true'),
        },
      },
    });
  });

  it('hold no concurrency by default', () => {
    defaults.template.allResourcesProperties('AWS::Lambda::Function', {
      ReservedConcurrentExecutions: Match.absent(),
    });
  });

  it('without a watch are one less', () => {
    shut.template.resourceCountIs('AWS::Lambda::Function', 6);
    shut.template.resourcePropertiesCountIs(
      'AWS::Lambda::Function',
      { FunctionName: 'joiner-demo-watch' },
      0,
    );
  });

  it('have names within 64 characters that no other cluster has', () => {
    const long = 'a'.repeat(99);
    const names = [`${long}b`, `${long}c`].flatMap((cluster) =>
      FUNCTION_NAMES.map((name) => functionName(cluster, name)),
    );
    expect(new Set(names).size).toBe(names.length);
    for (const name of names) expect(name).toMatch(/^[a-zA-Z0-9-_]{1,64}$/);
  });
});

describe('the network', () => {
  it('is that of the cluster for all but the catalog, where the endpoint is private', () => {
    for (const each of resources(shut, 'AWS::Lambda::Function').values()) {
      const isOutside = each['FunctionName'] === 'joiner-demo-catalog';
      expect(each['VpcConfig'] === undefined).toBe(isOutside);
    }
    defaults.template.allResourcesProperties('AWS::Lambda::Function', {
      VpcConfig: Match.absent(),
    });
  });

  it('is let in to the cluster', () => {
    shut.template.hasResourceProperties('AWS::EC2::SecurityGroupIngress', {
      GroupId: 'sg-0d0d0d0d0d0d0d0d0',
      SourceSecurityGroupId: 'sg-0c0c0c0c0c0c0c0c0',
      IpProtocol: 'tcp',
      FromPort: 443,
      ToPort: 443,
    });
  });

  it('cannot be changed by the functions’ own code', () => {
    shut.template.hasResourceProperties('AWS::IAM::Role', {
      Policies: Match.arrayWith([
        Match.objectLike({
          PolicyName: 'network',
          PolicyDocument: {
            Statement: Match.arrayWith([Match.objectLike({ Effect: 'Deny', Sid: 'NotByTheCode' })]),
          },
        }),
      ]),
    });
  });
});

describe('triggers', () => {
  it.each([
    ['watch', 'rate(1 minute)', 'tick'],
    ['provision', 'rate(1 minute)', 'tick'],
    ['lifecycle', 'rate(1 minute)', 'tick'],
    ['nodeclass', 'rate(5 minutes)', 'tick'],
    ['catalog', 'rate(15 minutes)', 'spot-prices'],
    ['catalog', 'rate(12 hours)', 'all'],
  ])('the clock: %s %s %s', (name, schedule, kind) => {
    defaults.template.hasResourceProperties('AWS::Events::Rule', {
      ScheduleExpression: schedule,
      State: 'ENABLED',
      Targets: [
        {
          Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp(`^Joiner${name}Function`), 'Arn'] },
          Input: JSON.stringify({
            source: 'joiner',
            'detail-type': 'Joiner Schedule',
            detail: { cluster: 'demo', kind },
          }),
          RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
        },
      ],
    });
  });

  it('every kind of wake-up reaches those whom it is for', () => {
    const rules = [...resources(defaults, 'AWS::Events::Rule').values()].filter(
      (each) => each['EventBusName'] !== undefined,
    );
    const reached = (kind: string): readonly string[] =>
      rules
        .filter((each) => JSON.stringify(each['EventPattern']).includes(`"${kind}"`))
        .map((each) => /Joiner(\w+?)Function/.exec(JSON.stringify(each['Targets']))?.[1] ?? '');
    for (const [kind, names] of Object.entries(WAKE_TARGETS)) {
      expect(reached(kind).toSorted()).toEqual([...names].sort());
    }
    for (const each of rules) {
      expect(each['EventPattern']).toMatchObject({
        source: ['joiner'],
        'detail-type': ['Joiner Wake-up'],
        detail: { cluster: ['demo'] },
      });
    }
  });

  it('start when rights are there', () => {
    const rules = defaults.template.findResources('AWS::Events::Rule', {
      Properties: { ScheduleExpression: Match.anyValue() },
    });
    for (const rule of Object.values(rules)) {
      expect(JSON.stringify(rule['DependsOn'])).toContain('InstallerApply');
    }
    expect(Object.keys(rules)).toHaveLength(6);
  });
});

describe('the interruption queue', () => {
  it.each([
    ['EC2 Spot Instance Interruption Warning', {}],
    ['EC2 Instance Rebalance Recommendation', {}],
    [
      'EC2 Instance State-change Notification',
      { detail: { state: ['stopping', 'stopped', 'shutting-down', 'terminated'] } },
    ],
    ['EC2 Capacity Reservation Instance Interruption Warning', {}],
    ['AWS Health Event', { detail: { service: ['EC2'], eventTypeCategory: ['scheduledChange'] } }],
  ])('hears %s', (detailType, detail) => {
    defaults.template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: { 'detail-type': [detailType], ...detail },
      Targets: [{ Arn: { 'Fn::GetAtt': [Match.stringLikeRegexp('InterruptionQueue'), 'Arn'] } }],
    });
  });

  it('believes only the five rules of this account, over TLS', () => {
    const queue = { 'Fn::GetAtt': [Match.stringLikeRegexp('InterruptionQueue'), 'Arn'] };
    defaults.template.hasResourceProperties('AWS::SQS::QueuePolicy', {
      PolicyDocument: {
        Statement: [
          {
            Effect: 'Deny',
            Action: 'sqs:*',
            Principal: { AWS: '*' },
            Condition: { Bool: { 'aws:SecureTransport': 'false' } },
          },
          {
            Effect: 'Allow',
            Action: 'sqs:SendMessage',
            Principal: { Service: 'events.amazonaws.com' },
            Resource: queue,
            Condition: {
              ArnEquals: {
                'aws:SourceArn': Array.from({ length: 5 }, () => Match.objectLike({})),
              },
              StringEquals: { 'aws:SourceAccount': { Ref: 'AWS::AccountId' } },
            },
          },
        ],
      },
    });
  });

  it('is encrypted, patient and keeps what fails five times', () => {
    defaults.template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'joiner-demo-interruption',
      SqsManagedSseEnabled: true,
      VisibilityTimeout: 360,
      RedrivePolicy: {
        maxReceiveCount: 5,
        deadLetterTargetArn: {
          'Fn::GetAtt': [Match.stringLikeRegexp('DeadLetters'), 'Arn'],
        },
      },
    });
    defaults.template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'joiner-demo-interrupt',
      Timeout: 60,
    });
  });

  it('keeps a message for longer than its five tries take', () => {
    defaults.template.hasResourceProperties('AWS::SQS::Queue', {
      QueueName: 'joiner-demo-interruption',
      MessageRetentionPeriod: 3600,
    });
    expect(3600).toBeGreaterThan(5 * 360);
  });

  it('feeds at most five runs, ten messages each, failures alone', () => {
    defaults.template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 5 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

describe('access to the cluster', () => {
  it('of the functions is by group', () => {
    defaults.template.resourcePropertiesCountIs(
      'AWS::EKS::AccessEntry',
      { ClusterName: 'demo', KubernetesGroups: ['joiner:controller'] },
      5,
    );
  });

  it('of the installer is the admin’s, unless it is taken away', () => {
    const admin = { AccessPolicies: [{ AccessScope: { Type: 'cluster' } }] };
    defaults.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', admin, 1);
    shared.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', admin, 0);
  });

  it('of nodes is by role and platform', () => {
    defaults.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_LINUX' }, 1);
    shut.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_WINDOWS' }, 1);
    shared.template.resourcePropertiesCountIs('AWS::EKS::AccessEntry', { Type: 'EC2_LINUX' }, 0);
  });

  it('is given after the cluster was checked', () => {
    const entries = defaults.template.findResources('AWS::EKS::AccessEntry');
    for (const entry of Object.values(entries)) {
      expect(JSON.stringify(entry['DependsOn'])).toContain('InstallerCheck');
    }
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
        'DeadLetters',
        'LaunchFailures',
        'Memorylifecycle',
        'Memoryprovision',
        'NoTick',
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
    const absent = Object.values(METRICS).filter((name) => !body.includes(name));
    expect(absent).toEqual([METRICS.priceAge]);
  });

  it('there are at most 30 series', () => {
    const filters = resources(defaults, 'AWS::Logs::MetricFilter').size;
    expect(Object.keys(METRICS).length + filters).toBeLessThanOrEqual(30);
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

  it('are those of the cluster', () => {
    const { joiner } = defaults.stack;
    expect(joiner.metricPendingPods().dimensions).toEqual({ cluster: 'demo' });
    expect(joiner.metricCost().metricName).toBe('karpenter_nodepools_cost_total');
    expect(joiner.metricLaunchFailures({ statistic: 'Average' }).statistic).toBe('Average');
  });
});
