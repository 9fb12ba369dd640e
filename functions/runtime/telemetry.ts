import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Failure } from '../../shared/app/writes/attempt.ts';
import { mayRetry } from '../../shared/aws/faults.ts';
import { METRIC_KEYS, METRICS, type MetricKey } from '../../shared/contract/metrics.ts';
import { MEASUREMENTS_LINE, type Measurement } from '../../shared/contract/prometheus.ts';
import { CLUSTER_DIMENSION, DECISION_LOG, ENV, METRICS_NAMESPACE } from '../../shared/contract.ts';
import type { DecisionRecord, PortError, Recorder } from '../../shared/ports.ts';

/** The log and the metrics of one sandbox. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
  /** With their labels, for Prometheus; undefined: the stack has no remote write. */
  readonly measurements?: Measurement[];
}

export function telemetry(cluster: string): Telemetry {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  // Powertools adds the function's name, by which every metric would be one that no alarm reads.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ [CLUSTER_DIMENSION]: cluster });
  // Set to INFO for the metrics' sake; Powertools would put it above LOG_LEVEL.
  delete process.env['AWS_LAMBDA_LOG_LEVEL'];
  const logger = new Logger({ persistentLogAttributes: { cluster } });
  const isWritten = process.env[ENV.measurements] !== undefined;
  return { logger, metrics, ...(isWritten ? { measurements: [] } : {}) };
}

/** A value of one metric, for CloudWatch and for Prometheus. */
export function addMetric(
  { metrics, measurements }: Telemetry,
  key: MetricKey,
  value: number,
  labels: Readonly<Record<string, string>> = {},
): void {
  const { name, unit } = METRICS[key];
  metrics.addMetric(name, MetricUnit[unit], value);
  measurements?.push([name, labels, value]);
}

/**
 * Writes what has been measured. Powertools warns of an invocation that has counted nothing.
 * Measurements are one line, not the Logger's, which leaves lines out above INFO.
 */
export function publishMetrics({ metrics, measurements }: Telemetry): void {
  if (metrics.hasStoredMetrics()) metrics.publishStoredMetrics();
  while (measurements !== undefined && measurements.length > 0) {
    const part = measurements.splice(0, LINE_MEASUREMENTS_MAX);
    const line = JSON.stringify({ kind: MEASUREMENTS_LINE, measurements: part });
    process.stdout.write(`${line}\n`);
  }
}

/** A line of the log has at most 256 KB. */
const LINE_MEASUREMENTS_MAX = 500;

/**
 * Hears of every call to AWS that failed, those that are repeated too: throttling and errors are
 * counted, and what the role may not do is logged with its action. Other refusals are answers.
 */
export function faultCounter(telemetry: Telemetry): (fault: PortError) => void {
  return (fault) => {
    const { kind, code, message } = fault;
    if (kind === 'throttled') {
      addMetric(telemetry, 'throttled', 1);
      return;
    }
    if (kind !== 'unauthorised' && !mayRetry(fault)) return;
    addMetric(telemetry, 'cloudErrors', 1, { provider: 'aws', error: code });
    telemetry.logger.warn('call of AWS failed', { kind, code, text: message });
  };
}

/** Metrics by the name that use cases have for them. */
const BY_SHORT_NAME = new Map(
  METRIC_KEYS.map((key) => [METRICS[key].name.replace(/^(karpenter|joiner)_/, ''), key]),
);

/**
 * Decisions as log lines that the dashboard's queries read, and counts as metrics. Detail by pool,
 * type or reason is in the log only: each series of a metric costs as much as a function.
 */
export function logRecorder(telemetry: Telemetry): Recorder {
  const { logger, measurements } = telemetry;
  const { fields, message } = DECISION_LOG;
  return {
    decision: async (record: DecisionRecord) => {
      const { nodePool, reason, chosen } = record.detail;
      const [first] = record.reasons;
      logger.info(message, {
        [fields.useCase]: record.useCase,
        [fields.action]: record.action,
        [fields.object]: record.object,
        [fields.text]: record.message,
        ...(typeof reason === 'string' ? { [fields.reason]: reason } : {}),
        ...(first === undefined ? {} : { [fields.code]: first.code }),
        ...(typeof nodePool === 'string' ? { [fields.nodePool]: nodePool } : {}),
        ...capacityTypeOf(chosen, fields.capacityType),
        id: record.id,
      });
    },
    count: (metric, dimensions, by = 1) => {
      const known = BY_SHORT_NAME.get(metric);
      if (known !== undefined) addMetric(telemetry, known, by, dimensions);
      logger.debug('count', { metric, ...dimensions, by });
    },
    measure: (metric, value) => {
      const known = BY_SHORT_NAME.get(metric);
      if (known !== undefined) addMetric(telemetry, known, value);
    },
    detail: (metric, labels, value) => {
      measurements?.push([`karpenter_${metric}`, labels, value]);
    },
  };
}

function capacityTypeOf(chosen: unknown, field: string): Readonly<Record<string, string>> {
  if (typeof chosen !== 'object' || chosen === null || !('capacityType' in chosen)) return {};
  return { [field]: String(chosen.capacityType) };
}

/** What was refused, a line for each. `message` is the logger's own word, so the cause is `text`. */
export function logFailures({ logger }: Telemetry, failures: readonly Failure[]): void {
  for (const { object, message } of failures) logger.warn('refused', { object, text: message });
}
