import { Match } from 'aws-cdk-lib/assertions';
import { describe, expect, it } from 'vitest';
import { INTERRUPTION_PATTERNS } from '../../infra/constructs/interruption-queue.ts';
import { SETTING_KEYS, settingOf } from '../../shared/contract/settings.ts';
import {
  ENV,
  FUNCTION_NAMES,
  functionName,
  OPTIONAL_FUNCTIONS,
  WAKE_TARGETS,
} from '../../shared/contract.ts';
import { SHOWN_WITHIN_MS } from '../../shared/core/interruption/belief.ts';
import { INTERRUPTION_EVENTS } from '../../shared/core/interruption/interruption.ts';
import { matchesPattern } from '../support/event-pattern.ts';
import { resources, synthesise } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

const defaults = synthesiseVariant('defaults');
const shared = synthesiseVariant('shared-bucket');
const shut = synthesiseVariant('private');

describe('functions', () => {
  it('all know the same variables, every one of the contract', () => {
    const settings = SETTING_KEYS.map((key) => settingOf(key).variable);
    const optional: readonly string[] = [ENV.decisionEvents, ENV.measurements, ENV.remoteWrite];
    const shared = Object.values(ENV).filter((each) => !optional.includes(each));
    const named = [...shared, ...settings].toSorted();
    for (const each of resources(defaults, 'AWS::Lambda::Function').values()) {
      const variables = Object.keys(Object(Reflect.get(Object(each['Environment']), 'Variables')));
      expect(variables.toSorted()).toEqual(named);
    }
  });

  it('are only our own', () => {
    const names = [...resources(defaults, 'AWS::Lambda::Function').values()].map(
      (each) => each['FunctionName'],
    );
    expect(names.toSorted()).toEqual(
      FUNCTION_NAMES.filter((name) => !OPTIONAL_FUNCTIONS.has(name))
        .map((name) => functionName('demo', name))
        .toSorted(),
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
    expect(ages.filter(([age, tries]) => age === 60 && tries === 0)).toHaveLength(7);
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
            'NodeOverlay=true,StaticCapacity=true,CapacityBuffer=true,PodNomination=true',
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
    shut.template.resourceCountIs('AWS::Lambda::Function', 7);
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

describe('triggers', () => {
  it.each([
    ['watch', 'rate(1 minute)', 'tick'],
    ['provision', 'rate(1 minute)', 'tick'],
    ['lifecycle', 'rate(1 minute)', 'tick'],
    ['disrupt', 'rate(1 minute)', 'tick'],
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

  it('start when functions are let in, which they are when rights are there', () => {
    const rules = defaults.template.findResources('AWS::Events::Rule', {
      Properties: { ScheduleExpression: Match.anyValue() },
    });
    for (const rule of Object.values(rules)) {
      expect(JSON.stringify(rule['DependsOn'])).toContain('JoinerAccessprovision');
    }
    expect(Object.keys(rules)).toHaveLength(7);
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

  it('believes only the five rules of this account and that of probes, over TLS', () => {
    const queue = { 'Fn::GetAtt': [Match.stringLikeRegexp('InterruptionQueue'), 'Arn'] };
    const heard = [...resources(defaults, 'AWS::Events::Rule')]
      .filter(([, rule]) => JSON.stringify(rule['Targets']).includes('InterruptionQueue'))
      .map(([id]) => id);
    expect(heard).toHaveLength(6);
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
                'aws:SourceArn': heard.map((id) => ({ 'Fn::GetAtt': [id, 'Arn'] })),
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
    const queue = [...resources(defaults, 'AWS::SQS::Queue').values()].find(
      (each) => each['QueueName'] === 'joiner-demo-interruption',
    );
    const tries = Number(Object(queue?.['RedrivePolicy']).maxReceiveCount);
    const seconds = Number(queue?.['VisibilityTimeout']);
    expect(tries * seconds).toBeGreaterThan(0);
    expect(Number(queue?.['MessageRetentionPeriod'])).toBeGreaterThan(tries * seconds);
  });

  it('shows what EC2 contradicts again once its answer is believed', () => {
    const queue = [...resources(defaults, 'AWS::SQS::Queue').values()].find(
      (each) => each['QueueName'] === 'joiner-demo-interruption',
    );
    expect(Number(queue?.['VisibilityTimeout']) * 1000).toBeGreaterThan(SHOWN_WITHIN_MS);
  });

  it('feeds at most five runs, ten messages each, failures alone', () => {
    defaults.template.hasResourceProperties('AWS::Lambda::EventSourceMapping', {
      BatchSize: 10,
      ScalingConfig: { MaximumConcurrency: 5 },
      FunctionResponseTypes: ['ReportBatchItemFailures'],
    });
  });
});

describe('rules of EventBridge', () => {
  it('deliver the messages that interrupt decodes, and no others', () => {
    const delivered = Object.values(INTERRUPTION_PATTERNS).flatMap(({ source, detailType }) =>
      source.flatMap((from) => detailType.map((type) => `${from}/${type}`)),
    );
    expect(delivered.toSorted()).toEqual([...INTERRUPTION_EVENTS].sort());
  });
});

describe('decision events', () => {
  const on = synthesise({ cluster: 'demo', decisionEvents: 'changes' });
  const [rule = {}] = [...resources(on, 'AWS::Events::Rule').values()].filter((each) =>
    JSON.stringify(each['EventPattern'] ?? {}).includes('aws.s3'),
  );
  const created = (key: string): object => ({
    source: 'aws.s3',
    'detail-type': 'Object Created',
    detail: { bucket: { name: 'BUCKET' }, object: { key, size: 100 } },
  });
  const pattern: unknown = JSON.parse(
    JSON.stringify(rule['EventPattern']).replace(/\{"Ref":"[^"]+"\}/, '"BUCKET"'),
  );

  it.each([
    ['clusters/demo/decisions/2026-01-01/10-20-30.400-provision-a.ndjson', true],
    ['clusters/demo/snapshots/2026-01-01/10-20-30.400-a.json.gz', false],
    ['clusters/demo-2/decisions/2026-01-01/10-20-30.400-provision-a.ndjson', false],
    ['shared/eu-west-1/catalog/demo.json', false],
  ])('the object %s makes some: %s', (key, isMatched) => {
    expect(matchesPattern(pattern, created(key))).toBe(isMatched);
  });

  it('are announced by the bucket, to a function that is in no VPC and kept for its retries', () => {
    on.template.hasResourceProperties('AWS::S3::Bucket', {
      NotificationConfiguration: { EventBridgeConfiguration: { EventBridgeEnabled: true } },
    });
    on.template.hasResourceProperties('AWS::Lambda::Function', {
      FunctionName: 'joiner-demo-events',
      Environment: { Variables: Match.objectLike({ [ENV.decisionEvents]: 'changes' }) },
      VpcConfig: Match.absent(),
    });
    expect(rule['Targets']).toMatchObject([
      { RetryPolicy: { MaximumEventAgeInSeconds: 3600, MaximumRetryAttempts: 3 } },
    ]);
  });

  it('are off by default, and the bucket announces nothing', () => {
    const [bucket = {}] = [...resources(defaults, 'AWS::S3::Bucket').values()];
    expect(bucket).not.toHaveProperty('NotificationConfiguration');
    expect(JSON.stringify(defaults.template.toJSON())).not.toContain('joiner-demo-events');
  });

  it('leave a bucket of one’s own as it is', () => {
    const { template } = synthesise({ cluster: 'demo', bucket: 'mine', decisionEvents: 'all' });
    template.resourceCountIs('AWS::S3::Bucket', 0);
    template.hasResourceProperties('AWS::Events::Rule', {
      EventPattern: Match.objectLike({ detail: Match.objectLike({ bucket: { name: ['mine'] } }) }),
    });
  });

  it('need the prop: memory for a function that is not there is refused', () => {
    const props = { cluster: 'demo', memorySizes: { events: 512 } };
    expect(() => synthesise(props)).toThrow(
      'memorySizes.events is given, but there is no events where decisionEvents is not given',
    );
  });
});
