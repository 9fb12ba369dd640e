import type { Context } from '../../../functions/runtime/context.ts';
import { SETTINGS } from '../../../shared/contract/settings.ts';
import { ENV, type FunctionName } from '../../../shared/contract.ts';
import { BUCKET, CLUSTER, type WireCloud } from '../aws/cloud.ts';

export const REGION = 'us-east-1';
export const KEYS = { accessKeyId: 'AKIDEXAMPLE', secretAccessKey: 'a-secret-of-the-test' };

/** Of a function that has an identity of its own. */
export function accessKeyOf(name: FunctionName): string {
  return `AKID${name.toUpperCase()}`;
}

export type Handler = (event: object, context: Context) => Promise<unknown>;
export type Handlers = ReadonlyMap<FunctionName, Handler>;

/** Functions that a closed loop has, in the order in which they are loaded. */
export const LOOP_FUNCTIONS = [
  'nodeclass',
  'provision',
  'lifecycle',
  'disrupt',
  'interrupt',
  'watch',
] as const satisfies readonly FunctionName[];

export type LoopFunction = (typeof LOOP_FUNCTIONS)[number];

/**
 * What is left to an invocation by default: enough for one pass, so that a test sees the state
 * after each; what is unsettled then is the next round's.
 */
export const ONE_PASS_MS = 20_300;

export function contextOf(
  name: string,
  remaining: number | (() => number),
  awsRequestId = `${name}-${Math.random().toString(36).slice(2)}`,
): Context {
  const startedAtMs = performance.now();
  const remainingMs = (): number =>
    typeof remaining === 'number' ? startedAtMs + remaining - performance.now() : remaining();
  return {
    awsRequestId,
    functionName: name,
    functionVersion: '1',
    invokedFunctionArn: `arn:aws:lambda:${REGION}:111122223333:function:${name}`,
    memoryLimitInMB: '1769',
    logGroupName: name,
    logStreamName: name,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: remainingMs,
  };
}

/** The variables that the stack sets, pointed at loopback. */
export function environmentOf(
  cloud: WireCloud,
  more: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return {
    [ENV.cluster]: CLUSTER,
    [ENV.version]: 'test',
    [ENV.account]: cloud.account.id,
    [ENV.bucket]: BUCKET,
    [ENV.eventBus]: 'joiner-demo',
    [SETTINGS.batchIdleDuration.variable]: '50ms',
    [SETTINGS.batchMaxDuration.variable]: '500ms',
    [ENV.logLevel]: 'INFO',
    AWS_REGION: cloud.account.region,
    AWS_ACCESS_KEY_ID: KEYS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: KEYS.secretAccessKey,
    AWS_ENDPOINT_URL: cloud.endpoint,
    POWERTOOLS_DEV: 'false',
    POWERTOOLS_METRICS_DISABLED: 'true',
    ...more,
  };
}

/** Each function reads its environment when it is loaded, as a sandbox of its own would. */
export async function loadHandlers(
  environment: Readonly<Record<string, string>>,
): Promise<Handlers> {
  Object.assign(process.env, environment);
  const handlers = new Map<FunctionName, Handler>();
  for (const name of LOOP_FUNCTIONS) {
    process.env[ENV.function] = name;
    const module = (await import(`../../../functions/${name}/handler.ts`)) as {
      handler: Handler;
    };
    handlers.set(name, module.handler);
  }
  return handlers;
}
