import { RUNBOOKS } from '../../../infra/constructs/alarms.ts';
import { isJson, type Json, objectAt, textAt, valueAt } from '../../../shared/sim/json.ts';
import { textOf } from '../repository.ts';
import { cell, code, heading, pageOf, table } from './text.ts';

/** A template with every default, which a test compares with the stack. */
const TEMPLATE = 'test/infra/golden/defaults.json';

interface Alarm {
  readonly id: string;
  readonly properties: Json;
}

function alarms(): readonly Alarm[] {
  const resources = objectAt(JSON.parse(textOf(TEMPLATE)), 'Resources');
  return Object.entries(resources)
    .filter(([, each]) => textAt(each, 'Type') === 'AWS::CloudWatch::Alarm')
    .map(([id, each]) => ({ id, properties: objectAt(each, 'Properties') }))
    .toSorted((a, b) => a.id.localeCompare(b.id));
}

/** `JoinerAlarmsNoTicklifecycleA1B2C3D4` → `NoTicklifecycle`. */
function nameOf(id: string): string {
  return id.replace(/^.*?Alarms/, '').replace(/[0-9A-F]{8}$/, '');
}

const SIGNS: Readonly<Record<string, string>> = {
  GreaterThanThreshold: '>',
  GreaterThanOrEqualToThreshold: '≥',
  LessThanThreshold: '<',
  LessThanOrEqualToThreshold: '≤',
};

/** The metric's name, or the label of an expression. */
function metricOf(properties: Json): string {
  const metrics = valueAt(properties, 'Metrics');
  const list: readonly unknown[] = Array.isArray(metrics) ? metrics : [];
  const shown = list.filter(isJson).find((each) => each['Expression'] !== undefined);
  return textAt(properties, 'MetricName') ?? textAt(shown, 'Label') ?? '';
}

/** The cluster of the template. */
const CLUSTER = /\bdemo\b|(?<=_)demo\b/g;

function numberOf(value: unknown): number {
  return typeof value === 'number' ? value : 0;
}

/** Seconds of one period: the alarm's, or that of the metrics of its expression. */
function periodOf(properties: Json): number {
  const metrics = valueAt(properties, 'Metrics');
  const list: readonly unknown[] = Array.isArray(metrics) ? metrics : [];
  const periods = list
    .filter(isJson)
    .map((each) => numberOf(valueAt(each, 'MetricStat', 'Period')));
  return numberOf(properties['Period']) || Math.max(0, ...periods);
}

/** `2 × 15 min`: so many periods in a row. */
function evaluationOf(properties: Json): string {
  const count = numberOf(properties['EvaluationPeriods']);
  const minutes = periodOf(properties) / 60;
  const length = minutes < 60 ? `${minutes} min` : `${minutes / 60} h`;
  return count === 1 ? length : `${count} × ${length}`;
}

function row({ id, properties }: Alarm): readonly string[] {
  const sign = SIGNS[textAt(properties, 'ComparisonOperator') ?? ''] ?? '';
  const description = textAt(properties, 'AlarmDescription') ?? '';
  const told = description.replace(/^Joiner, [^:]+: /, '').replace(` ${RUNBOOKS}`, '');
  return [
    code(nameOf(id)),
    `${cell(metricOf(properties).replaceAll(CLUSTER, 'NAME'))} ${sign} ${String(properties['Threshold'])}`,
    evaluationOf(properties),
    cell(told.replaceAll(CLUSTER, 'NAME')),
  ];
}

/** docs/reference/alarms.md. */
export function alarmsPage(): string {
  return pageOf([
    ...heading('Alarms', 'infra/constructs/alarms.ts'),
    'The description of each alarm is its runbook. `alarmTopic` is the SNS topic that the alarms notify. Without it, alarms are',
    'visible only in the console. [Alarms and runbooks](../operate/alarms.md) lists the steps for each alarm.',
    '',
    'An alarm fires when its metric is beyond the threshold in each period of the column *for*. `NAME` is the cluster.',
    'Thresholds of memory are those of the default `memorySizes`.',
    '',
    ...table(['alarm', 'when', 'for', 'runbook'], alarms().map(row)),
  ]);
}
