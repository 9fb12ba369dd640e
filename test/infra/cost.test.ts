import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DEPLOYMENT, SERIES } from '../../cli/cost/deployment.ts';
import { DURATIONS } from '../../cli/cost/durations.ts';
import { RESERVE_MS, WAIT_MS_MAX } from '../../functions/watch/hand-over.ts';
import { MEMORY_SIZES, TIMEOUTS } from '../../infra/constructs/settings.ts';
import { SCHEDULES } from '../../infra/constructs/triggers.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { resources, type Synthesised } from './synthesis.ts';
import { synthesiseVariant } from './variants.ts';

const stack = synthesiseVariant('defaults');

function count(type: string, of: Synthesised = stack): number {
  return resources(of, type).size;
}

/** An alarm with a formula pays for each metric in it. */
function alarmMetrics(): number {
  return [...resources(stack, 'AWS::CloudWatch::Alarm').values()].reduce((sum, properties) => {
    const { Metrics = [{ MetricStat: {} }] } = properties as {
      readonly Metrics?: readonly { readonly MetricStat?: object }[];
    };
    return sum + Metrics.filter(({ MetricStat }) => MetricStat !== undefined).length;
  }, 0);
}

describe('what joiner cost counts is what the stack has', () => {
  it('memory', () => {
    const { events: _, metrics: __, shadow: ___, ...standard } = MEMORY_SIZES;
    expect(DEPLOYMENT.memorySizes).toEqual(standard);
    const sizes = [...resources(stack, 'AWS::Lambda::Function').values()].map(
      (each) => each['MemorySize'],
    );
    expect(sizes.sort()).toEqual(Object.values(DEPLOYMENT.memorySizes).map(Number).sort());
  });

  it('schedules', () => {
    const { metrics: _, shadow: __, ...standard } = SCHEDULES;
    const minutes = Object.fromEntries(
      Object.entries(standard).map(([name, each]) => [
        name,
        Object.fromEntries(each.map(({ every, kind }) => [kind, every.toMinutes()])),
      ]),
    );
    expect(DEPLOYMENT.schedules).toEqual(minutes);
  });

  it('series, alarms and dashboards', () => {
    expect(DEPLOYMENT.metricFilters).toBe(count('AWS::Logs::MetricFilter'));
    expect(SERIES).toBe(Object.keys(METRICS).length + count('AWS::Logs::MetricFilter'));
    expect(SERIES).toBeLessThanOrEqual(35);
    expect(DEPLOYMENT.alarmMetrics).toBe(alarmMetrics());
    expect(DEPLOYMENT.dashboards).toBe(count('AWS::CloudWatch::Dashboard'));
  });

  it('nothing that is paid for by the hour or by the month beside', () => {
    const free = /^AWS::(Lambda|IAM|Logs|Events|EKS|SQS|S3|CloudWatch)::|^Custom::JoinerInstall$/;
    const types = Object.values(stack.template.toJSON()['Resources'] ?? {}).map((each) =>
      String(Reflect.get(Object(each), 'Type')),
    );
    expect(types.filter((type) => !free.test(type))).toEqual([]);
  });

  it('how long a watch holds its watches, and the next one waits for it', () => {
    expect(DURATIONS.watchWait).toBe(WAIT_MS_MAX / 1000);
    const whole = TIMEOUTS.watch.toSeconds() - RESERVE_MS / 1000;
    expect(DURATIONS.watchHold).toBeGreaterThan(whole - DURATIONS.watchWait);
    expect(DURATIONS.watchHold).toBeLessThanOrEqual(whole);
  });

  it('a network of its own asks for the endpoints that docs/private-clusters.md lists', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/private-clusters.md'), 'utf8');
    const listed = [...text.matchAll(/interface `com\.amazonaws\.REGION\.(\w+)`/g)].map(
      ([, name]) => name,
    );
    expect([...DEPLOYMENT.interfaceEndpoints].sort()).toEqual(listed.sort());
  });
});
