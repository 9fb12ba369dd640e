import { gzipSync } from 'node:zlib';
import { MEASUREMENTS_LINE, type Measurement } from '../../../shared/contract/prometheus.ts';
import { type FunctionName, functionName } from '../../../shared/contract.ts';

/** A line of a log with CloudWatch's own id. */
export interface LogLine {
  readonly id: string;
  readonly timestamp: number;
  readonly message: string;
}

/** What CloudWatch Logs hands to a subscribed function. */
export function deliveryOf(
  cluster: string,
  name: FunctionName,
  logEvents: readonly LogLine[],
  messageType = 'DATA_MESSAGE',
): { readonly awslogs: { readonly data: string } } {
  const text = JSON.stringify({
    messageType,
    owner: '111122223333',
    logGroup: `/aws/lambda/${functionName(cluster, name)}`,
    logStream: '2026/01/01/[$LATEST]0123456789abcdef',
    subscriptionFilters: ['measured'],
    logEvents,
  });
  return { awslogs: { data: gzipSync(text).toString('base64') } };
}

/** As the functions write them. */
export function measurementLine(
  id: string,
  timestamp: number,
  measurements: readonly Measurement[],
): LogLine {
  const message = JSON.stringify({ kind: MEASUREMENTS_LINE, measurements });
  return { id, timestamp, message };
}

/** As Lambda reports the end of a run. */
export function reportLine(
  id: string,
  timestamp: number,
  durationMs: number,
  status = 'success',
): LogLine {
  const message = JSON.stringify({
    time: new Date(timestamp).toISOString(),
    type: 'platform.report',
    record: {
      requestId: id,
      metrics: { durationMs, billedDurationMs: Math.ceil(durationMs), memorySizeMB: 512 },
      status,
    },
  });
  return { id, timestamp, message };
}
