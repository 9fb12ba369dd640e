/**
 * What Lambda tells a handler of its invocation, as far as we and the middlewares read it.
 * https://docs.aws.amazon.com/lambda/latest/dg/nodejs-context.html
 */
export interface Context {
  readonly awsRequestId: string;
  readonly functionName: string;
  readonly functionVersion: string;
  readonly invokedFunctionArn: string;
  readonly memoryLimitInMB: string;
  readonly logGroupName: string;
  readonly logStreamName: string;
  readonly callbackWaitsForEmptyEventLoop: boolean;
  getRemainingTimeInMillis(): number;
}

/** An event of the stack's bus or of a schedule. */
export interface WakeUpEvent {
  readonly source?: string;
  readonly 'detail-type'?: string;
  readonly time?: string;
  readonly detail?: unknown;
}

/**
 * A message as Lambda hands it over.
 * https://docs.aws.amazon.com/lambda/latest/dg/with-sqs.html
 */
export interface QueueRecord {
  readonly messageId: string;
  readonly body: string;
  /** `SentTimestamp`: when the queue took it, in milliseconds since the epoch. */
  readonly attributes: { readonly SentTimestamp: string };
}

/** A batch of the interruption queue. */
export interface QueueEvent {
  readonly Records: readonly QueueRecord[];
}

/** Which messages are to come again. */
export interface QueueAnswer {
  readonly batchItemFailures: readonly { readonly itemIdentifier: string }[];
}
