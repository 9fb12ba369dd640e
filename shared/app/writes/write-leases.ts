import type { Lease, Leases, Ports } from '../../ports.ts';
import { idsOf } from './claim-names.ts';
import { guardedPorts } from './guarded-ports.ts';

/**
 * What one invocation does at a time: decide on NodeClaims (`provision` and `disrupt`), and launch
 * them. The two are apart because a fleet takes seconds: others decide meanwhile, and the holder of
 * `launch` launches what they write.
 */
export type WriteLease = 'decide' | 'launch';

/** The result of work under a Lease. */
export interface LeasedResult<Result> {
  readonly result: Result;
  /** Another invocation wanted the Lease meanwhile, and left its work to this one. */
  readonly isWoken: boolean;
}

/** Runs work under the Leases of writers. */
export interface WriteLeases {
  /**
   * Runs the work with ports that re-check the Lease before each write. Undefined: another
   * invocation holds the Lease, or has taken it over, and does the work.
   */
  withLease<Result>(
    lease: WriteLease,
    work: (ports: Ports) => Promise<Result>,
  ): Promise<LeasedResult<Result> | undefined>;
  /** Invokes the function again, while this invocation is busy. Absent: it cannot be invoked. */
  readonly wakeAnother?: () => void;
}

/** For a single writer: no Lease is needed. */
export function withoutLeases(ports: Ports): WriteLeases {
  return { withLease: async (_, work) => ({ result: await work(ports), isWoken: false }) };
}

/** The Lease was taken over: its new holder does the work. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/**
 * The ports, which re-check the Lease before each write: a holder that lost it does no harm. It may
 * lose it between that and the write: the names of new NodeClaims are the Lease's, see there.
 */
export function leaseGuarded(ports: Ports, lease: Lease): Ports {
  const guarded = guardedPorts(ports, async (effect) => {
    if (effect === 'write' && !(await lease.isHeld())) {
      throw new LeaseLost('the Lease was taken over');
    }
  });
  return { ...guarded, ids: idsOf(lease.names) };
}

export interface WriteLeasesOptions {
  readonly leases: Leases;
  readonly ports: Ports;
  /** Invokes the function again for work that was left to a holder that failed. */
  readonly wakeAnother: () => void;
}

/** Acquires the Lease of the same name for the work, and releases it as soon as it ends. */
export function writeLeases({ leases, ports, wakeAnother }: WriteLeasesOptions): WriteLeases {
  return {
    wakeAnother,
    withLease: async (name, work) => {
      const lease = await leases.acquire(name);
      if (lease === undefined) return undefined;
      let isWoken = false;
      try {
        const result = await work(leaseGuarded(ports, lease)).finally(async () => {
          isWoken = await lease.release();
        });
        return { result, isWoken };
      } catch (error) {
        if (error instanceof LeaseLost) return undefined;
        if (isWoken) wakeAnother();
        throw error;
      }
    },
  };
}
