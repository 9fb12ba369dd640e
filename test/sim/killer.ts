import type { Ports } from '../../shared/ports.ts';
import { Crash } from '../../shared/sim/world.ts';

/**
 * Of the calls that a crash may come at every so many are tried: before and after the call in turn,
 * as the number is odd. `JOINER_CRASHES=all` tries all, in the nightly run.
 */
export const CRASH_EVERY = process.env['JOINER_CRASHES'] === 'all' ? 1 : 13;

/** Counts the calls of all ports and kills the use case at one of them. */
export class Killer {
  calls = 0;
  private readonly at: number;
  private readonly after: boolean;

  constructor(at: number, after: boolean) {
    this.at = at;
    this.after = after;
  }

  readonly wrap = (ports: Ports): Ports => ({
    ...ports,
    cluster: this.guard(ports.cluster),
    compute: this.guard(ports.compute),
    memory: this.guard(ports.memory),
    network: this.guard(ports.network),
    // Counting is not awaited: it is no moment at which a use case could end.
    recorder: this.guard(ports.recorder, ['decision']),
  });

  private guard<Port extends object>(port: Port, names?: readonly PropertyKey[]): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        if (names?.includes(name) === false) return value.bind(target);
        return async (...args: unknown[]) => {
          this.calls += 1;
          const isHit = this.calls === this.at;
          if (isHit && !this.after) throw new Crash('killed before the call');
          const result: unknown = await Reflect.apply(value, target, args);
          if (isHit) throw new Crash('killed after the call');
          return result;
        };
      },
    });
  }
}
