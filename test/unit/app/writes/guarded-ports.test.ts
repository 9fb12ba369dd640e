import { expect, it } from 'vitest';
import { guardedPorts } from '../../../../shared/app/writes/guarded-ports.ts';
import {
  CLUSTER_EFFECTS,
  COMPUTE_EFFECTS,
  PROFILES_EFFECTS,
} from '../../../../shared/ports/effects.ts';
import type { Ports } from '../../../../shared/ports.ts';

const TABLES = { cluster: CLUSTER_EFFECTS, compute: COMPUTE_EFFECTS, profiles: PROFILES_EFFECTS };
type Guarded = keyof typeof TABLES;

/** Ports that answer each call with its name, and the calls that came through. */
function echoing() {
  const calls: string[] = [];
  const port = (name: Guarded) =>
    Object.fromEntries(
      Object.keys(TABLES[name]).map((call) => [
        call,
        async () => {
          calls.push(call);
          return call;
        },
      ]),
    );
  const ports = {
    cluster: port('cluster'),
    compute: port('compute'),
    profiles: port('profiles'),
  } as unknown as Ports;
  return { ports, calls };
}

const ROWS = (['cluster', 'compute', 'profiles'] as const).flatMap((port) =>
  Object.entries(TABLES[port]).map(([call, effect]) => [port, call, effect] as const),
);

it.each(ROWS)(
  '%s.%s is a %s: the guard is asked before all but reads',
  async (port, call, effect) => {
    const { ports, calls } = echoing();
    const asked: string[] = [];
    const guarded = guardedPorts(ports, async (each) => {
      expect(calls).toEqual([]);
      asked.push(each);
    });
    expect(await Reflect.get(guarded[port], call)()).toBe(call);
    expect([asked, calls]).toEqual([effect === 'read' ? [] : [effect], [call]]);
  },
);

it.each(ROWS.filter(([, , effect]) => effect !== 'read'))(
  '%s.%s is not made where the guard throws',
  async (port, call) => {
    const { ports, calls } = echoing();
    const guarded = guardedPorts(ports, () => Promise.reject(new Error('not now')));
    await expect(Reflect.get(guarded[port], call)()).rejects.toThrow('not now');
    expect(calls).toEqual([]);
  },
);
