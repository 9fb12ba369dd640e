import { Duration } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import { SnsAction } from 'aws-cdk-lib/aws-cloudwatch-actions';
import type * as events from 'aws-cdk-lib/aws-events';
import * as logs from 'aws-cdk-lib/aws-logs';
import type * as sns from 'aws-cdk-lib/aws-sns';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import { pageUrl } from '../../shared/contract/pages.ts';
import {
  type FunctionName,
  INTERRUPTION_RECEIVES_MAX,
  METRICS_NAMESPACE,
} from '../../shared/contract.ts';
import type { JoinerFunction } from './function.ts';
import { joinerMetric } from './metrics.ts';

/** Where interruption messages wait. */
export interface Interruptions {
  readonly queue: sqs.IQueue;
  readonly deadLetters: sqs.IQueue;
  /** What puts messages into the queue. */
  readonly rules: readonly events.IRule[];
}

export interface AlarmsProps {
  readonly cluster: string;
  readonly functions: ReadonlyMap<FunctionName, JoinerFunction>;
  /** Undefined: the stack hears of no interruptions, since it never acts. */
  readonly interruption: Interruptions | undefined;
  /** MB, by function. */
  readonly memorySizes: Readonly<Record<FunctionName, number>>;
  /** Undefined: the alarms can be seen, but tell nobody. */
  readonly topic: sns.ITopic | undefined;
}

/** What an alarm has beside its metric; the description is the first line of a runbook. */
interface Rule {
  readonly threshold: number;
  readonly compared?: cloudwatch.ComparisonOperator;
  readonly periods?: number;
  readonly missing?: cloudwatch.TreatMissingData;
  readonly runbook: string;
}

/** The end of each description: who is paged has the page at hand. */
export const RUNBOOKS = `Runbooks: ${pageUrl('operate/alarms.md')}`;

/** What EC2 contradicts comes again after six minutes, and is done with then. */
export const MESSAGE_SECONDS_MAX = 600;
export const PENDING_SECONDS_MAX = 300;
const PRICE_AGE_SECONDS_MAX = 2 * 24 * 3600;
export const LAUNCH_FAILURES_PERCENT_MAX = 50;
/** Fewer failures than this are a bad minute, not a rate. */
const LAUNCH_FAILURES_MIN = 5;
/** In percent of the claims that were tried; a period without a try has no value. */
const LAUNCH_FAILURES_EXPRESSION =
  `IF(FILL(failed, 0) >= ${LAUNCH_FAILURES_MIN}, ` +
  '100 * FILL(failed, 0) / attempts, 0 * attempts)';
const MEMORY_SHARE_MAX = 0.9;
const FIVE_MINUTES = Duration.minutes(5);

/** A function that runs by schedule, and what its absence means. */
interface Silence {
  readonly name: FunctionName;
  /** Of the alarm; a changed one replaces it. */
  readonly id: string;
  /** How long no run may succeed. */
  readonly minutes: number;
  readonly effect: string;
}

/** A function whose schedule is off, or that is throttled, has no errors: these alone tell of it. */
const SILENCES: readonly Silence[] = [
  { name: 'provision', id: 'NoTick', minutes: 5, effect: 'pending pods get no nodes' },
  {
    name: 'lifecycle',
    id: 'NoTick-lifecycle',
    minutes: 5,
    effect: 'nodes are neither registered nor drained',
  },
  {
    name: 'watch',
    id: 'NoTick-watch',
    minutes: 5,
    effect: 'changes in the cluster are handled once a minute',
  },
  // What these two do is not missed within minutes, and `nodeclass` runs every five.
  {
    name: 'disrupt',
    id: 'NoTick-disrupt',
    minutes: 15,
    effect: 'nodes are neither consolidated nor replaced after drift',
  },
  {
    name: 'nodeclass',
    id: 'NoTick-nodeclass',
    minutes: 15,
    effect: 'EC2NodeClasses get neither new AMIs nor the readiness that launches need',
  },
  {
    name: 'shadow',
    id: 'NoTick-shadow',
    minutes: 5,
    effect: 'the newest observation is as old, the report has a gap',
  },
];

/** Those whose errors have no alarm of their own; `install` answers CloudFormation. */
const OTHERS = [
  'watch',
  'disrupt',
  'interrupt',
  'nodeclass',
] as const satisfies readonly FunctionName[];

/**
 * Each alarm on memory is a series more. These do not grow with the cluster: `install` fails in
 * front of whoever deploys, and an end of `catalog` by memory is an error, which has its own alarm.
 * `events` reads one object at a time; nothing waits for it, nor for `metrics`.
 */
const WITHOUT_MEMORY_ALARM: ReadonlySet<FunctionName> = new Set([
  'catalog',
  'events',
  'metrics',
  'install',
]);

/** Launches of a quarter of an hour that failed, in percent of those that were tried. */
export function launchFailureRate(cluster: string): cloudwatch.MathExpression {
  const period = Duration.minutes(15);
  return new cloudwatch.MathExpression({
    expression: LAUNCH_FAILURES_EXPRESSION,
    usingMetrics: {
      failed: joinerMetric(cluster, 'launchFailures', { period }),
      attempts: joinerMetric(cluster, 'launchAttempts', { period }),
    },
    label: 'launches that failed, %',
    period,
  });
}

/** What somebody should be woken for. */
export class Alarms extends Construct {
  readonly #props: AlarmsProps;
  readonly alarms: cloudwatch.Alarm[] = [];

  constructor(scope: Construct, id: string, props: AlarmsProps) {
    super(scope, id);
    this.#props = props;
    for (const silence of SILENCES) this.#noTick(silence);
    if (props.interruption !== undefined) {
      this.#deadLetters(props.interruption);
      this.#messageAge(props.interruption);
      this.#failedRules(props.interruption);
    }
    if (props.functions.has('provision')) {
      this.#pending();
      this.#launchFailures();
    }
    this.#priceAge();
    if (OTHERS.some((name) => props.functions.has(name))) this.#errors();
    this.#catalogErrors();
    for (const name of props.functions.keys()) {
      if (!WITHOUT_MEMORY_ALARM.has(name)) this.#memory(name);
    }
  }

  #noTick({ name, id, minutes, effect }: Silence): void {
    const source = this.#props.functions.get(name)?.function;
    if (source === undefined) return;
    const period = Duration.minutes(minutes);
    const options = { period, statistic: cloudwatch.Stats.SUM };
    const ended = new cloudwatch.MathExpression({
      expression: 'FILL(started, 0) - FILL(failed, 0)',
      usingMetrics: {
        started: source.metricInvocations(options),
        failed: source.metricErrors(options),
      },
      label: `${name}: runs without an error`,
      period,
    });
    this.#alarm(id, ended, {
      threshold: 1,
      compared: cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD,
      missing: cloudwatch.TreatMissingData.BREACHING,
      runbook:
        `No run of ${name} has succeeded for ${minutes} minutes: ${effect}. Check the last ` +
        'error in its log, that its schedule is enabled, and that its role has its permissions.',
    });
  }

  #deadLetters({ deadLetters }: Interruptions): void {
    const waiting = deadLetters.metricApproximateNumberOfMessagesVisible({
      period: FIVE_MINUTES,
      statistic: cloudwatch.Stats.MAXIMUM,
    });
    this.#alarm('DeadLetters', waiting, {
      threshold: 0,
      // SQS tells nothing of a queue that nobody has used for six hours. Its messages are still there.
      // https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-available-cloudwatch-metrics.html
      missing: cloudwatch.TreatMissingData.IGNORE,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        `The function interrupt failed to handle a message ${INTERRUPTION_RECEIVES_MAX} times. ` +
        `joiner dead-letters --cluster ${this.#props.cluster} lists the messages with cause and log ` +
        'command. After the cause is fixed, --redrive moves them back to the queue. --discard ' +
        '--id ID deletes a message.',
    });
  }

  #messageAge({ queue }: Interruptions): void {
    const oldest = queue.metricApproximateAgeOfOldestMessage({
      period: FIVE_MINUTES,
      statistic: cloudwatch.Stats.MAXIMUM,
    });
    this.#alarm('OldestMessage', oldest, {
      threshold: MESSAGE_SECONDS_MAX,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        'An interruption message has been in the queue for more than 10 minutes; a spot instance is ' +
        'terminated two minutes after its warning. Check that the event source mapping of ' +
        'interrupt is enabled and that interrupt is not throttled.',
    });
  }

  /** EventBridge tries again for a day, and a spot warning is of use for two minutes. */
  #failedRules({ rules }: Interruptions): void {
    const usingMetrics = rules.map(
      ({ ruleName }, at) =>
        [
          `rule${at}`,
          new cloudwatch.Metric({
            namespace: 'AWS/Events',
            metricName: 'FailedInvocations',
            dimensionsMap: { RuleName: ruleName },
            period: FIVE_MINUTES,
            statistic: cloudwatch.Stats.SUM,
          }),
        ] as const,
    );
    const failed = new cloudwatch.MathExpression({
      expression: usingMetrics.map(([name]) => `FILL(${name}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(usingMetrics),
      label: 'interruption messages that did not reach the queue',
      period: FIVE_MINUTES,
    });
    this.#alarm('FailedInvocations', failed, {
      threshold: 0,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        'EventBridge could not send an interruption message to the queue, so spot warnings are lost. ' +
        "Check the queue's policy and the policy of its KMS key, if it has one: both must allow " +
        'events.amazonaws.com.',
    });
  }

  #pending(): void {
    const oldest = joinerMetric(this.#props.cluster, 'pendingAge', { period: FIVE_MINUTES });
    this.#alarm('OldestPending', oldest, {
      threshold: PENDING_SECONDS_MAX,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        'A pod has been pending for more than 5 minutes. Its event FailedScheduling names the stage ' +
        'that leaves no instance type. The most frequent causes are a limit, insufficient ' +
        'capacity and a NodePool that is not ready.',
    });
  }

  #launchFailures(): void {
    const rate = launchFailureRate(this.#props.cluster);
    this.#alarm('LaunchFailures', rate, {
      threshold: LAUNCH_FAILURES_PERCENT_MAX,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        'More than half of the launches of the last 15 minutes failed. The dashboard lists the ' +
        'error codes. Insufficient capacity: allow more instance types or zones in the NodePool. ' +
        'Quota: request an increase. UnauthorizedOperation: check the role of provision.',
    });
  }

  #priceAge(): void {
    const age = joinerMetric(this.#props.cluster, 'priceAge', {
      period: Duration.hours(1),
      // After an installation the embedded prices are in use for minutes: the best of the hour counts.
      statistic: cloudwatch.Stats.MINIMUM,
    });
    this.#alarm('PriceAge', age, {
      threshold: PRICE_AGE_SECONDS_MAX,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      runbook:
        'Prices are older than 2 days, so Joiner may choose more expensive nodes than necessary. Check ' +
        'the last error of catalog: the Pricing API must be reachable and allowed.',
    });
  }

  #catalogErrors(): void {
    const catalog = this.#props.functions.get('catalog')?.function;
    if (catalog === undefined) return;
    const options = { period: Duration.days(1), statistic: cloudwatch.Stats.SUM };
    // Everything is read twice a day: a sum over minutes would never see both reads fail.
    this.#alarm('CatalogErrors', catalog.metricErrors(options), {
      threshold: 2,
      runbook:
        'catalog has failed twice in a day, so prices and instance types become outdated. The last ' +
        'error in its log names the AWS call that was denied or the host that is unreachable.',
    });
  }

  #errors(): void {
    const period = Duration.minutes(15);
    const usingMetrics = OTHERS.flatMap((name) => {
      const source = this.#props.functions.get(name)?.function;
      const options = { period, statistic: cloudwatch.Stats.SUM };
      return source === undefined ? [] : [[name, source.metricErrors(options)] as const];
    });
    const errors = new cloudwatch.MathExpression({
      expression: usingMetrics.map(([name]) => `FILL(${name}, 0)`).join(' + '),
      usingMetrics: Object.fromEntries(usingMetrics),
      label: `errors of ${OTHERS.join(', ')}`,
      period,
    });
    this.#alarm('Errors', errors, {
      threshold: 0,
      compared: cloudwatch.ComparisonOperator.GREATER_THAN_THRESHOLD,
      periods: 2,
      runbook:
        'In each of two consecutive quarters of an hour an invocation of watch, disrupt, interrupt ' +
        'or nodeclass failed. The dashboard shows which one. The last error in its log has the cause.',
    });
  }

  #memory(name: FunctionName): void {
    const source = this.#props.functions.get(name);
    if (source === undefined) return;
    const used = source.logGroup
      .addMetricFilter(`MemoryUsed-${name}`, {
        filterPattern: logs.FilterPattern.stringValue('$.type', '=', 'platform.report'),
        metricNamespace: METRICS_NAMESPACE,
        metricName: `joiner_${name}_memory_used_megabytes_${this.#props.cluster}`,
        metricValue: '$.record.metrics.maxMemoryUsedMB',
      })
      .metric({ statistic: cloudwatch.Stats.MAXIMUM, period: FIVE_MINUTES });
    this.#alarm(`Memory-${name}`, used, {
      threshold: Math.floor(this.#props.memorySizes[name] * MEMORY_SHARE_MAX),
      runbook:
        `${name} uses 90 % of its memory. At 100 % Lambda terminates it. Increase ` +
        `memorySizes.${name} of the construct, or set -c memorySizes=${name}=MB.`,
    });
  }

  #alarm(id: string, metric: cloudwatch.IMetric, rule: Rule): void {
    const alarm = new cloudwatch.Alarm(this, id, {
      metric,
      alarmDescription: `Joiner, ${this.#props.cluster}: ${rule.runbook} ${RUNBOOKS}`,
      threshold: rule.threshold,
      evaluationPeriods: rule.periods ?? 1,
      comparisonOperator:
        rule.compared ?? cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD,
      treatMissingData: rule.missing ?? cloudwatch.TreatMissingData.NOT_BREACHING,
    });
    if (this.#props.topic !== undefined) alarm.addAlarmAction(new SnsAction(this.#props.topic));
    this.alarms.push(alarm);
  }
}
