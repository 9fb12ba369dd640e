/**
 * Every way in which the cluster or the cloud can refuse, as far as a use case tells them apart.
 * `unfulfillable`: no capacity, quota or addresses for that choice; another one may work. `invalid`:
 * what the object asks for cannot be, as we read it ourselves; `unknown` may pass by itself.
 */
export type FaultKind =
  | 'unfulfillable'
  | 'throttled'
  | 'not-found'
  | 'unauthorised'
  | 'invalid'
  | 'unknown';

/** An operating error; `code` is the remote side's own (EC2 error code, HTTP status). */
export class PortError extends Error {
  override readonly name = 'PortError';
  readonly kind: FaultKind;
  readonly code: string;

  constructor(kind: FaultKind, code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
    this.code = code;
  }

  /** Whether the same may work in a while without anybody's doing: AWS cannot be asked just now. */
  get isPassing(): boolean {
    return this.kind === 'throttled' || this.kind === 'unknown';
  }
}
