import { Logger } from '@aws-lambda-powertools/logger';
import { Metrics, MetricUnit } from '@aws-lambda-powertools/metrics';
import {
  CLUSTER_DIMENSION,
  DECISION_LOG,
  METRICS,
  METRICS_NAMESPACE,
  type MetricName,
} from '../../shared/contract.ts';
import type { DecisionRecord, Recorder } from '../../shared/ports.ts';

const NAMES: ReadonlySet<string> = new Set(Object.values(METRICS));

/** The log and the metrics of one sandbox. */
export interface Telemetry {
  readonly logger: Logger;
  readonly metrics: Metrics;
}

export function telemetry(cluster: string): Telemetry {
  return {
    logger: new Logger({ persistentLogAttributes: { cluster } }),
    metrics: new Metrics({
      namespace: METRICS_NAMESPACE,
      defaultDimensions: { [CLUSTER_DIMENSION]: cluster },
    }),
  };
}

/** The metric that use cases name without its prefix; undefined: it is only logged. */
function metricName(name: string): MetricName | undefined {
  const full = [`karpenter_${name}`, `joiner_${name}`].find((each) => NAMES.has(each));
  return full as MetricName | undefined;
}

/**
 * Decisions as log lines that the dashboard's queries read, and counts as metrics. Detail by pool,
 * type or reason is in the log only: each series of a metric costs as much as a function.
 */
export function logRecorder({ logger, metrics }: Telemetry): Recorder {
  const { fields, message } = DECISION_LOG;
  return {
    decision: async (record: DecisionRecord) => {
      const { nodePool, reason, chosen } = record.detail;
      logger.info(message, {
        [fields.useCase]: record.useCase,
        [fields.action]: record.action,
        [fields.object]: record.object,
        [fields.text]: record.message,
        ...(typeof reason === 'string' ? { [fields.reason]: reason } : {}),
        ...(typeof nodePool === 'string' ? { [fields.nodePool]: nodePool } : {}),
        ...capacityTypeOf(chosen, fields.capacityType),
        id: record.id,
      });
    },
    count: (metric, dimensions, by = 1) => {
      const name = metricName(metric);
      if (name !== undefined) metrics.addMetric(name, MetricUnit.Count, by);
      logger.debug('count', { metric, ...dimensions, by });
    },
  };
}

function capacityTypeOf(chosen: unknown, field: string): Readonly<Record<string, string>> {
  if (typeof chosen !== 'object' || chosen === null || !('capacityType' in chosen)) return {};
  return { [field]: String(chosen.capacityType) };
}
