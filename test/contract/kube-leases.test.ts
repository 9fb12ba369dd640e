import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import { ASKED, WAKE } from '../../shared/kube/lease-state.ts';
import {
  askForLease,
  heldForMs,
  kubeLeases,
  LEASE_NAMESPACE,
  TAKEN_BY,
} from '../../shared/kube/leases.ts';
import { property, text } from '../../shared/kube/list.ts';
import type { Timing } from '../../shared/kube/time.ts';
import { clientOf, describeWithControlPlane } from '../support/control-plane/suite.ts';
import { answer, FakeTiming, frozenTiming, MemoryObject, memoryClient } from './kube-memory.ts';
import { ensureNamespace } from './kube-objects.ts';

const NAME = 'provision';
const ADDRESS = { namespace: LEASE_NAMESPACE, name: `joiner-${NAME}` };

/** Who pauses goes on at once; nobody gets as far as to renew. */
const impatient: Timing = {
  ...frozenTiming,
  sleep: (ms, signal) =>
    ms < 5_000
      ? new Promise((resolve) => void setImmediate(resolve))
      : frozenTiming.sleep(ms, signal),
};

/** For several who call at once: all have read before one writes. */
function clientOfMany(timing: Timing): KubeClient {
  const object = new MemoryObject();
  return memoryClient(async (request) => {
    await new Promise((resolve) => setImmediate(resolve));
    return object.handle(request);
  }, timing);
}

/** Wake-ups come in, each as an invocation; every one must be seen by a round that starts later. */
class Work {
  arrived = 0;
  /** The wake-ups that had arrived when the newest finished round began. */
  covered = 0;
  atWork = 0;
  overlaps = 0;

  async invocation(client: KubeClient, holder: string): Promise<void> {
    this.arrived += 1;
    const lease = await kubeLeases({ client, holder }).acquire(NAME);
    if (lease === undefined) return;
    do {
      this.atWork += 1;
      if (this.atWork > 1) this.overlaps += 1;
      const seen = this.arrived;
      await client.get(RESOURCES.leases, ADDRESS);
      this.covered = Math.max(this.covered, seen);
      this.atWork -= 1;
    } while ((await lease.releaseUnlessWoken()) === 'woken');
  }
}

describe('leases on an API server in memory', () => {
  it('lose no wake-up and never work twice at once, whatever the order of requests', async () => {
    const plan = fc.tuple(fc.scheduler(), fc.integer({ min: 2, max: 4 }));
    await fc.assert(
      fc.asyncProperty(plan, async ([scheduler, holders]) => {
        const object = new MemoryObject();
        const client = memoryClient(async (request) => {
          await scheduler.schedule(Promise.resolve());
          const response = object.handle(request);
          // The answer may be late as well: what it says can be old when it is read.
          await scheduler.schedule(Promise.resolve());
          return response;
        }, frozenTiming);
        const work = new Work();
        const names = Array.from({ length: holders }, (_, index) => `request-${index}`);
        const arrive = async (name: string): Promise<void> => {
          // Wake-ups come while others are at work, not all before.
          await scheduler.schedule(Promise.resolve());
          await scheduler.schedule(Promise.resolve());
          await work.invocation(client, name);
        };
        await scheduler.waitFor(Promise.all(names.map(arrive)));
        expect(work.covered).toBe(holders);
        expect(work.overlaps).toBe(0);
      }),
      { numRuns: 1_000, seed: 1 },
    );
  });

  it('name new NodeClaims as the holder before does, which has not released them', async () => {
    const object = new MemoryObject();
    let nowMs = frozenTiming.nowMs();
    const timing = { ...frozenTiming, nowMs: () => nowMs };
    const client = memoryClient((request) => object.handle(request), timing);
    const turn = async (holder: string) => {
      nowMs += 16_001;
      return await kubeLeases({ client, holder }).acquire(NAME);
    };
    const released = await turn('a');
    await released?.release();
    const frozen = await turn('a');
    expect(frozen?.names).not.toBe(released?.names);
    const heir = await turn('b');
    expect(await frozen?.isHeld()).toBe(false);
    expect(heir?.names).toBe(frozen?.names);
    await heir?.release();
    expect((await turn('c'))?.names).not.toBe(heir?.names);
  });

  it('are taken over when the holder has not renewed them for their duration', async () => {
    const object = new MemoryObject();
    const client = memoryClient((request) => object.handle(request), frozenTiming);
    expect(await kubeLeases({ client, holder: 'a' }).acquire(NAME)).toBeDefined();
    const later = { ...frozenTiming, nowMs: () => frozenTiming.nowMs() + 16_001 };
    const other = memoryClient((request) => object.handle(request), later);
    expect(await kubeLeases({ client: other, holder: 'b' }).acquire(NAME)).toBeDefined();
  });

  it('say how long they have been held, without a mark, and nothing once they are free', async () => {
    const object = new MemoryObject();
    let nowMs = frozenTiming.nowMs();
    const timing = { ...frozenTiming, nowMs: () => nowMs };
    const client = memoryClient((request) => object.handle(request), timing);
    expect(await heldForMs(client, NAME)).toBeUndefined();
    const lease = await kubeLeases({ client, holder: 'a' }).acquire(NAME);
    nowMs += 10_000;
    expect(await heldForMs(client, NAME)).toBe(10_000);
    expect(await lease?.releaseUnlessWoken()).toBe('released');
    expect(await heldForMs(client, NAME)).toBeUndefined();
    await kubeLeases({ client, holder: 'b' }).acquire(NAME);
    nowMs += 16_001;
    expect(await heldForMs(client, NAME)).toBeUndefined();
  });

  it('are left to a function that has asked, for a moment', async () => {
    const object = new MemoryObject();
    const client = memoryClient((request) => object.handle(request), impatient);
    const busy = { client, by: 'provision' };
    const first = await kubeLeases({ ...busy, holder: 'a' }).acquire(NAME);
    await askForLease(client, NAME, 'disrupt');
    await first?.releaseUnlessWoken();
    const second = kubeLeases({ ...busy, holder: 'b' }).acquire(NAME);
    const asker = await kubeLeases({ client, holder: 'c', by: 'disrupt' }).acquire(NAME);
    expect(await asker?.isHeld()).toBe(true);
    // It has left its mark, and the asker goes round for it.
    expect(await second).toBeUndefined();
    expect(await asker?.releaseUnlessWoken()).toBe('woken');
    const left = await client.get(RESOURCES.leases, ADDRESS);
    expect(property(property(left, 'metadata'), 'annotations')).not.toHaveProperty([ASKED]);
  });

  it('are taken all the same where who has asked does not come', async () => {
    const object = new MemoryObject();
    let nowMs = impatient.nowMs();
    const waits: number[] = [];
    const timing: Timing = {
      ...impatient,
      nowMs: () => nowMs,
      sleep: async (ms, signal) => {
        if (ms >= 5_000) return impatient.sleep(ms, signal);
        waits.push(ms);
        nowMs += ms;
      },
    };
    const client = memoryClient((request) => object.handle(request), timing);
    const holder = (name: string) => kubeLeases({ client, holder: name, by: 'provision' });
    await (await holder('a').acquire(NAME))?.releaseUnlessWoken();
    await askForLease(client, NAME, 'disrupt');
    expect(await (await holder('b').acquire(NAME))?.releaseUnlessWoken()).toBe('released');
    expect(waits).toHaveLength(5);
    nowMs += 25_000;
    expect(await holder('c').acquire(NAME)).toBeDefined();
    expect(waits).toHaveLength(5);
  });

  it('are known to be lost by their former holder, who releases nothing', async () => {
    const object = new MemoryObject();
    let nowMs = frozenTiming.nowMs();
    const timing = { ...frozenTiming, nowMs: () => nowMs };
    const client = memoryClient((request) => object.handle(request), timing);
    const mine = await kubeLeases({ client, holder: 'a' }).acquire(NAME);
    expect(await mine?.isHeld()).toBe(true);
    nowMs += 16_001;
    const theirs = await kubeLeases({ client, holder: 'b' }).acquire(NAME);
    expect(await mine?.isHeld()).toBe(false);
    expect(await mine?.releaseUnlessWoken()).toBe('released');
    expect(await theirs?.isHeld()).toBe(true);
  });

  it.each(['GET', 'PATCH'])('expire where the %s of their release is refused', async (method) => {
    const object = new MemoryObject();
    let nowMs = frozenTiming.nowMs();
    const alarms: (() => void)[] = [];
    const timing: Timing = {
      ...frozenTiming,
      nowMs: () => nowMs,
      sleep: async (ms, signal) => {
        const untilMs = nowMs + ms;
        while (nowMs < untilMs && signal?.aborted !== true) {
          await new Promise<void>((resolve) => void alarms.push(resolve));
        }
      },
    };
    let isRefused = false;
    const client = memoryClient((request) => {
      if (isRefused && request.method === method) return answer(403, { message: 'no' });
      return object.handle(request);
    }, timing);
    const mine = await kubeLeases({ client, holder: 'a' }).acquire(NAME);
    isRefused = true;
    await expect(mine?.releaseUnlessWoken()).rejects.toThrow('no');
    isRefused = false;
    // The sandbox lives on: another invocation comes in it.
    for (let second = 0; second < 17; second += 1) {
      nowMs += 1000;
      for (const wake of alarms.splice(0)) wake();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await mine?.isHeld()).toBe(false);
    expect(await kubeLeases({ client, holder: 'b' }).acquire(NAME)).toBeDefined();
  });

  it('are let go although marks keep coming, and say so', async () => {
    const object = new MemoryObject();
    const other = memoryClient((request) => object.handle(request), frozenTiming);
    let marks = 0;
    const client = memoryClient(async (request) => {
      // Between each look at the Lease and the write that frees it, for a while.
      if (request.method === 'PATCH' && marks < 3) {
        marks += 1;
        await kubeLeases({ client: other, holder: `waker-${marks}` }).acquire(NAME);
      }
      return object.handle(request);
    }, frozenTiming);
    const mine = await kubeLeases({ client, holder: 'a' }).acquire(NAME);
    expect(await mine?.release()).toBe(true);
    expect(marks).toBe(3);
    expect(await mine?.isHeld()).toBe(false);
    const next = await kubeLeases({ client: other, holder: 'b' }).acquire(NAME);
    expect(await next?.release()).toBe(false);
  });

  it('are left to their holder by fifty who come at once, and one mark is enough for all', async () => {
    const object = new MemoryObject();
    let marks = 0;
    const client = memoryClient(async (request) => {
      // All have read before one writes: whoever writes later has read what is old by then.
      await new Promise((resolve) => setImmediate(resolve));
      const response = object.handle(request);
      if (request.body?.includes(WAKE) && response.status === 200) marks += 1;
      return response;
    }, frozenTiming);
    const mine = await kubeLeases({ client, holder: 'mine' }).acquire(NAME);
    const names = Array.from({ length: 50 }, (_, index) => `request-${index}`);
    marks = 0;
    const taken = await Promise.all(
      names.map((holder) => kubeLeases({ client, holder }).acquire(NAME)),
    );
    expect(taken).toEqual(names.map(() => undefined));
    expect(marks).toBe(1);
    expect(await mine?.releaseUnlessWoken()).toBe('woken');
    expect(await mine?.releaseUnlessWoken()).toBe('released');
  });

  it('have the mark of who has something to say, where a tick has come at the same time', async () => {
    const client = clientOfMany(frozenTiming);
    const mine = await kubeLeases({ client, holder: 'mine' }).acquire(NAME);
    const come = ['tick/request-1', 'request-2', 'tick/request-3'];
    const taken = come.map((holder) => kubeLeases({ client, holder }).acquire(NAME));
    expect(await Promise.all(taken)).toEqual(come.map(() => undefined));
    const { metadata } = Object(await client.get(RESOURCES.leases, ADDRESS));
    expect(metadata.annotations[WAKE]).toMatch(/^request-2/);
    expect(await mine?.releaseUnlessWoken()).toBe('woken');
    expect(await mine?.releaseUnlessWoken()).toBe('released');
  });

  it('lose no wake-up of fifty who come at once while others work', async () => {
    const client = clientOfMany(impatient);
    const work = new Work();
    const names = Array.from({ length: 50 }, (_, index) => `request-${index}`);
    await Promise.all(names.map((name) => work.invocation(client, name)));
    expect([work.covered, work.overlaps]).toEqual([50, 0]);
  });

  it('are renewed every five seconds, and not held once renewing fails for 15 s', async () => {
    const object = new MemoryObject();
    const timing = new FakeTiming();
    let down = false;
    const renewals: number[] = [];
    const client = memoryClient((request) => {
      if (down) return answer(503, { message: 'no leader' });
      if (request.body?.includes('renewTime')) renewals.push(timing.atMs);
      return object.handle(request);
    }, timing);
    const lease = await kubeLeases({ client, holder: 'a' }).acquire(NAME);
    while (renewals.length < 4) await new Promise((resolve) => setImmediate(resolve));
    const gaps = renewals.slice(1).map((at, index) => at - (renewals[index] ?? 0));
    expect(gaps.every((gap) => gap >= 5_000 && gap < 6_000)).toBe(true);
    down = true;
    await expect.poll(() => lease?.isHeld()).toBe(false);
  });
});

await describeWithControlPlane(
  'leases on a real API server',
  ({ admin, plane }) => {
    it('hand over between holders with the wake mark, and are free at the end', async () => {
      await ensureNamespace(admin(), LEASE_NAMESPACE);
      const work = new Work();
      const clients = Array.from({ length: 6 }, (_, index) => clientOf(plane(), `f-${index}`));
      for (let round = 0; round < 10; round += 1) {
        await Promise.all(
          clients.map((client, index) => work.invocation(client, `${round}/${index}`)),
        );
        expect(work.covered).toBe(work.arrived);
      }
      expect(work.overlaps).toBe(0);
      const object = await admin().get(RESOURCES.leases, ADDRESS);
      expect(text(property(property(object, 'spec'), 'holderIdentity'))).toBe('');
      const annotations = property(property(object, 'metadata'), 'annotations');
      expect(property(annotations, WAKE)).toBeUndefined();
      await Promise.all(clients.map((client) => client.close()));
    });

    it('survive fifty who want one at once, again and again', async () => {
      await ensureNamespace(admin(), LEASE_NAMESPACE);
      const work = new Work();
      const clients = Array.from({ length: 10 }, (_, index) => clientOf(plane(), `c-${index}`));
      for (let round = 0; round < 3; round += 1) {
        const fifty = Array.from({ length: 5 }, () => clients).flat();
        await Promise.all(
          fifty.map((client, index) => work.invocation(client, `${round}/${index}`)),
        );
        expect([work.covered, work.overlaps]).toEqual([work.arrived, 0]);
      }
      expect(work.arrived).toBe(150);
      await Promise.all(clients.map((client) => client.close()));
    });

    it('say which functions have taken them, and when', async () => {
      for (const by of ['provision', 'disrupt']) {
        await (await kubeLeases({ client: admin(), holder: by, by }).acquire('shared'))?.release();
      }
      const address = { namespace: LEASE_NAMESPACE, name: 'joiner-shared' };
      const object = await admin().get(RESOURCES.leases, address);
      const annotations = property(property(object, 'metadata'), 'annotations') ?? {};
      const taken = Object.entries(annotations).filter(([key]) => key.startsWith(TAKEN_BY));
      expect(taken.map(([key]) => key).sort()).toEqual([
        `${TAKEN_BY}disrupt`,
        `${TAKEN_BY}provision`,
      ]);
      for (const [, at] of taken) expect(Date.parse(text(at))).toBeGreaterThan(0);
    });

    it('tell the holder of a mark that was left while it worked, once', async () => {
      const mine = await kubeLeases({ client: admin(), holder: 'mine' }).acquire('marked');
      const other = await kubeLeases({ client: admin(), holder: 'other' }).acquire('marked');
      expect(other).toBeUndefined();
      expect(await mine?.isHeld()).toBe(true);
      expect(await mine?.releaseUnlessWoken()).toBe('woken');
      expect(await mine?.isHeld()).toBe(true);
      expect(await mine?.releaseUnlessWoken()).toBe('released');
      expect(await mine?.isHeld()).toBe(false);
    });
  },
  () => ({ controllers: false }),
);
