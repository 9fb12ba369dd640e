import { describe, expect, it } from 'vitest';
import {
  interrupt,
  newInterruptMemory,
  type QueueMessage,
} from '../../../../shared/app/interrupt/interrupt.ts';
import type { ClaimsState, Ports } from '../../../../shared/ports.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { MINUTE, settings, withPorts } from '../world.ts';
import { claimsOf, messageOf, tenNodes, warnings } from './queue-messages.ts';

const BATCH = 10;

type Kind = Parameters<typeof messageOf>[1];

interface Process {
  readonly play: (batch: readonly QueueMessage[]) => ReturnType<typeof interrupt>;
  readonly reads: () => number;
  readonly pass: (ms: number) => void;
  readonly nowMs: () => number;
}

/** One process of the function; claims are read as `change` has them. */
function processOf(world: World, change = (state: ClaimsState) => state): Process {
  let nowMs = world.timeline.nowMs();
  let reads = 0;
  const clock: Ports['clock'] = {
    nowMs: () => nowMs,
    sleep: async (ms) => {
      nowMs += ms;
    },
  };
  const readClaims = async (): Promise<ClaimsState> => {
    reads += 1;
    return change(await world.ports.cluster.readClaims());
  };
  const ports = withPorts(world.ports, { clock, cluster: { readClaims } });
  const memory = newInterruptMemory();
  return {
    play: (batch) => interrupt(ports, settings, batch, undefined, memory),
    reads: () => reads,
    pass: (ms) => {
      nowMs += ms;
    },
    nowMs: () => nowMs,
  };
}

function foreign(world: World, kind: Kind, at: number, queuedAtMs: number): QueueMessage {
  const id = `i-${(0xf0000000 + at).toString(16).padStart(17, '0')}`;
  return { ...messageOf(world, kind, id), queuedAtMs };
}

describe('messages about instances of others', () => {
  it('cost a read of the claims for as many as were sent before it', async () => {
    const world = await tenNodes();
    const { play, reads, pass, nowMs } = processOf(world);
    const sentAtMs = nowMs();
    let refused = 0;
    pass(MINUTE);
    for (let at = 0; at < 50_000; at += BATCH) {
      const batch = Array.from({ length: BATCH }, (_, each) =>
        foreign(world, 'spot', at + each, sentAtMs),
      );
      const report = await play(batch);
      expect(report).toMatchObject({ deleted: [], failedIds: [] });
      refused += report.refused.get('foreign_cluster') ?? 0;
      pass(20);
    }
    expect(refused).toBe(50_000);
    expect(reads()).toBe(1);
  });

  it('that were sent just now have the claims read once a second at most', async () => {
    const world = await tenNodes();
    const { play, reads, pass, nowMs } = processOf(world);
    const startMs = nowMs();
    for (let at = 0; at < 300; at += 1) {
      await play([foreign(world, 'spot', at, nowMs())]);
      pass(10);
    }
    expect(reads()).toBeLessThanOrEqual((nowMs() - startMs) / 1000 + 1);
  });

  it('do not keep one about an instance of ours waiting', async () => {
    const world = await tenNodes();
    const { play, pass, nowMs } = processOf(world);
    const [warning] = await warnings(world);
    if (warning === undefined) throw new Error('no warning');
    await play([foreign(world, 'spot', 1, nowMs())]);
    pass(10);
    const startMs = nowMs();
    const batch = [foreign(world, 'spot', 2, nowMs()), { ...warning, queuedAtMs: nowMs() }];
    expect((await play(batch)).deleted).toHaveLength(1);
    expect(nowMs()).toBe(startMs);
  });

  it('are told from those about an instance that was launched after the last read', async () => {
    const world = await tenNodes();
    const [young] = await claimsOf(world);
    let isNoted = false;
    const { play, pass, nowMs } = processOf(world, (state) =>
      isNoted
        ? state
        : { ...state, nodeClaims: state.nodeClaims.filter(({ uid }) => uid !== young?.uid) },
    );
    const [warning] = await warnings(world);
    if (warning === undefined) throw new Error('no warning');
    await play([foreign(world, 'spot', 1, nowMs())]);
    isNoted = true;
    pass(10);
    expect((await play([{ ...warning, queuedAtMs: nowMs() }])).deleted).toEqual([young?.name]);
  });

  it('in a new process are judged by what it reads', async () => {
    const world = await tenNodes();
    const [warning] = await warnings(world);
    if (warning === undefined) throw new Error('no warning');
    const { play, nowMs } = processOf(world);
    expect((await play([{ ...warning, queuedAtMs: nowMs() - MINUTE }])).deleted).toHaveLength(1);
  });
});
