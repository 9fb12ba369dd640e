import { launchFaultKind, mayBeHadElsewhere } from '../core/launch/faults.ts';
import { type FaultKind, PortError } from '../ports/fault.ts';

/** Spot cannot be had at all before somebody makes the service-linked role. */
export const NO_SPOT_ROLE = 'AuthFailure.ServiceLinkedRoleCreationNotPermitted';

/** https://docs.aws.amazon.com/ec2/latest/devguide/ec2-api-throttling.html */
const THROTTLED: ReadonlySet<string> = new Set([
  'RequestLimitExceeded',
  'RequestThrottled',
  'RequestThrottledException',
  'EC2ThrottledException',
  'Throttling',
  'ThrottlingException',
  'ThrottledException',
  'TooManyRequestsException',
  'PriorRequestNotComplete',
  'SlowDown',
]);

const UNAUTHORISED: ReadonlySet<string> = new Set([
  'UnauthorizedOperation',
  'UnauthorizedException',
  'AccessDenied',
  'AccessDeniedException',
  'AuthFailure',
  NO_SPOT_ROLE,
  'InvalidClientTokenId',
  'UnrecognizedClientException',
  'SignatureDoesNotMatch',
  'ExpiredToken',
  'ExpiredTokenException',
  'RequestExpired',
  'OptInRequired',
]);

/** `InvalidInstanceID.NotFound`, `NoSuchEntity`, `ParameterNotFound`, `ResourceNotFoundException`. */
const NOT_FOUND = /NotFound(Exception)?$|^NoSuch/;

/** What a code of any AWS service means to a use case. */
export function faultKind(code: string): FaultKind {
  // No capacity, quota or addresses for that choice; another one may work.
  if (code !== NO_SPOT_ROLE && mayBeHadElsewhere({ kind: launchFaultKind(code), code })) {
    return 'unfulfillable';
  }
  if (THROTTLED.has(code)) return 'throttled';
  if (UNAUTHORISED.has(code)) return 'unauthorised';
  return NOT_FOUND.test(code) ? 'not-found' : 'unknown';
}

/** The SDK's exceptions carry AWS's code as `Code` or, where it is modelled, as their name. */
function codeOf(error: Error): string {
  if ('Code' in error && typeof error.Code === 'string') return error.Code;
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.name;
}

/** Of the answer that the SDK has made an error of; undefined: there was none. */
export function httpStatusOf(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('$metadata' in error)) return undefined;
  const metadata = error.$metadata;
  if (typeof metadata !== 'object' || metadata === null) return undefined;
  const status = 'httpStatusCode' in metadata ? metadata.httpStatusCode : undefined;
  return typeof status === 'number' ? status : undefined;
}

/** What the SDK calls an answer without a code of AWS's: a proxy on the way has given it. */
const CODELESS: ReadonlySet<string> = new Set(['Unknown', 'UnknownError', 'Error', 'SyntaxError']);

/**
 * Codes that come with a 4xx and still pass: time-outs, and what IAM says while another change of
 * the same is under way, or while it does not know yet that a profile has lost its role.
 * https://docs.aws.amazon.com/IAM/latest/APIReference/API_AddRoleToInstanceProfile.html
 */
const PASSING: ReadonlySet<string> = new Set([
  'RequestTimeout',
  'RequestTimeoutException',
  'ConcurrentModification',
  'ConcurrentModificationException',
  'DeleteConflict',
  'DeleteConflictException',
  'EntityTemporarilyUnmodifiable',
  'EntityTemporarilyUnmodifiableException',
]);

/**
 * Whether AWS itself has refused what was asked, for good: by a 4xx with a code. Without a status
 * the call never arrived or had no answer; a 5xx is AWS's own trouble.
 */
function isRefusal(code: string, status: number | undefined): boolean {
  const isClientsFault = status !== undefined && status >= 400 && status < 500;
  return isClientsFault && !CODELESS.has(code) && !PASSING.has(code);
}

const WHICH_ROLES = "(the stack's nodeRole and nodeRoles are the roles that may be passed)";

/**
 * EC2 adds a long encoded text that only the account's administrators can read. A node role that may
 * not be passed is one that the stack does not know.
 */
export function plainMessage(message: string): string {
  const plain = message.replace(/\s*Encoded authorization failure message:.*/s, '').trim();
  const isPassRole = /not authorized to perform: iam:PassRole\b/.test(plain);
  return isPassRole && !plain.endsWith(WHICH_ROLES) ? `${plain} ${WHICH_ROLES}` : plain;
}

/**
 * Classifies what a call threw, once; `action` is as IAM names it, e.g. `ec2:CreateFleet`, `role`
 * is named where that action is not allowed to it.
 */
export function portError(error: unknown, action: string, role?: string): PortError {
  if (error instanceof PortError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = codeOf(cause);
  const status = httpStatusOf(cause);
  const kind = faultKind(code) === 'unknown' && status === 429 ? 'throttled' : faultKind(code);
  const said = plainMessage(cause.message);
  const isRefused = kind === 'unauthorised' && role !== undefined;
  const message = isRefused ? `${action} is not allowed to ${role}: ${said}` : `${action}: ${said}`;
  const isTransient = kind === 'throttled' || (kind === 'unknown' && !isRefusal(code, status));
  return new PortError(kind, code, message, { cause, isTransient });
}

const NETWORK: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'EPIPE',
  'ETIMEDOUT',
  'EAI_AGAIN',
  'TimeoutError',
]);

/** Whether the same call may succeed a moment later: it never arrived, or AWS had a bad moment. */
export function mayRetry(error: PortError): boolean {
  const status = httpStatusOf(error.cause);
  return (
    error.kind === 'throttled' || NETWORK.has(error.code) || (status !== undefined && status >= 500)
  );
}
