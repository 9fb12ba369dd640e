import { afterEach, describe, expect, it, vi } from 'vitest';
import { composed, lagOf } from '../../../functions/runtime/compose.ts';
import { faultCounter, telemetry } from '../../../functions/runtime/telemetry.ts';
import { METRICS } from '../../../shared/contract/metrics.ts';
import { ENV } from '../../../shared/contract.ts';
import { PortError } from '../../../shared/ports.ts';

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** As the stack sets them: Powertools would make a dimension of the name. */
function deployed() {
  vi.stubEnv('POWERTOOLS_SERVICE_NAME', 'joiner-provision');
  vi.stubEnv('POWERTOOLS_DEV', 'true');
  const { logger, metrics } = telemetry('demo');
  const warn = vi.spyOn(logger, 'warn').mockReturnValue(undefined);
  return { warn, metrics, heard: faultCounter({ logger, metrics }) };
}

describe('metrics', () => {
  it('have the one dimension by which alarms and dashboard look for them', () => {
    const { metrics, heard } = deployed();
    heard(new PortError('throttled', 'RequestLimitExceeded', 'ec2:CreateFleet: slow down'));
    const { _aws, ...values } = metrics.serializeMetrics();
    expect(_aws.CloudWatchMetrics[0]?.Dimensions).toEqual([['cluster']]);
    expect(values).toEqual({ cluster: 'demo', [METRICS.throttled.name]: 1 });
  });

  const unreachable = Object.assign(new Error('reset'), { code: 'ECONNRESET' });
  it.each([
    ['what the role may not do', 'unauthorised', 'UnauthorizedOperation', 1],
    ['a call that never arrived', 'unknown', 'ECONNRESET', 1],
    ['a file that is not there', 'not-found', 'NoSuchKey', 0],
    ['a condition that did not hold', 'unknown', 'PreconditionFailed', 0],
    ['a shortage', 'unfulfillable', 'InsufficientInstanceCapacity', 0],
  ] as const)('%s: %s %s counts %d errors', (_, kind, code, count) => {
    const { metrics, heard, warn } = deployed();
    heard(new PortError(kind, code, 'ec2:CreateFleet: no', { cause: unreachable }));
    const errors = metrics.hasStoredMetrics()
      ? Reflect.get(metrics.serializeMetrics(), METRICS.cloudErrors.name)
      : 0;
    expect(errors).toBe(count);
    expect(warn).toHaveBeenCalledTimes(count);
  });
});

describe('the lag of an event', () => {
  const atMs = Date.parse('2026-01-01T00:00:10Z');
  const wake = { 'detail-type': 'Joiner Wake-up', time: '2026-01-01T00:00:08Z' };

  it('is how long a wake-up was on its way', () => {
    expect(lagOf(wake, atMs)).toBe(2000);
    // Clocks differ, and EventBridge rounds.
    expect(lagOf(wake, atMs - 5000)).toBe(0);
  });

  it.each([
    {},
    { Records: [] },
    { ...wake, 'detail-type': 'Joiner Schedule' },
    { ...wake, time: 'never' },
  ])('is nothing for %j', (event) => {
    expect(lagOf(event, atMs)).toBeUndefined();
  });
});

describe('the level of the log', () => {
  it.each(['WARN', 'ERROR', 'INFO', 'DEBUG'])('is %s though Lambda is set to INFO', (level) => {
    vi.stubEnv('AWS_LAMBDA_LOG_LEVEL', 'INFO');
    vi.stubEnv('LOG_LEVEL', level);
    expect(telemetry('demo').logger.getLevelName()).toBe(level);
  });
});

it('an invocation that stays publishes its metrics meanwhile', async () => {
  for (const [name, value] of Object.entries({
    [ENV.cluster]: 'demo',
    [ENV.function]: 'lifecycle',
    [ENV.version]: 'test',
    [ENV.account]: '111122223333',
    [ENV.bucket]: 'a-bucket',
    [ENV.eventBus]: 'joiner-demo',
    AWS_REGION: 'us-east-1',
    POWERTOOLS_DEV: 'true',
    POWERTOOLS_METRICS_DISABLED: 'false',
  })) {
    vi.stubEnv(name, value);
  }
  const log = vi.spyOn(console, 'log').mockReturnValue(undefined);
  const said: number[] = [];
  const handler = composed(async (_event: object, { telemetry: { metrics }, publish }) => {
    for (let pass = 0; pass < 2; pass += 1) {
      metrics.addMetric(METRICS.evictions.name, 'Count', 1);
      publish();
      said.push(log.mock.calls.length);
    }
  });
  const context = { awsRequestId: 'a', getRemainingTimeInMillis: () => 1000 };
  await Reflect.apply(handler, undefined, [{}, context]);
  expect(said).toEqual([1, 2]);
  expect(log).toHaveBeenCalledTimes(2);
});
