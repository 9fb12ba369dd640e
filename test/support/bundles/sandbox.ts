/**
 * A process that is to a bundle what Lambda's sandbox is: it loads the handler and calls it for each
 * message of its parent. `node sandbox.ts FOLDER`.
 */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** One invocation, as the parent asks for it. */
export interface Asked {
  readonly id: string;
  readonly event: object;
  readonly remainingMs: number;
}

/** What came of it. */
export interface Answered {
  readonly id: string;
  readonly answer?: unknown;
  readonly error?: string;
}

type Handler = (event: object, context: object) => Promise<unknown>;

const [, , folder = ''] = process.argv;
const loaded = (await import(pathToFileURL(join(folder, 'index.mjs')).href)) as {
  readonly handler: Handler;
};

process.on('message', (message) => void answer(message as Asked));
process.send?.({ id: 'loaded' } satisfies Answered);

async function answer({ id, event, remainingMs }: Asked): Promise<void> {
  const endsAtMs = performance.now() + remainingMs;
  const name = process.env['AWS_LAMBDA_FUNCTION_NAME'] ?? '';
  const context = {
    awsRequestId: id,
    functionName: name,
    functionVersion: '$LATEST',
    invokedFunctionArn: `arn:aws:lambda:us-east-1:111122223333:function:${name}`,
    memoryLimitInMB: '1769',
    logGroupName: name,
    logStreamName: name,
    callbackWaitsForEmptyEventLoop: true,
    getRemainingTimeInMillis: () => endsAtMs - performance.now(),
  };
  try {
    const value = await loaded.handler(event, context);
    process.send?.({ id, answer: value } satisfies Answered);
  } catch (error) {
    const said = error instanceof Error ? (error.stack ?? error.message) : String(error);
    process.send?.({ id, error: said } satisfies Answered);
  }
}
