import type { AnswerAddress } from './request.ts';

export interface Answer {
  readonly status: 'SUCCESS' | 'FAILED';
  /** Shown in the stack's events. */
  readonly reason: string;
}

/** CloudFormation refuses answers above 4 KB. */
const REASON_LENGTH_MAX = 2000;
const ATTEMPTS_MAX = 4;

export type Put = (url: string, body: string) => Promise<{ readonly status: number }>;

/**
 * Puts the answer where CloudFormation waits for it; without one it waits for the time-out of the
 * resource. Throws when it cannot be delivered, so that Lambda runs the request again.
 */
export async function sendAnswer(
  to: AnswerAddress,
  { status, reason }: Answer,
  put: Put,
  sleep: (ms: number) => Promise<void>,
): Promise<void> {
  const body = JSON.stringify({
    Status: status,
    Reason: reason.slice(0, REASON_LENGTH_MAX),
    PhysicalResourceId: to.physicalResourceId,
    StackId: to.stackId,
    RequestId: to.requestId,
    LogicalResourceId: to.logicalResourceId,
  });
  for (let attempt = 1; ; attempt += 1) {
    const outcome = await put(to.responseUrl, body).then(
      ({ status: code }) => (code < 300 ? undefined : `HTTP ${code}`),
      (error: unknown) => String(error),
    );
    if (outcome === undefined) return;
    if (attempt === ATTEMPTS_MAX) {
      throw new Error(`CloudFormation's address did not take the answer: ${outcome}`);
    }
    await sleep(500 * 2 ** attempt);
  }
}

/** The address is presigned for a PUT without a content type. */
export const putOverHttps: Put = async (url, body) =>
  await fetch(url, { method: 'PUT', body, headers: { 'content-type': '' } });
