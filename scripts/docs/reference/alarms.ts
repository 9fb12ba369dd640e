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

function row({ id, properties }: Alarm): readonly string[] {
  const sign = SIGNS[textAt(properties, 'ComparisonOperator') ?? ''] ?? '';
  const description = textAt(properties, 'AlarmDescription') ?? '';
  return [
    code(nameOf(id)),
    `${cell(metricOf(properties))} ${sign} ${String(properties['Threshold'])}`,
    cell(description.replace(/^Joiner, [^:]+: /, '')),
  ];
}

/** docs/reference/alarms.md. */
export function alarmsPage(): string {
  return pageOf([
    ...heading('Alarms', 'infra/constructs/alarms.ts'),
    'The description of each alarm is its runbook. `alarmTopic` is the SNS topic that the alarms notify. Without it, alarms are',
    'visible only in the console. [Alarms and runbooks](../operate/alarms.md) lists the steps for each alarm.',
    '',
    ...table(['alarm', 'when', 'runbook'], alarms().map(row)),
  ]);
}
