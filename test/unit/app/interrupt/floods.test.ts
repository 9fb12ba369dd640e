import { describe, expect, it } from 'vitest';
import {
  interrupt,
  newInterruptMemory,
  type QueueMessage,
} from '../../../../shared/app/interrupt/interrupt.ts';
import { UNCONFIRMED } from '../../../../shared/core/model/labels.ts';
import type { Ports } from '../../../../shared/ports.ts';
import type { World } from '../../../../shared/sim/world.ts';
import { settings, withPorts } from '../world.ts';
import { forEachNode, sentAt, tenNodes, waiting } from './queue-messages.ts';

describe('a flood of forged spot warnings', () => {
  const WAIT_MS_MAX = 10_000;

  /** One process, which counts what it asks for; EC2 confirms everything from the given time on. */
  async function processOf(world: World) {
    const { waits, waitedMs, clock } = waiting(world);
    const confirming = { fromMs: Number.POSITIVE_INFINITY };
    const asked: number[] = [];
    const spotRequests = async (ids: readonly string[]) => {
      asked.push(ids.length);
      if (clock.nowMs() < confirming.fromMs) return [];
      return ids.map((instanceId) => ({ instanceId, statusCode: 'marked-for-termination' }));
    };
    const describe: Ports['compute']['describe'] = async (ids) => {
      asked.push(ids.length);
      return await world.compute.describe(ids);
    };
    // Nothing goes unconfirmed: all depends on what EC2 says.
    const patchNodePool = async () => 'conflict' as const;
    const readNodePoolNotes = async () => ({
      uid: 'u',
      resourceVersion: '1',
      annotations: { [UNCONFIRMED]: spent(clock.nowMs()) },
    });
    const cluster = { patchNodePool, readNodePoolNotes };
    const ports = withPorts(world.ports, { clock, cluster, compute: { describe, spotRequests } });
    const memory = newInterruptMemory();
    const play = (batch: readonly QueueMessage[]) =>
      interrupt(ports, settings, batch, undefined, memory);
    return { clock, waits, waitedMs, asked, confirming, play };
  }

  /** A note that leaves nothing of ten nodes' budget. */
  function spent(nowMs: number): string {
    const at = new Date(nowMs).toISOString();
    return JSON.stringify({ 'gone-1': at, 'gone-2': at });
  }

  it('is asked about as a whole, and waited for once', async () => {
    const world = await tenNodes();
    const { waitedMs, asked, play } = await processOf(world);
    const batches = Array.from({ length: 100 }, () => forEachNode(world, 'spot'));
    const refused: (number | undefined)[] = [];
    for (const batch of batches) {
      const report = await play(await batch);
      expect(report).toMatchObject({ deleted: [], failedIds: [] });
      refused.push(report.refused.get('unconfirmed'));
    }
    expect(refused).toEqual(batches.map(() => 10));
    expect(waitedMs()).toBe(WAIT_MS_MAX);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it('about others does not keep a real one from being asked about at once', async () => {
    const world = await tenNodes();
    const { clock, asked, confirming, play } = await processOf(world);
    const [real, ...others] = await forEachNode(world, 'spot');
    if (real === undefined) throw new Error('there is no node');
    await play(others);
    confirming.fromMs = clock.nowMs();
    const before = [asked.length, clock.nowMs()];
    expect((await play([sentAt(real, clock.nowMs())])).deleted).toHaveLength(1);
    expect([asked.length, clock.nowMs()]).toEqual([(before[0] ?? 0) + 2, before[1]]);
  });

  it('that is none, of which EC2 confirms each one, is not waited for', async () => {
    const world = await tenNodes();
    const { clock, confirming, waits, play } = await processOf(world);
    confirming.fromMs = 0;
    for (const message of await forEachNode(world, 'spot')) {
      expect((await play([sentAt(message, clock.nowMs())])).deleted).toHaveLength(1);
    }
    expect(waits).toEqual([]);
  });

  it.each([
    [0, []],
    [4_000, [1_000, 2_000, 3_000]],
  ])('does not hide a real one that comes after it, confirmed after %i ms', async (ms, waited) => {
    const world = await tenNodes();
    const { clock, waits, confirming, play } = await processOf(world);
    const [forged] = await forEachNode(world, 'spot');
    if (forged === undefined) throw new Error('there is no node');
    const { refused } = await play([forged]);
    expect(refused).toEqual(new Map([['unconfirmed', 1]]));
    confirming.fromMs = clock.nowMs() + ms;
    const before = waits.length;
    const { deleted } = await play([sentAt(forged, clock.nowMs())]);
    expect([deleted.length, waits.slice(before)]).toEqual([1, waited]);
  });

  it('is not waited for once it has been in the queue for a while, whatever it says', async () => {
    const world = await tenNodes();
    const { clock, waits, play } = await processOf(world);
    const queuedAtMs = clock.nowMs() - WAIT_MS_MAX;
    const batch = (await forEachNode(world, 'spot')).map((each) => ({ ...each, queuedAtMs }));
    const { refused } = await play(batch);
    expect([refused, waits]).toEqual([new Map([['unconfirmed', 10]]), []]);
  });
});
