import { describe, expect, it } from 'vitest';
import { type InterruptReport, interrupt } from '../../../shared/app/interrupt.ts';
import { UNCONFIRMED } from '../../../shared/core/model/labels.ts';
import type { Ports } from '../../../shared/ports.ts';
import type { World } from '../../../shared/sim/world.ts';
import { forEachNode, sentAt, tenNodes, waiting } from './queue-messages.ts';
import { settings, withPorts } from './world.ts';

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
    return { ports, clock, waits, waitedMs, asked, confirming };
  }

  /** A note that leaves nothing of ten nodes' budget. */
  function spent(nowMs: number): string {
    const at = new Date(nowMs).toISOString();
    return JSON.stringify({ 'gone-1': at, 'gone-2': at });
  }

  it('is asked about as a whole, and waited for once', async () => {
    const world = await tenNodes();
    const { ports, waitedMs, asked } = await processOf(world);
    const batches = Array.from({ length: 100 }, () => forEachNode(world, 'spot'));
    const refused: (number | undefined)[] = [];
    for (const batch of batches) {
      const report = await interrupt(ports, settings, await batch);
      expect(report).toMatchObject({ deleted: [], failedIds: [] });
      refused.push(report.refused.get('unconfirmed'));
    }
    expect(refused).toEqual(batches.map(() => 10));
    expect(waitedMs()).toBe(WAIT_MS_MAX);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it('is asked for at once where many nodes are meant', async () => {
    const world = await tenNodes();
    const { ports, asked } = await processOf(world);
    for (const message of await forEachNode(world, 'spot')) {
      await interrupt(ports, settings, [message]);
    }
    // The first alone, then all ten.
    expect(asked.slice(0, 3)).toEqual([1, 1, 10]);
    expect(asked.length).toBeLessThanOrEqual(8);
  });

  it('that goes on and on keeps a process waiting for half of the time at most', async () => {
    const world = await tenNodes();
    const { ports, clock, waitedMs, asked } = await processOf(world);
    const reports: InterruptReport[] = [];
    for (let second = 0; second < 60; second += 1) {
      await world.run(world.timeline.nowMs() + 1_000);
      const batch = await forEachNode(world, 'spot');
      const sent = batch.map((each) => sentAt(each, clock.nowMs()));
      reports.push(await interrupt(ports, settings, sent));
    }
    expect(reports.flatMap(({ deleted }) => deleted)).toEqual([]);
    // What could not be waited for comes again.
    expect(reports.some(({ failedIds }) => failedIds.length > 0)).toBe(true);
    expect(waitedMs()).toBeLessThanOrEqual(60_000);
    expect(asked.length).toBeLessThanOrEqual(2 * 120);
  });

  it.each([
    [0, [1_000]],
    [4_000, [1_000, 2_000, 3_000]],
  ])('does not hide a real one that comes after it, confirmed after %i ms', async (ms, waited) => {
    const world = await tenNodes();
    const { ports, clock, waits, confirming } = await processOf(world);
    const [forged] = await forEachNode(world, 'spot');
    if (forged === undefined) throw new Error('there is no node');
    const { refused } = await interrupt(ports, settings, [forged]);
    expect(refused).toEqual(new Map([['unconfirmed', 1]]));
    confirming.fromMs = clock.nowMs() + ms;
    const before = waits.length;
    const { deleted } = await interrupt(ports, settings, [sentAt(forged, clock.nowMs())]);
    expect([deleted.length, waits.slice(before)]).toEqual([1, waited]);
  });

  it('is not waited for once it has been in the queue for a while, whatever it says', async () => {
    const world = await tenNodes();
    const { ports, clock, waits } = await processOf(world);
    const queuedAtMs = clock.nowMs() - WAIT_MS_MAX;
    const batch = (await forEachNode(world, 'spot')).map((each) => ({ ...each, queuedAtMs }));
    const { refused } = await interrupt(ports, settings, batch);
    expect([refused, waits]).toEqual([new Map([['unconfirmed', 10]]), []]);
  });
});
