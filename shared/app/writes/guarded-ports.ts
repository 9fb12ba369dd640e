import {
  CLUSTER_EFFECTS,
  COMPUTE_EFFECTS,
  type Effect,
  PROFILES_EFFECTS,
} from '../../ports/effects.ts';
import type { Ports } from '../../ports.ts';

/** Asked before each call that is not a read. Throws where the call may not be made any more. */
export type Guard = (effect: Exclude<Effect, 'read'>) => Promise<void>;

function guarded<Port extends object>(
  port: Port,
  effects: Readonly<Record<keyof Port & string, Effect>>,
  guard: Guard,
): Port {
  const effectOf = new Map<PropertyKey, Effect>(Object.entries(effects));
  return new Proxy(port, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key);
      const effect = effectOf.get(key);
      if (typeof member !== 'function') return member;
      if (effect === 'read') return member.bind(target);
      return async (...args: readonly unknown[]) => {
        // A call that the table does not know is of a wrapper's own making: taken for a write.
        await guard(effect ?? 'write');
        return await Reflect.apply(member, target, args);
      };
    },
  });
}

/** The ports, whose events and writes in the cluster and in AWS first ask the guard. */
export function guardedPorts(ports: Ports, guard: Guard): Ports {
  return {
    ...ports,
    cluster: guarded(ports.cluster, CLUSTER_EFFECTS, guard),
    compute: guarded(ports.compute, COMPUTE_EFFECTS, guard),
    profiles: guarded(ports.profiles, PROFILES_EFFECTS, guard),
  };
}
