import { describe, expect, it } from 'vitest';
import packageJson from '../../package.json' with { type: 'json' };
import { METRICS } from '../../shared/contract/metrics.ts';
import { FUNCTION_NAMES, type FunctionName } from '../../shared/contract.ts';
import { resources, synthesise } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

interface AlarmProperties {
  readonly AlarmDescription: string;
  readonly Threshold: number;
  readonly Metrics?: readonly {
    readonly Id: string;
    readonly Expression?: string;
    readonly MetricStat?: {
      readonly Metric: { readonly MetricName: string };
      /** Seconds. */
      readonly Period: number;
    };
  }[];
}

const alarms = [...resources(synthesiseVariant('defaults'), 'AWS::CloudWatch::Alarm')].map(
  ([id, properties]) => [id, properties as unknown as AlarmProperties] as const,
);

function alarm(part: RegExp): AlarmProperties {
  const found = alarms.find(([id]) => part.test(id))?.[1];
  if (found === undefined) throw new Error(`no alarm ${part}`);
  return found;
}

type Values = Readonly<Record<string, number | undefined>>;

/** CloudWatch's arithmetic over one period; undefined: the period has no value. */
function evaluated(expression: string, values: Values): number | undefined {
  const at = Object.keys(values);
  const fill = (value: number, other: number): number => (Number.isNaN(value) ? other : value);
  const choose = (is: boolean, a: number, b: number): number => (is ? a : b);
  const body = `return (${expression})`;
  const numbers = at.map((each) => values[each] ?? Number.NaN);
  const result: unknown = new Function('FILL', 'IF', ...at, body)(fill, choose, ...numbers);
  return typeof result === 'number' && !Number.isNaN(result) ? result : undefined;
}

describe('the alarm on launch failures', () => {
  const { Metrics = [], Threshold } = alarm(/LaunchFailures/);
  const expression = Metrics.find((each) => each.Expression !== undefined)?.Expression ?? '';
  const named = Object.fromEntries(
    Metrics.flatMap(({ Id, MetricStat }) =>
      MetricStat === undefined ? [] : [[Id, MetricStat.Metric.MetricName]],
    ),
  );

  it('counts claims on both sides', () => {
    expect(named).toEqual({
      failed: METRICS.launchFailures.name,
      attempts: METRICS.launchAttempts.name,
    });
  });

  it.each([
    ['20 claims, all refused', 20, 20, true],
    ['a claim that is tried and refused each minute', 15, 15, true],
    ['one fleet that is served though offerings were short', 1, undefined, false],
    ['two of four', 4, 2, false],
    ['four of four: a bad minute', 4, 4, false],
    ['half', 20, 10, false],
    ['more than half', 20, 11, true],
    ['nothing was launched', undefined, undefined, false],
  ])('%s: %s tried, %s failed', (_, attempts, failed, isAlarm) => {
    const value = evaluated(expression, { attempts, failed });
    expect(value !== undefined && value > Threshold).toBe(isAlarm);
  });
});

describe('the description of an alarm', () => {
  it.each(alarms)('%s leads to the page of runbooks', (_, { AlarmDescription }) => {
    const url = `${packageJson.homepage}operate/alarms.html`;
    expect(AlarmDescription).toMatch(/\. Runbooks: \S+$/);
    expect(AlarmDescription.endsWith(url)).toBe(true);
    expect(AlarmDescription.length).toBeLessThanOrEqual(1024);
  });
});

describe('every function is watched', () => {
  const text = JSON.stringify(alarms);

  it('provision and lifecycle by their ticks, catalog by its errors alone', () => {
    expect(alarm(/NoTick/).AlarmDescription).toContain('No run of provision');
    expect(alarm(/NoTicklifecycle/).AlarmDescription).toContain('No run of lifecycle');
    expect(alarm(/CatalogErrors/)).toMatchObject({ MetricName: 'Errors', Threshold: 2 });
    const ids = alarm(/AlarmsErrors/).Metrics?.flatMap(({ Id, MetricStat }) =>
      MetricStat ? [Id] : [],
    );
    expect(ids?.sort()).toEqual(['disrupt', 'interrupt', 'nodeclass', 'watch']);
  });

  it('interrupt by its dead letters, which stay when SQS tells of them no more', () => {
    expect(alarm(/DeadLetters/)).toMatchObject({ Threshold: 0, TreatMissingData: 'ignore' });
  });

  it('watch by its ticks, too: without it everything waits for the minute', () => {
    expect(alarm(/NoTickwatch/).AlarmDescription).toContain('No run of watch');
  });

  it.each(['disrupt', 'nodeclass'])(
    '%s by its ticks: one that is throttled has no errors',
    (name) => {
      const { AlarmDescription, Metrics } = alarm(new RegExp(`NoTick${name}`));
      expect(AlarmDescription).toContain(`No run of ${name} has succeeded for 15 minutes`);
      const periods = Metrics?.flatMap(({ MetricStat }) => MetricStat?.Period ?? []);
      expect(periods).toEqual([900, 900]);
    },
  );

  // Of these the series would not be worth its price.
  const isSmall = (name: FunctionName): boolean =>
    ['catalog', 'events', 'metrics', 'install'].includes(name);

  // Of shadow it is in shadow.test.ts.
  const acting = FUNCTION_NAMES.filter((name) => name !== 'shadow');
  it.each(acting)('%s by its memory, where it grows with the cluster', (name) => {
    expect(text.includes(`joiner_${name}_memory_used_megabytes_demo`)).toBe(!isSmall(name));
  });
});

describe('a spot warning that is lost without a sign', () => {
  it('shows where a rule cannot put it into the queue', () => {
    const { Metrics = [], Threshold } = alarm(/FailedInvocations/);
    const stats = Metrics.flatMap(({ MetricStat }) => MetricStat?.Metric.MetricName ?? []);
    expect(stats).toEqual(Array.from({ length: 5 }, () => 'FailedInvocations'));
    const expression = Metrics.find((each) => each.Expression !== undefined)?.Expression ?? '';
    const none = Object.fromEntries(Metrics.map(({ Id }) => [Id, undefined]));
    expect(evaluated(expression, none)).toBe(Threshold);
    expect(evaluated(expression, { ...none, rule3: 1 })).toBe(1);
  });

  it('shows where nobody takes it from the queue', () => {
    expect(alarm(/OldestMessage/)).toMatchObject({
      MetricName: 'ApproximateAgeOfOldestMessage',
      Threshold: 600,
    });
  });
});

it.each([
  ['DEBUG', 'DEBUG'],
  ['INFO', 'INFO'],
  ['WARN', 'INFO'],
  ['ERROR', 'INFO'],
] as const)(
  'at the level %s Lambda lets lines without a level, the metrics, through',
  (logLevel, own) => {
    const stack = synthesise({ cluster: 'demo', logLevel });
    for (const properties of resources(stack, 'AWS::Lambda::Function').values()) {
      const { LoggingConfig, Environment } = properties as {
        readonly LoggingConfig: object;
        readonly Environment: { readonly Variables: Readonly<Record<string, string>> };
      };
      expect(LoggingConfig).toMatchObject({ ApplicationLogLevel: own });
      expect(Environment.Variables['LOG_LEVEL']).toBe(logLevel);
    }
  },
);
