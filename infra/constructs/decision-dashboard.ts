import { Duration, Stack } from 'aws-cdk-lib';
import * as cloudwatch from 'aws-cdk-lib/aws-cloudwatch';
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
  OBSERVED_LOG,
  shortened,
} from '../../shared/contract.ts';
import {
  type Interruptions,
  LAUNCH_FAILURES_PERCENT_MAX,
  launchFailureRate,
  MESSAGE_SECONDS_MAX,
  PENDING_SECONDS_MAX,
} from './alarms.ts';
import { AXES, HEADINGS, METRIC_LABELS } from './dashboard-texts.ts';
import type { JoinerFunction } from './function.ts';
import { joinerMetric } from './metrics.ts';

export interface DecisionDashboardProps {
  readonly cluster: string;
  readonly functions: ReadonlyMap<FunctionName, JoinerFunction>;
  readonly memorySizes: Readonly<Record<FunctionName, number>>;
  /** Undefined: the stack hears of no interruptions, since it never acts. */
  readonly interruption: Pick<Interruptions, 'queue' | 'deadLetters'> | undefined;
  /** Empty: the stack has none, and graphs show no limit of theirs. */
  readonly alarms: readonly cloudwatch.IAlarm[];
}

const WIDTH = 24;
const HEIGHT = 6;
const HEADING_HEIGHT = 2;
const ALARMS_HEIGHT = 4;
const NAME_LENGTH_MAX = 200;
/** USD a GB-second on arm64 in us-east-1, November 2026. */
const USD_PER_GB_SECOND = 0.0000133334;

const { fields } = DECISION_LOG;

/** Lines of one kind of decision. */
function filterOf(action: DecisionAction): string {
  return `filter message = "${DECISION_LOG.message}" and ${fields.action} = "${action}"`;
}

type Row = keyof typeof HEADINGS;

/** Rows in the order of the questions that people ask, each with its question. */
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
      widgets: props.functions.has('shadow') ? this.#shadowWidgets() : this.#widgets(),
    });
  }

  #widgets(): cloudwatch.IWidget[][] {
    const { interruption } = this.#props;
    return [
      ...this.#alarmRows(),
      ...this.#rows('pods', this.#pendingRow()),
      ...this.#rows('money', this.#moneyRow()),
      ...this.#rows('launches', this.#launchesRow(), this.#launchTables()),
      ...this.#rows('disruption', this.#disruptionRow(), this.#disruptionTables()),
      ...(interruption === undefined
        ? []
        : this.#rows('interruption', this.#interruptionRow(interruption))),
      ...this.#rows('functions', this.#functionsRow()),
      ...this.#rows('decisions', this.#decisionsRow()),
    ];
  }

  /** Of a stack that decides and never acts. */
  #shadowWidgets(): cloudwatch.IWidget[][] {
    const runs = [
      this.#lastTick(['shadow']),
      this.#faults(),
      this.#ownCostGraph({ width: WIDTH / 2 }),
    ];
    return [
      ...this.#alarmRows(),
      ...this.#rows('shadow', this.#observedRow()),
      ...this.#rows('functions', runs),
    ];
  }

  #observedRow(): cloudwatch.IWidget[] {
    const observed = `filter message = "${OBSERVED_LOG.message}"`;
    const { pending, unplaced, launches, removals, now, planned } = OBSERVED_LOG.fields;
    const means = [now, planned].map((field) => `avg(${field}) as ${field}`).join(', ');
    return [
      this.#table(
        'Price of the nodes, now and as planned',
        [observed, `stats ${means} by bin(5m)`],
        {
          view: cloudwatch.LogQueryVisualizationType.LINE,
        },
      ),
      this.#table('Observations', [
        observed,
        `fields @timestamp, ${[pending, unplaced, launches, removals, now, planned].join(', ')}`,
        'sort @timestamp desc | limit 100',
      ]),
    ];
  }

  /** A row's question above its widgets. */
  #rows(row: Row, ...widgets: cloudwatch.IWidget[][]): cloudwatch.IWidget[][] {
    const { question, help } = HEADINGS[row];
    const markdown = `## ${question}\n${help}`;
    const background = cloudwatch.TextWidgetBackground.TRANSPARENT;
    const heading = new cloudwatch.TextWidget({
      markdown,
      background,
      width: WIDTH,
      height: HEADING_HEIGHT,
    });
    return [[heading], ...widgets];
  }

  #alarmRows(): cloudwatch.IWidget[][] {
    const { alarms } = this.#props;
    if (alarms.length === 0) return [];
    const status = new cloudwatch.AlarmStatusWidget({
      title: 'Alarms',
      alarms: [...alarms],
      sortBy: cloudwatch.AlarmStatusWidgetSortBy.STATE_UPDATED_TIMESTAMP,
      width: WIDTH,
      height: ALARMS_HEIGHT,
    });
    return this.#rows('alarms', [status]);
  }

  #pendingRow(): cloudwatch.IWidget[] {
    const limit = this.#limit(
      'OldestPending',
      PENDING_SECONDS_MAX,
      `more than ${PENDING_SECONDS_MAX} s`,
    );
    return [
      this.#graph('pending'),
      this.#graph('pendingAge', limit),
      this.#table('Pods that got no node, by reason', [
        filterOf(DECISION_ACTIONS.unschedulable),
        `stats count(*) as times, latest(${fields.text}) as last by ${fields.reason}`,
        'sort times desc | limit 20',
      ]),
    ];
  }

  #moneyRow(): cloudwatch.IWidget[] {
    return [
      this.#graph('cost'),
      this.#graph('nodes'),
      this.#graph('utilization', { leftYAxis: { ...axisOf(AXES.utilization), max: 100 } }),
      this.#ownCostGraph(),
    ];
  }

  #launchesRow(): cloudwatch.IWidget[] {
    const limit = this.#limit(
      'LaunchFailures',
      LAUNCH_FAILURES_PERCENT_MAX,
      `more than ${LAUNCH_FAILURES_PERCENT_MAX} %`,
    );
    return [
      this.#graph('launches'),
      this.#graph('heldBack'),
      this.#graph('capacity'),
      this.#widget(
        'Launches that failed (%)',
        'percent',
        [launchFailureRate(this.#props.cluster)],
        limit,
      ),
    ];
  }

  #launchTables(): cloudwatch.IWidget[] {
    return [
      this.#table('Launches by NodePool and capacity type', this.#byPool(DECISION_ACTIONS.launch)),
      this.#table('Failed launches, by reason', [
        filterOf(DECISION_ACTIONS.launchFailed),
        `stats count(*) as times, latest(${fields.text}) as last by ${fields.reason}`,
        'sort times desc | limit 20',
      ]),
    ];
  }

  #disruptionRow(): cloudwatch.IWidget[] {
    return [
      this.#graph('disruption', { width: WIDTH / 2 }),
      this.#table(
        'Terminations by NodePool and capacity type',
        this.#byPool(DECISION_ACTIONS.terminate),
      ),
    ];
  }

  #disruptionTables(): cloudwatch.IWidget[] {
    const table = [
      filterOf(DECISION_ACTIONS.none),
      `stats count(*) as times, latest(${fields.text}) as last ` +
        `by ${fields.useCase}, ${fields.reason}`,
      'sort times desc | limit 20',
    ];
    return [this.#table('What was not done, by reason', table, { width: WIDTH })];
  }

  #interruptionRow({
    queue,
    deadLetters,
  }: Pick<Interruptions, 'queue' | 'deadLetters'>): cloudwatch.IWidget[] {
    const options = { period: Duration.minutes(1), statistic: cloudwatch.Stats.MAXIMUM };
    const oldest = queue.metricApproximateAgeOfOldestMessage({
      ...options,
      label: 'oldest message',
    });
    const failed = deadLetters.metricApproximateNumberOfMessagesVisible({
      ...options,
      label: 'messages that failed',
    });
    return [
      this.#graph('interruption', { width: WIDTH / 2 }),
      this.#widget(
        'Oldest interruption message (s)',
        'seconds',
        [oldest],
        this.#limit('OldestMessage', MESSAGE_SECONDS_MAX, `more than ${MESSAGE_SECONDS_MAX} s`),
      ),
      this.#widget(
        'Messages that failed',
        'messages',
        [failed],
        this.#limit('DeadLetters', 1, '1 or more'),
      ),
    ];
  }

  #functionsRow(): cloudwatch.IWidget[] {
    return [
      this.#lastTick(['provision', 'lifecycle']),
      this.#faults(),
      this.#graph('phases'),
      this.#graph('lag'),
    ];
  }

  #faults(): cloudwatch.GraphWidget {
    const sum = { period: Duration.minutes(1), statistic: cloudwatch.Stats.SUM };
    const faults = [...this.#props.functions].flatMap(([name, fn]) => [
      fn.function.metricErrors({ ...sum, label: `${name}: errors` }),
      fn.function.metricThrottles({ ...sum, label: `${name}: throttles` }),
    ]);
    return this.#widget('Errors and throttles', 'a minute', faults);
  }

  #decisionsRow(): cloudwatch.IWidget[] {
    const list = [fields.useCase, fields.action, fields.object, fields.reason, fields.text];
    const lines = [
      `filter message = "${DECISION_LOG.message}"`,
      `fields @timestamp, ${list.join(', ')}`,
      'sort @timestamp desc | limit 100',
    ];
    return [this.#table('Decisions', lines, { width: WIDTH })];
  }

  /** A minute without a run of one shows as a gap or a zero. */
  #lastTick(names: readonly FunctionName[]): cloudwatch.GraphWidget {
    const options = { period: Duration.minutes(1), statistic: cloudwatch.Stats.SUM };
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
    return this.#widget('Runs without an error, a minute', 'a minute', runs);
  }

  #ownCostGraph(more: Partial<cloudwatch.GraphWidgetProps> = {}): cloudwatch.GraphWidget {
    const title = 'Compute of Joiner, USD an hour';
    return this.#widget(title, 'USD an hour', [this.#ownCost()], more);
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

  /** The line from which on an alarm is in its state ALARM; none without alarms. */
  #limit(alarm: string, value: number, text: string): Partial<cloudwatch.GraphWidgetProps> {
    if (this.#props.alarms.length === 0) return {};
    const label = `alarm ${alarm}: ${text}`;
    return { leftAnnotations: [{ value, label, color: cloudwatch.Color.RED }] };
  }

  /** The graph with all metrics that belong to it. */
  #graph(
    graph: MetricGraph,
    more: Partial<cloudwatch.GraphWidgetProps> = {},
  ): cloudwatch.GraphWidget {
    const metrics = METRIC_KEYS.filter((key) => METRICS[key].graph === graph).map((key) =>
      joinerMetric(this.#props.cluster, key, { label: METRIC_LABELS[key] }),
    );
    return this.#widget(METRIC_GRAPHS[graph], AXES[graph], metrics, more);
  }

  #widget(
    title: string,
    axis: string,
    left: cloudwatch.IMetric[],
    more: Partial<cloudwatch.GraphWidgetProps> = {},
  ): cloudwatch.GraphWidget {
    const size = { width: WIDTH / 4, height: HEIGHT };
    return new cloudwatch.GraphWidget({ title, left, leftYAxis: axisOf(axis), ...size, ...more });
  }

  #table(
    title: string,
    queryLines: readonly string[],
    more: Pick<cloudwatch.LogQueryWidgetProps, 'width' | 'view'> = {},
  ): cloudwatch.LogQueryWidget {
    return new cloudwatch.LogQueryWidget({
      title,
      logGroupNames: [...this.#props.functions.values()].map((fn) => fn.logGroup.logGroupName),
      queryLines: [...queryLines],
      width: WIDTH / 2,
      height: HEIGHT,
      ...more,
    });
  }
}

function axisOf(label: string): cloudwatch.YAxisProps {
  return { label, min: 0, showUnits: false };
}
