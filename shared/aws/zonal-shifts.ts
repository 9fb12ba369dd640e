import { Sha256 } from '@smithy/core/checksum';
import { SignatureV4 } from '@smithy/signature-v4';
import type { ZonalShifts } from '../ports/cloud.ts';
import { PortError } from '../ports/fault.ts';
import type { AwsAccess } from './access.ts';
import type { Calls } from './calls.ts';

export interface ZonalShiftParts {
  readonly access: AwsAccess;
  readonly calls: Calls;
  /** Of the partition, e.g. `amazonaws.com`. */
  readonly dnsSuffix: string;
  /** The cluster as ARC knows it; undefined: it is not registered, and nothing is asked. */
  readonly resource: () => Promise<string | undefined>;
}

const SERVICE = 'arc-zonal-shift';
/** ARC is asked once in this time. */
const KEPT_MS = 55_000;
/** A launch waits no longer for ARC: what it says then counts for the next one. */
const WAIT_MS_MAX = 500;
const TIMEOUT_MS = 5_000;

/** An entry of `zonalShifts` or `autoshifts`. */
interface Shift {
  readonly appliedStatus?: unknown;
  readonly awayFrom?: unknown;
}

/**
 * What ARC says of the cluster, which EKS registers there itself where zonal shift is on. One call
 * tells of shifts that people begin, of practice runs and of autoshifts.
 * https://docs.aws.amazon.com/arc-zonal-shift/latest/api/API_GetManagedResource.html
 */
export class ArcZonalShifts implements ZonalShifts {
  private readonly parts: ZonalShiftParts;
  private known: ReadonlySet<string> | undefined;
  private askedAtMs = Number.NEGATIVE_INFINITY;
  private asking: Promise<void> | undefined;

  constructor(parts: ZonalShiftParts) {
    this.parts = parts;
  }

  async awayFrom(): Promise<ReadonlySet<string> | undefined> {
    const { timing } = this.parts.calls;
    if (timing.nowMs() - this.askedAtMs >= KEPT_MS) {
      this.asking ??= this.ask().finally(() => {
        this.asking = undefined;
      });
    }
    if (this.asking !== undefined) await Promise.race([this.asking, timing.sleep(WAIT_MS_MAX)]);
    return this.known;
  }

  private async ask(): Promise<void> {
    const { calls, resource } = this.parts;
    this.askedAtMs = calls.timing.nowMs();
    try {
      const arn = await resource();
      this.known =
        arn === undefined
          ? new Set()
          : shiftsOf(await calls.run(`${SERVICE}:GetManagedResource`, () => this.get(arn)));
    } catch (error) {
      if (!(error instanceof PortError)) throw error;
      // What was known stays known; a cluster that ARC does not know is shifted nowhere.
      if (error.kind === 'not-found') this.known = new Set();
    }
  }

  private async get(arn: string): Promise<unknown> {
    const { access, dnsSuffix } = this.parts;
    const { region, credentials, endpoint, functionName } = access;
    const base = new URL(endpoint ?? `https://${SERVICE}.${region}.${dnsSuffix}`);
    const signer = new SignatureV4({ service: SERVICE, region, credentials, sha256: Sha256 });
    const path = `/managedresources/${encodeURIComponent(arn)}`;
    const { headers } = await signer.sign({
      method: 'GET',
      protocol: base.protocol,
      hostname: base.hostname,
      path,
      headers: { host: base.host, 'user-agent': `joiner/${functionName}` },
    });
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const response = await fetch(new URL(path, base), { headers, signal });
    const body: unknown = await response.json().catch(() => undefined);
    if (!response.ok) throw faultOf(response, body);
    return body;
  }
}

/** As the SDK's exceptions are: the code is the name. */
function faultOf(response: Response, body: unknown): Error {
  const said = typeof body === 'object' && body !== null ? body : {};
  const message = 'message' in said ? String(said.message) : response.statusText;
  const [code = `Http${response.status}`] = (
    response.headers.get('x-amzn-errortype') ?? `Http${response.status}`
  ).split(':');
  return Object.assign(new Error(message), {
    name: code,
    $metadata: { httpStatusCode: response.status },
  });
}

function shiftsOf(answer: unknown): ReadonlySet<string> {
  if (typeof answer !== 'object' || answer === null) return new Set();
  const lists = [
    'zonalShifts' in answer ? answer.zonalShifts : [],
    'autoshifts' in answer ? answer.autoshifts : [],
  ];
  const shifts: readonly Shift[] = lists.flatMap((list) => (Array.isArray(list) ? list : []));
  return new Set(
    shifts.flatMap(({ appliedStatus, awayFrom }) =>
      appliedStatus === 'APPLIED' && typeof awayFrom === 'string' ? [awayFrom] : [],
    ),
  );
}
