import type { Post } from './sender.ts';

const TIMEOUT_MS = 10_000;

/** By Node's fetch; `deadline`: when the invocation ends. */
export function fetchPost(deadline: () => AbortSignal | undefined): Post {
  return async (address, headers, body) => {
    const signal = AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), deadline() ?? NEVER]);
    const { host: _, ...sent } = headers;
    const response = await fetch(address, {
      method: 'POST',
      headers: sent,
      body: Buffer.from(body),
      signal,
      // Whoever is given credentials is whoever was named.
      redirect: 'manual',
    });
    return {
      status: response.status,
      retryAfter: response.headers.get('retry-after') ?? undefined,
      text: await response.text(),
    };
  };
}

const NEVER = new AbortController().signal;
