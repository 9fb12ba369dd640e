import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import type { Failure } from '../../shared/app/writes/attempt.ts';
import { mayRetry } from '../../shared/aws/faults.ts';
import { METRICS } from '../../shared/contract/metrics.ts';
import { CLUSTER_DIMENSION, DECISION_LOG, METRICS_NAMESPACE } from '../../shared/contract.ts';
import type { DecisionRecord, PortError, Recorder } from '../../shared/ports.ts';

/** The log and the metrics of one sandbox. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function telemetry(cluster: string): Telemetry {
  const metrics = new Metrics({ namespace: METRICS_NAMESPACE });
  // Powertools adds the function's name, by which every metric would be one that no alarm reads.
  metrics.clearDefaultDimensions();
  metrics.setDefaultDimensions({ [CLUSTER_DIMENSION]: cluster });
  // Set to INFO for the metrics' sake; Powertools would put it above LOG_LEVEL.
  delete process.env['AWS_LAMBDA_LOG_LEVEL'];
  return { logger: new Logger({ persistentLogAttributes: { cluster } }), metrics };
}

/**
 * Hears of every call to AWS that failed, those that are repeated too: throttling and errors are
 * counted, and what the role may not do is logged with its action. Other refusals are answers.
 */
export function faultCounter({ logger, metrics }: Telemetry): (fault: PortError) => void {
  return (fault) => {
    const { kind, code, message } = fault;
    if (kind === 'throttled') {
      metrics.addMetric(METRICS.throttled.name, MetricUnit.Count, 1);
      return;
    }
    if (kind !== 'unauthorised' && !mayRetry(fault)) return;
    metrics.addMetric(METRICS.cloudErrors.name, MetricUnit.Count, 1);
    logger.warn('call of AWS failed', { kind, code, text: message });
  };
}

/** Metrics by the name that use cases have for them. */
const BY_SHORT_NAME = new Map(
  Object.values(METRICS).map((metric) => [metric.name.replace(/^(karpenter|joiner)_/, ''), metric]),
);

/**
 * Decisions as log lines that the dashboard's queries read, and counts as metrics. Detail by pool,
 * type or reason is in the log only: each series of a metric costs as much as a function.
 */
export function logRecorder({ logger, metrics }: Telemetry): Recorder {
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
      if (known !== undefined) metrics.addMetric(known.name, MetricUnit[known.unit], by);
      logger.debug('count', { metric, ...dimensions, by });
    },
    measure: (metric, value) => {
      const known = BY_SHORT_NAME.get(metric);
      if (known !== undefined) metrics.addMetric(known.name, MetricUnit[known.unit], value);
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
