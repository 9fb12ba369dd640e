import { type WrittenSeries, writeRequest } from './write-request.ts';

/** How requests are made known to the endpoint: headers that the body and the address ask for. */
export type Authorize = (
  address: URL,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => Promise<Readonly<Record<string, string>>>;

export interface SenderParts {
  readonly endpoint: URL;
  readonly authorize: Authorize;
  readonly version: string;
  readonly post: Post;
  readonly sleep: (ms: number) => Promise<void>;
}

/** One HTTP request; rejects where there is no answer. */
export type Post = (
  address: URL,
  headers: Readonly<Record<string, string>>,
  body: Uint8Array,
) => Promise<Answer>;

export interface Answer {
  readonly status: number;
  /** The header `Retry-After`. */
  readonly retryAfter: string | undefined;
  readonly text: string;
}

/** What became of the samples of one writing. */
export interface Sent {
  readonly written: number;
  readonly failed: number;
  /** What the endpoint said of those that failed, each once. */
  readonly faults: readonly string[];
}

/** Of one request: managed Prometheus takes 1 MB, and Prometheus itself sends as many. */
export const SERIES_MAX = 2_000;
const ATTEMPTS = 4;
const FIRST_WAIT_MS = 1_000;
const WAIT_MS_MAX = 10_000;
const TEXT_MAX = 300;

/**
 * Sends series in requests of a bounded size, one after the other. As the specification has it,
 * 5xx, 429 and no answer are tried again, a few times; every other refusal is final, since the same
 * would be refused again. After requests that could not be sent the others are not tried.
 */
export async function sendSeries(
  parts: SenderParts,
  series: readonly WrittenSeries[],
): Promise<Sent> {
  let [written, failed] = [0, 0];
  const faults = new Set<string>();
  let isSilent = false;
  for (let at = 0; at < series.length; at += SERIES_MAX) {
    const part = series.slice(at, at + SERIES_MAX);
    const samples = part.reduce((sum, each) => sum + each.samples.length, 0);
    if (isSilent) {
      failed += samples;
      continue;
    }
    const fault = await sendOne(parts, writeRequest(part));
    if (fault === undefined) {
      written += samples;
      continue;
    }
    failed += samples;
    faults.add(fault.text);
    isSilent = fault.isRepeatable;
  }
  return { written, failed, faults: [...faults] };
}

interface Fault {
  readonly text: string;
  readonly isRepeatable: boolean;
}

/** Undefined: it was taken. */
async function sendOne(parts: SenderParts, body: Uint8Array): Promise<Fault | undefined> {
  let fault: Fault | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const answer = await postOnce(parts, body);
    if ('status' in answer && answer.status >= 200 && answer.status < 300) return undefined;
    fault = faultOf(answer);
    if (!fault.isRepeatable || attempt === ATTEMPTS - 1) return fault;
    const seconds = 'status' in answer ? Number(answer.retryAfter) : Number.NaN;
    const askedMs = seconds >= 0 ? seconds * 1000 : FIRST_WAIT_MS * 2 ** attempt;
    await parts.sleep(Math.min(askedMs, WAIT_MS_MAX));
  }
  return fault;
}

async function postOnce(
  { endpoint, authorize, version, post }: SenderParts,
  body: Uint8Array,
): Promise<Answer | { readonly silence: string }> {
  const headers = {
    host: endpoint.host,
    'content-type': 'application/x-protobuf',
    'content-encoding': 'snappy',
    'user-agent': `joiner/${version}`,
    'x-prometheus-remote-write-version': '0.1.0',
  };
  try {
    return await post(endpoint, await authorize(endpoint, headers, body), body);
  } catch (error) {
    return { silence: error instanceof Error ? causeOf(error) : String(error) };
  }
}

/** Node's fetch says why in the cause alone. */
function causeOf({ message, cause }: Error): string {
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function faultOf(answer: Answer | { readonly silence: string }): Fault {
  if ('silence' in answer) return { text: `no answer: ${answer.silence}`, isRepeatable: true };
  const { status, text } = answer;
  const said = text.trim().slice(0, TEXT_MAX);
  return {
    text: `status ${status}${said === '' ? '' : `: ${said}`}`,
    isRepeatable: status === 429 || status >= 500,
  };
}
