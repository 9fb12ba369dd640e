import { Duration, Stack } from 'aws-cdk-lib';
import * as events from 'aws-cdk-lib/aws-events';
import * as iam from 'aws-cdk-lib/aws-iam';
import type * as kms from 'aws-cdk-lib/aws-kms';
import * as lambda from 'aws-cdk-lib/aws-lambda';
import * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct, type IConstruct } from 'constructs';
import { INTERRUPTION_RECEIVES_MAX, interruptionQueueNames, PROBE } from '../../shared/contract.ts';
import { admitRules } from './keys.ts';

export interface InterruptionQueueProps {
  readonly cluster: string;
  /** The timeout of the function that takes the messages. */
  readonly timeout: Duration;
  /** Undefined: keys of SQS. */
  readonly encryptionKey: kms.IKey | undefined;
}

/** What EC2 and Health say about instances, by the id of the rule. */
export const INTERRUPTION_PATTERNS = {
  SpotInterruption: {
    source: ['aws.ec2'],
    detailType: ['EC2 Spot Instance Interruption Warning'],
  },
  RebalanceRecommendation: {
    source: ['aws.ec2'],
    detailType: ['EC2 Instance Rebalance Recommendation'],
  },
  StateChange: {
    source: ['aws.ec2'],
    detailType: ['EC2 Instance State-change Notification'],
    detail: { state: ['stopping', 'stopped', 'shutting-down', 'terminated'] },
  },
  ReservationInterruption: {
    source: ['aws.ec2'],
    detailType: ['EC2 Capacity Reservation Instance Interruption Warning'],
  },
  Health: {
    source: ['aws.health'],
    detailType: ['AWS Health Event'],
    detail: { service: ['EC2'], eventTypeCategory: ['scheduledChange'] },
  },
} as const satisfies Readonly<Record<string, events.EventPattern>>;

/** A message may be seen again only when the function cannot still be at it. */
const VISIBILITY_FACTOR = 6;

/** Notices of EventBridge about instances; what fails five times is kept for people. */
export class InterruptionQueue extends Construct {
  readonly queue: sqs.Queue;
  readonly deadLetters: sqs.Queue;
  /** Of EC2 and Health. */
  readonly rules: readonly events.Rule[];
  readonly #probe: events.Rule;

  constructor(scope: Construct, id: string, props: InterruptionQueueProps) {
    super(scope, id);
    const names = interruptionQueueNames(props.cluster);
    const { encryptionKey } = props;
    const encrypted =
      encryptionKey === undefined
        ? { encryption: sqs.QueueEncryption.SQS_MANAGED }
        : { encryption: sqs.QueueEncryption.KMS, encryptionMasterKey: encryptionKey };
    if (encryptionKey !== undefined) admitRules(encryptionKey);
    this.deadLetters = new sqs.Queue(this, 'DeadLetters', {
      queueName: names.deadLetters,
      ...encrypted,
      enforceSSL: true,
      retentionPeriod: Duration.days(14),
    });
    this.queue = new sqs.Queue(this, 'Queue', {
      queueName: names.queue,
      ...encrypted,
      enforceSSL: true,
      // Two minutes after a spot warning its instance is gone: older news is no news. Longer than
      // five tries, or a message would expire before it reaches the dead letters.
      retentionPeriod: Duration.hours(1),
      visibilityTimeout: Duration.seconds(props.timeout.toSeconds() * VISIBILITY_FACTOR),
      deadLetterQueue: { queue: this.deadLetters, maxReceiveCount: INTERRUPTION_RECEIVES_MAX },
    });
    const target: events.IRuleTarget = { bind: () => ({ arn: this.queue.queueArn }) };
    this.rules = Object.entries(INTERRUPTION_PATTERNS).map(
      ([rule, eventPattern]) =>
        new events.Rule(this, rule, {
          description: `Joiner, ${props.cluster}: ${eventPattern.detailType[0]}`,
          eventPattern,
          targets: [target],
        }),
    );
    const probed = { cluster: [props.cluster] };
    this.#probe = new events.Rule(this, 'Probe', {
      description: `Joiner, ${props.cluster}: ${PROBE.detailType}`,
      eventPattern: {
        source: [PROBE.source],
        detailType: [PROBE.detailType],
        detail: probed,
      },
      targets: [target],
    });
    this.#admitRules();
  }

  /** Ten messages at a time, at most five runs at once; messages that fail come back alone. */
  feed(handler: lambda.Function, after: IConstruct): void {
    const mapping = new lambda.EventSourceMapping(this, 'Feed', {
      target: handler,
      eventSourceArn: this.queue.queueArn,
      batchSize: 10,
      maxConcurrency: 5,
      reportBatchItemFailures: true,
    });
    mapping.node.addDependency(after);
  }

  #admitRules(): void {
    this.queue.addToResourcePolicy(
      new iam.PolicyStatement({
        sid: 'OnlyTheRulesOfThisStack',
        principals: [new iam.ServicePrincipal('events.amazonaws.com')],
        actions: ['sqs:SendMessage'],
        resources: [this.queue.queueArn],
        conditions: {
          ArnEquals: { 'aws:SourceArn': [...this.rules, this.#probe].map((rule) => rule.ruleArn) },
          StringEquals: { 'aws:SourceAccount': Stack.of(this).account },
        },
      }),
    );
  }
}
