import { injectLambdaContext } from '@aws-lambda-powertools/logger/middleware';
import middy from '@middy/core';
import { WAKE_EVENT } from '../../shared/contract.ts';
import { type Config, readConfig } from './config.ts';
import type { Context } from './context.ts';
import { addMetric, publishMetrics, type Telemetry, telemetry } from './telemetry.ts';

/** What every function is given beside its event. */
export interface Invocation {
  readonly config: Config;
  readonly telemetry: Telemetry;
  /** Unique to the invocation: who holds a Lease. */
  readonly requestId: string;
  /** Milliseconds until Lambda ends the invocation. */
  readonly remainingMs: () => number;
  /** Writes the metrics so far, with the time of now. */
  readonly publish: () => void;
}

/**
 * The one composition of all functions: environment, log, metrics, and the work. The event itself
 * is never logged. What the work throws fails the invocation, which the alarms see; the next minute
 * is the retry.
 */
export function composed<Event, Result>(
  work: (event: Event, invocation: Invocation) => Promise<Result>,
): (event: Event, context: Context) => Promise<Result> {
  const config = readConfig(process.env);
  const tools = telemetry(config.cluster);
  const { logger } = tools;
  const publish = (): void => publishMetrics(tools);
  return middy<Event, Result, Error, Context>()
    .use(injectLambdaContext(logger, { logEvent: false, clearState: true }))
    .use({
      after: publish,
      onError: ({ error }) => {
        logger.error('failed', { text: error?.message ?? '' });
        publish();
      },
    })
    .handler((event: Event, context: Context) => {
      const lagMs = lagOf(event, Date.now());
      if (lagMs !== undefined) addMetric(tools, 'lag', lagMs / 1000);
      return work(event, {
        config,
        telemetry: tools,
        requestId: context.awsRequestId,
        publish,
        remainingMs: () => context.getRemainingTimeInMillis(),
      });
    }) as (event: Event, context: Context) => Promise<Result>;
}

/** How long a wake-up was on its way; undefined for every other event. EventBridge says seconds. */
export function lagOf(event: unknown, nowMs: number): number | undefined {
  if (typeof event !== 'object' || event === null || !('detail-type' in event)) return undefined;
  if (event['detail-type'] !== WAKE_EVENT.wakeDetailType || !('time' in event)) return undefined;
  const sentAtMs = typeof event.time === 'string' ? Date.parse(event.time) : Number.NaN;
  return Number.isNaN(sentAtMs) ? undefined : Math.max(0, nowMs - sentAtMs);
}
