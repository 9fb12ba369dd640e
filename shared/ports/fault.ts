/**
 * Every way in which the cluster or the cloud can refuse, as far as a use case tells them apart.
 * `unfulfillable`: no capacity, quota or addresses for that choice; another one may work. `invalid`:
 * what the object asks for cannot be, as we read it ourselves; `unknown`: anything else.
 */
export type FaultKind =
  | 'unfulfillable'
  | 'throttled'
  | 'not-found'
  | 'unauthorised'
  | 'invalid'
  | 'unknown';

export interface PortErrorOptions {
  readonly cause?: unknown;
  /** @default throttling and what is unknown pass, the rest does not */
  readonly isTransient?: boolean;
}

/** An operating error; `code` is the remote side's own (EC2 error code, HTTP status). */
export class PortError extends Error {
  override readonly name = 'PortError';
  readonly kind: FaultKind;
  readonly code: string;
  /**
   * Whether the same may work in a while without anybody's doing: AWS cannot be asked just now. Only
   * the adapter knows it of an unknown fault: a refusal stays one until somebody changes something.
   */
  readonly isTransient: boolean;

  constructor(kind: FaultKind, code: string, message: string, options: PortErrorOptions = {}) {
    super(message, options);
    this.kind = kind;
    this.code = code;
    this.isTransient = options.isTransient ?? (kind === 'throttled' || kind === 'unknown');
  }
}

/** Whether it is an operating error that passes by itself. */
export function isTransient(error: unknown): boolean {
  return error instanceof PortError && error.isTransient;
}
