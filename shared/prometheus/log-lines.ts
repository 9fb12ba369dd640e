import { gunzipSync } from 'node:zlib';
import * as z from 'zod';
import {
  forPrometheus,
  MEASUREMENTS_LINE,
  type Measurement,
  RUNS,
} from '../contract/prometheus.ts';
import { parsedJson } from '../core/parsed-json.ts';

/** A line of a function's log and what it measures. */
export interface MeasuredLine {
  /** CloudWatch's own, the same whenever the line is delivered. */
  readonly id: string;
  readonly atMs: number;
  readonly measurements: readonly Measurement[];
}

/**
 * What CloudWatch Logs hands to a subscriber. `CONTROL_MESSAGE` only asks whether anybody is there.
 * https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html
 */
const delivery = z.object({ awslogs: z.object({ data: z.base64() }) });

const batch = z.object({
  messageType: z.string(),
  logGroup: z.string(),
  logEvents: z.array(z.object({ id: z.string(), timestamp: z.number(), message: z.string() })),
});

const labels = z.record(z.string().regex(/^[a-zA-Z_][a-zA-Z0-9_]*$/), z.string());

const measured = z.object({
  kind: z.literal(MEASUREMENTS_LINE),
  measurements: z.array(z.tuple([z.string(), labels, z.number()])),
});

/** https://docs.aws.amazon.com/lambda/latest/dg/telemetry-schema-reference.html#platform-report */
const report = z.object({
  type: z.literal('platform.report'),
  record: z.object({ status: z.string(), metrics: z.object({ durationMs: z.number() }) }),
});

const line = z.union([measured, report]);

/** Whether an event is from CloudWatch Logs. */
export function isDelivery(event: unknown): boolean {
  return delivery.safeParse(event).success;
}

/**
 * The lines of a delivery. `functionOf`: the function of a log group. One that is none of ours, or
 * cannot be read, is left out and counted in `faulty`.
 */
export function measuredLines(
  event: unknown,
  functionOf: (logGroup: string) => string | undefined,
): { readonly lines: readonly MeasuredLine[]; readonly faulty: number } {
  const { data } = delivery.parse(event).awslogs;
  const text = gunzipSync(Buffer.from(data, 'base64')).toString('utf8');
  const { messageType, logGroup, logEvents } = batch.parse(JSON.parse(text));
  if (messageType !== 'DATA_MESSAGE') return { lines: [], faulty: 0 };
  const controller = functionOf(logGroup);
  if (controller === undefined) throw new Error(`${logGroup} is not a log of this cluster`);
  const lines = logEvents.flatMap(({ id, timestamp: atMs, message }) => {
    const measurements = measurementsOf(message, controller);
    return measurements === undefined ? [] : [{ id, atMs, measurements }];
  });
  return { lines, faulty: logEvents.length - lines.length };
}

function measurementsOf(message: string, controller: string): readonly Measurement[] | undefined {
  const parsed = line.safeParse(parsedJson(message));
  if (!parsed.success) return undefined;
  const { data } = parsed;
  if ('record' in data) return runOf(controller, data.record);
  return data.measurements.flatMap((each): readonly Measurement[] => {
    const measurement = forPrometheus(each);
    if (measurement === undefined) return [];
    const [name, given, value] = measurement;
    return [[name, WITH_CONTROLLER.test(name) ? { controller, ...given } : given, value]];
  });
}

/** Karpenter tells by a label which controller calls AWS or plans; other counts are all's together. */
const WITH_CONTROLLER = /^(karpenter_(scheduler|cloudprovider)|joiner)_/;

/** A run of a function is what a reconcile is to a controller. */
function runOf(
  controller: string,
  { status, metrics: { durationMs } }: z.infer<typeof report>['record'],
): readonly Measurement[] {
  const isGood = status === 'success';
  const result = isGood ? 'success' : 'error';
  return [
    [RUNS.total, { controller, result }, 1],
    [RUNS.errors, { controller }, isGood ? 0 : 1],
    [RUNS.duration, { controller }, durationMs / 1000],
  ];
}
