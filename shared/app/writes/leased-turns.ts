import type { Lease, Leases, Ports } from '../../ports.ts';
import type { Turns } from './turns.ts';

/** The Lease was taken over: whoever holds it now does the work. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost';
}

/** What turns go by. */
export interface LeasedTurns {
  readonly leases: Leases;
  readonly ports: Ports;
  /** Has another invocation come, for what was left to this one. */
  readonly wakeAnother: () => void;
}

/** Turns that are Leases of the same names, each let go as soon as its work is done. */
export function leasedTurns({ leases, ports, wakeAnother }: LeasedTurns): Turns {
  return {
    wakeAnother,
    take: async (turn, work) => {
      const lease = await leases.acquire(turn);
      if (lease === undefined) return undefined;
      let isWoken = false;
      try {
        const result = await work(held(ports, lease)).finally(async () => {
          isWoken = await lease.letGo();
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

/** Calls that change nothing that another holder could be changing, too. */
const FREE: ReadonlySet<PropertyKey> = new Set([
  'read',
  'readClaims',
  'readNode',
  'readNodePoolNotes',
  'wantedPods',
  'followWaitingPods',
  'isWarm',
  'karpenterRenewedAtMs',
  'pausedUntilMs',
  'event',
  'list',
  'describe',
  'spotRequests',
  'statuses',
]);

/** The port, whose writes first make sure that the Lease is still ours. */
function guarded<Port extends object>(port: Port, lease: Lease): Port {
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      if (typeof member !== 'function' || FREE.has(key)) return member;
      return async (...args: readonly unknown[]) => {
        if (!(await lease.isHeld())) throw new LeaseLost('the Lease was taken over');
        return await Reflect.apply(member, target, args);
      };
    },
  });
}

/** The ports of a pass: every write re-checks the Lease, so that a holder that lost it does no harm. */
export function held(ports: Ports, lease: Lease): Ports {
  return {
    ...ports,
    cluster: guarded(ports.cluster, lease),
    compute: guarded(ports.compute, lease),
    profiles: guarded(ports.profiles, lease),
  };
}
