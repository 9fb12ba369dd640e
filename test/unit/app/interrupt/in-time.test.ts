import { describe, expect, it } from 'vitest';
import { interruptInTime } from '../../../../shared/app/interrupt/in-time.ts';
import { newInterruptMemory } from '../../../../shared/app/interrupt/interrupt.ts';
import { PortError, type Ports } from '../../../../shared/ports.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { settings, withPorts } from '../world.ts';
import { claimsOf, leaving, tenNodes, waiting, warnings } from './queue-messages.ts';

const INVOCATION_MS = 60_000;

type Cluster = Partial<Ports['cluster']>;
type Clock = Pick<Ports['clock'], 'sleep'>;

/** Three warnings, with a cluster that is as the function says until so long after they came. */
async function handledBy(
  faultyMs: number,
  faulty: (world: World, clock: Clock) => Promise<Cluster>,
) {
  const world = await tenNodes();
  const messages = (await warnings(world)).slice(0, 3);
  const { clock, waits, waitedMs } = waiting(world);
  const faults = withPorts(world.ports, { clock, cluster: await faulty(world, clock) });
  const sound = withPorts(world.ports, { clock });
  const cluster = new Proxy(sound.cluster, {
    get: (_, name) => Reflect.get(waitedMs() < faultyMs ? faults.cluster : sound.cluster, name),
  });
  const handle = () =>
    interruptInTime(
      {
        ports: { ...sound, cluster },
        settings,
        onDeleted: async () => undefined,
        memory: newInterruptMemory(),
        remainingMs: () => INVOCATION_MS - waitedMs(),
      },
      messages,
    );
  return { world, messages, handle, waits };
}

const unreachable = async (): Promise<never> => {
  throw new PortError('unknown', 'unreachable', 'the API server cannot be reached');
};

describe('warnings while the API server', () => {
  it('answers are handled once', async () => {
    const { handle, waits } = await handledBy(0, async () => ({}));
    expect((await handle()).deleted).toHaveLength(3);
    expect(waits).toEqual([]);
  });

  it('is out of reach for a while are handled as soon as it is back', async () => {
    const { world, handle, waits } = await handledBy(10_000, async () => ({
      readClaims: unreachable,
    }));
    expect(await handle()).toMatchObject({ failedIds: [], failures: [] });
    expect(await leaving(world)).toBe(3);
    expect(waits).toEqual([2_000, 2_000, 2_000, 2_000, 2_000]);
  });

  it('is out of reach for the whole invocation come again', async () => {
    const { handle, waits } = await handledBy(INVOCATION_MS, async () => ({
      readClaims: unreachable,
    }));
    await expect(handle()).rejects.toMatchObject({ code: 'unreachable' });
    expect(waits).toHaveLength(20);
  });

  it('is silent for most of the invocation come again: a cut-off try would answer for none', async () => {
    const { handle, waits } = await handledBy(INVOCATION_MS, async (_, clock) => ({
      readClaims: async () => {
        await clock.sleep(40_000);
        return await unreachable();
      },
    }));
    await expect(handle()).rejects.toMatchObject({ code: 'unreachable' });
    expect(waits).toEqual([40_000]);
  });

  it('is slow to throttle a write come again alone', async () => {
    const { messages, handle, waits } = await handledBy(INVOCATION_MS, async (world, clock) => {
      const [first] = await claimsOf(world);
      const remove: Ports['cluster']['delete'] = async (ref) => {
        if (ref.name !== first?.name) return await world.ports.cluster.delete(ref);
        await clock.sleep(40_000);
        throw new PortError('throttled', '429', 'later');
      };
      return { delete: remove };
    });
    const report = await handle();
    expect(report.failedIds).toEqual([messages[0]?.id]);
    expect(report.failures).toHaveLength(1);
    expect(waits).toEqual([40_000]);
  });

  it('throttles one write are handled, and that one again', async () => {
    const written: string[] = [];
    const { handle, waits } = await handledBy(3_000, async (world) => {
      const [first] = await claimsOf(world);
      const remove: Ports['cluster']['delete'] = async (ref) => {
        written.push(ref.name);
        if (ref.name === first?.name) throw new PortError('throttled', '429', 'later');
        return await world.ports.cluster.delete(ref);
      };
      return { delete: remove };
    });
    const report = await handle();
    expect(report).toMatchObject({ failedIds: [], failures: [] });
    expect(report.deleted).toHaveLength(3);
    expect(written).toHaveLength(4);
    expect(waits).toEqual([2_000, 2_000]);
  });

  it('refuses one come again, and are not asked for at once', async () => {
    const { messages, handle, waits } = await handledBy(INVOCATION_MS, async (world) => {
      const [first] = await claimsOf(world);
      const remove: Ports['cluster']['delete'] = async (ref) => {
        if (ref.name === first?.name) throw new PortError('unauthorised', '403', 'no');
        return await world.ports.cluster.delete(ref);
      };
      return { delete: remove };
    });
    const report = await handle();
    expect(report.deleted).toHaveLength(2);
    expect(report.failedIds).toEqual([messages[0]?.id]);
    expect(waits).toEqual([]);
  });
});
