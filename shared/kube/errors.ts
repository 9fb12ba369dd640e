import { parsedJson } from '../core/parsed-json.ts';
import { type FaultKind, PortError } from '../ports/fault.ts';

/** Every way in which the API server, or the way to it, can refuse. */
export type KubeFault =
  | { readonly kind: 'notFound' }
  /** `exists`: a create met an object of that name; `changed`: a precondition did not hold. */
  | { readonly kind: 'conflict'; readonly what: 'exists' | 'changed' }
  /** The resourceVersion or continue token is too old: list again. */
  | { readonly kind: 'gone' }
  | { readonly kind: 'throttled'; readonly retryAfterMs: number | undefined }
  /** An eviction that a PodDisruptionBudget refuses. */
  | { readonly kind: 'blocked' }
  | { readonly kind: 'forbidden'; readonly verb: string; readonly resource: string }
  | { readonly kind: 'invalid'; readonly causes: readonly InvalidCause[] }
  | { readonly kind: 'unavailable'; readonly retryAfterMs: number | undefined }
  | { readonly kind: 'unauthorised' };

/** One field that the API server rejected. */
export interface InvalidCause {
  readonly path: string;
  readonly message: string;
}

const PORT_KINDS: Readonly<Record<KubeFault['kind'], FaultKind>> = {
  notFound: 'not-found',
  conflict: 'unknown',
  gone: 'unknown',
  throttled: 'throttled',
  blocked: 'throttled',
  forbidden: 'unauthorised',
  invalid: 'unknown',
  unavailable: 'unknown',
  unauthorised: 'unauthorised',
};

/**
 * What is otherwise than for other faults of its kind. EKS does not know who asks while it cannot
 * ask STS, too; what the server has checked and refused stays refused.
 */
const PASSING: Readonly<Partial<Record<KubeFault['kind'], { readonly isTransient: boolean }>>> = {
  unauthorised: { isTransient: true },
  invalid: { isTransient: false },
};

/** What was asked when the error happened; it makes messages worth reading. */
export interface Asked {
  readonly verb: string;
  /** e.g. `nodeclaims.karpenter.sh/default-x7k2p` */
  readonly resource: string;
}

export class KubeError extends PortError {
  readonly fault: KubeFault;

  constructor(fault: KubeFault, code: string, message: string, options?: { cause?: unknown }) {
    super(PORT_KINDS[fault.kind], code, message, { ...PASSING[fault.kind], ...options });
    this.fault = fault;
  }
}

export function isKubeFault<Kind extends KubeFault['kind']>(
  error: unknown,
  kind: Kind,
): error is KubeError & { readonly fault: Extract<KubeFault, { kind: Kind }> } {
  return error instanceof KubeError && error.fault.kind === kind;
}

/** The way to the API server failed: no route, reset, time-out, bad certificate. */
export function unreachable(asked: Asked, cause: unknown): KubeError {
  const why = cause instanceof Error ? cause.message : String(cause);
  const message = `${asked.verb} ${asked.resource}: the API server cannot be reached: ${why}`;
  const fault: KubeFault = { kind: 'unavailable', retryAfterMs: undefined };
  return new KubeError(fault, 'unreachable', message, { cause });
}

/** Classifies an answer that is not a success. `body` is a metav1.Status, or any text. */
export function classify(
  asked: Asked,
  status: number,
  body: string,
  retryAfterHeader: string | undefined,
): KubeError {
  const details = parseStatus(body);
  const fault = faultOf(asked, status, details, retryAfterMs(details, retryAfterHeader));
  const said = details.message || body.slice(0, 500).trim() || `HTTP ${status}`;
  return new KubeError(fault, String(status), `${asked.verb} ${asked.resource}: ${said}`);
}

/** A watch reports its faults inside the stream, as a Status object. */
export function classifyStatus(asked: Asked, object: unknown): KubeError {
  const code = field(object, 'code');
  return classify(asked, typeof code === 'number' ? code : 500, JSON.stringify(object), undefined);
}

interface StatusDetails {
  readonly reason: string;
  readonly message: string;
  readonly retryAfterSeconds: number | undefined;
  readonly causes: readonly { readonly reason: string; readonly cause: InvalidCause }[];
}

function faultOf(
  asked: Asked,
  status: number,
  details: StatusDetails,
  retryAfter: number | undefined,
): KubeFault {
  switch (status) {
    case 401:
      return { kind: 'unauthorised' };
    case 403:
      return { kind: 'forbidden', verb: asked.verb, resource: asked.resource };
    case 404:
      return { kind: 'notFound' };
    case 409:
      return {
        kind: 'conflict',
        what: details.reason === 'AlreadyExists' ? 'exists' : 'changed',
      };
    case 410:
      return { kind: 'gone' };
    case 429:
      return details.causes.some(({ reason }) => reason === 'DisruptionBudget')
        ? { kind: 'blocked' }
        : { kind: 'throttled', retryAfterMs: retryAfter };
    default:
      break;
  }
  if (status < 500) return { kind: 'invalid', causes: details.causes.map(({ cause }) => cause) };
  // An eviction of a pod that two budgets select is refused with a plain 500 and this sentence.
  if (details.message.includes('more than one PodDisruptionBudget')) return { kind: 'blocked' };
  return { kind: 'unavailable', retryAfterMs: retryAfter };
}

function retryAfterMs(details: StatusDetails, header: string | undefined): number | undefined {
  const seconds = details.retryAfterSeconds ?? (header === undefined ? NaN : Number(header));
  return Number.isFinite(seconds) ? seconds * 1000 : undefined;
}

function parseStatus(body: string): StatusDetails {
  // Undefined: a proxy or load balancer answered, not the API server.
  const parsed = parsedJson(body);
  const details = field(parsed, 'details');
  const seconds = field(details, 'retryAfterSeconds');
  const causes = field(details, 'causes');
  return {
    reason: text(field(parsed, 'reason')),
    message: text(field(parsed, 'message')),
    retryAfterSeconds: typeof seconds === 'number' ? seconds : undefined,
    causes: (Array.isArray(causes) ? causes : []).map((each: unknown) => ({
      reason: text(field(each, 'reason')),
      cause: { path: text(field(each, 'field')), message: text(field(each, 'message')) },
    })),
  };
}

function field(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined;
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
