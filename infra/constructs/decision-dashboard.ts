import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
import type * as sqs from 'aws-cdk-lib/aws-sqs';
import { Construct } from 'constructs';
import {
  METRIC_GRAPHS,
  METRIC_KEYS,
  METRICS,
  type MetricGraph,
} from '../../shared/contract/metrics.ts';
import {
  DECISION_ACTIONS,
  DECISION_LOG,
  type DecisionAction,
  type FunctionName,
  shortened,
} from '../../shared/contract.ts';
import type { JoinerFunction } from './function.ts';
import { joinerMetric } from './metrics.ts';

export interface DecisionDashboardProps {
  readonly cluster: string;
  readonly functions: ReadonlyMap<FunctionName, JoinerFunction>;
  readonly memorySizes: Readonly<Record<FunctionName, number>>;
  readonly queue: sqs.IQueue;
  readonly deadLetters: sqs.IQueue;
}

const WIDTH = 24;
const HEIGHT = 6;
const NAME_LENGTH_MAX = 200;
/** USD a GB-second on arm64 in us-east-1, November 2026. */
const USD_PER_GB_SECOND = 0.0000133334;

const { fields } = DECISION_LOG;

/** Lines of one kind of decision. */
function filterOf(action: DecisionAction): string {
  return `filter message = "${DECISION_LOG.message}" and ${fields.action} = "${action}"`;
}

/** Rows in the order of the questions that people ask. */
export class DecisionDashboard extends Construct {
  readonly dashboard: cloudwatch.Dashboard;
  readonly #props: DecisionDashboardProps;

  constructor(scope: Construct, id: string, props: DecisionDashboardProps) {
    super(scope, id);
    this.#props = props;
    this.dashboard = new cloudwatch.Dashboard(this, 'Dashboard', {
      // A name, not the region's: dashboards of all regions are listed together.
      dashboardName: `Joiner-${shortened(props.cluster, NAME_LENGTH_MAX)}-${Stack.of(this).region}`,
      defaultInterval: Duration.hours(3),
      widgets: [
        this.#pendingRow(),
        this.#runsRow(),
        this.#launchesRow(),
        this.#capacityRow(),
        this.#moneyRow(),
        this.#decisionsRow(),
        this.#disruptionRow(),
        this.#interruptionRow(),
      ],
    });
  }

  #pendingRow(): cloudwatch.IWidget[] {
    return [
      this.#graph('pending'),
      this.#graph('pendingAge'),
      this.#table('Pods that got no node, by reason', [
        filterOf(DECISION_ACTIONS.unschedulable),
        `stats count(*) as times, latest(${fields.text}) as last by ${fields.reason}`,
        'sort times desc | limit 20',
      ]),
    ];
  }

  #runsRow(): cloudwatch.IWidget[] {
    const each = (make: (fn: JoinerFunction) => cloudwatch.IMetric): cloudwatch.IMetric[] =>
      [...this.#props.functions.values()].map(make);
    const sum = { period: Duration.minutes(1), statistic: cloudwatch.Stats.SUM };
    return [
      this.#widget(
        'Runs a minute',
        each((fn) => fn.function.metricInvocations(sum)),
      ),
      this.#graph('phases'),
      this.#widget(
        'Errors and throttles',
        each((fn) => fn.function.metricErrors(sum)).concat(
          each((fn) => fn.function.metricThrottles(sum)),
        ),
      ),
      this.#graph('lag'),
    ];
  }

  #launchesRow(): cloudwatch.IWidget[] {
    return [
      this.#graph('launches'),
      this.#table('Launches by pool and capacity type', this.#byPool(DECISION_ACTIONS.launch)),
      this.#table(
        'Terminations by pool and capacity type',
        this.#byPool(DECISION_ACTIONS.terminate),
      ),
    ];
  }

  #capacityRow(): cloudwatch.IWidget[] {
    return [
      this.#graph('capacity'),
      this.#table('Failed launches, by reason', [
        filterOf(DECISION_ACTIONS.launchFailed),
        `stats count(*) as times, latest(${fields.text}) as last by ${fields.reason}`,
        'sort times desc | limit 20',
      ]),
    ];
  }

  #moneyRow(): cloudwatch.IWidget[] {
    return [this.#graph('cost'), this.#graph('nodes')];
  }

  #decisionsRow(): cloudwatch.IWidget[] {
    const list = [fields.useCase, fields.action, fields.object, fields.reason, fields.text];
    return [
      this.#table('Decisions', [
        `filter message = "${DECISION_LOG.message}"`,
        `fields @timestamp, ${list.join(', ')}`,
        'sort @timestamp desc | limit 100',
      ]),
      this.#table('What was not done, by reason', [
        filterOf(DECISION_ACTIONS.none),
        `stats count(*) as times, latest(${fields.text}) as last ` +
          `by ${fields.useCase}, ${fields.reason}`,
        'sort times desc | limit 20',
      ]),
    ];
  }

  #disruptionRow(): cloudwatch.IWidget[] {
    return [this.#graph('disruption'), this.#graph('heldBack'), this.#lastTick()];
  }

  #interruptionRow(): cloudwatch.IWidget[] {
    const { queue, deadLetters } = this.#props;
    const options = { period: Duration.minutes(1), statistic: cloudwatch.Stats.MAXIMUM };
    return [
      this.#graph('interruption'),
      this.#widget('Interruption queue', [
        queue.metricApproximateAgeOfOldestMessage(options),
        deadLetters.metricApproximateNumberOfMessagesVisible(options),
      ]),
      this.#widget('What Joiner itself costs: compute, USD an hour', [this.#ownCost()]),
    ];
  }

  /** A minute without a run of either shows as a gap or a zero. */
  #lastTick(): cloudwatch.GraphWidget {
    const options = { period: Duration.minutes(1), statistic: cloudwatch.Stats.SUM };
    const names = ['provision', 'lifecycle'] as const;
    const runs = names.flatMap((name) => {
      const source = this.#props.functions.get(name)?.function;
      if (source === undefined) return [];
      const usingMetrics = {
        [`${name}Runs`]: source.metricInvocations(options),
        [`${name}Errors`]: source.metricErrors(options),
      };
      return [
        new cloudwatch.MathExpression({
          expression: `FILL(${name}Runs, 0) - FILL(${name}Errors, 0)`,
          usingMetrics,
          label: `${name}: runs without an error`,
          period: options.period,
        }),
      ];
    });
    return this.#widget('Last ticks: runs without an error, a minute', runs);
  }

  /** Duration × memory × price, all functions together. */
  #ownCost(): cloudwatch.MathExpression {
    const period = Duration.hours(1);
    const functions = [...this.#props.functions];
    const terms = functions.map(([name]) => {
      const gigabytes = this.#props.memorySizes[name] / 1024;
      return `FILL(${name}, 0) / 1000 * ${gigabytes * USD_PER_GB_SECOND}`;
    });
    const usingMetrics = functions.map(([name, fn]) => {
      const metric = fn.function.metricDuration({ period, statistic: cloudwatch.Stats.SUM });
      return [name, metric] as const;
    });
    return new cloudwatch.MathExpression({
      expression: terms.join(' + '),
      usingMetrics: Object.fromEntries(usingMetrics),
      label: 'USD an hour',
      period,
    });
  }

  #byPool(action: DecisionAction): readonly string[] {
    return [
      filterOf(action),
      `stats count(*) as times by ${fields.nodePool}, ${fields.capacityType}`,
      'sort times desc | limit 20',
    ];
  }

  /** The graph with all metrics that belong to it. */
  #graph(graph: MetricGraph): cloudwatch.GraphWidget {
    const metrics = METRIC_KEYS.filter((key) => METRICS[key].graph === graph).map((key) =>
      joinerMetric(this.#props.cluster, key),
    );
    return this.#widget(METRIC_GRAPHS[graph], metrics);
  }

  #widget(title: string, left: cloudwatch.IMetric[]): cloudwatch.GraphWidget {
    return new cloudwatch.GraphWidget({ title, left, width: WIDTH / 4, height: HEIGHT });
  }

  #table(title: string, queryLines: readonly string[]): cloudwatch.LogQueryWidget {
    return new cloudwatch.LogQueryWidget({
      title,
      logGroupNames: [...this.#props.functions.values()].map((fn) => fn.logGroup.logGroupName),
      queryLines: [...queryLines],
      width: WIDTH / 2,
      height: HEIGHT,
    });
  }
}
