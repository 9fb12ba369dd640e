import { describe, expect, it } from 'vitest';
import {
  finishAndRelease,
  leased,
  mayHandOver,
  type Progress,
} from '../../../functions/runtime/leased.ts';
import { LeaseLost, leaseGuarded, writeLeases } from '../../../shared/app/writes/write-leases.ts';
import type { Lease, Ports } from '../../../shared/ports.ts';
import { aNodeClass } from '../../builders/launches.ts';

/** A Lease that answers its releases in turn. */
function leaseOf(
  releases: readonly ('released' | 'woken')[],
  { isHeld = true, isWoken = false } = {},
) {
  const answers = [...releases];
  const released: string[] = [];
  const lease: Lease = {
    names: 'request-1/0',
    isHeld: async () => isHeld,
    releaseUnlessWoken: async () => {
      const answer = answers.shift() ?? 'released';
      released.push(answer);
      return answer;
    },
    release: async () => {
      released.push('let go');
      return isWoken;
    },
  };
  return { lease, released };
}

function run(
  lease: Lease | undefined,
  passes: readonly Progress[],
  remaining: readonly number[] = [],
) {
  const left = [...remaining];
  let count = 0;
  const sleeps: number[] = [];
  const outcome = leased({
    leases: { acquire: async () => lease },
    name: 'decide',
    pass: async () => passes[count++] ?? 'settled',
    remainingMs: () => left.shift() ?? 600_000,
    sleep: async (ms) => void sleeps.push(ms),
    pauseMs: 7,
  });
  return outcome.then((result) => ({ result, count, sleeps }));
}

describe('work under a Lease', () => {
  it('is nobody’s while another holds it', async () => {
    expect(await run(undefined, [])).toEqual({ result: 'held by another', count: 0, sleeps: [] });
  });

  it('goes round again when somebody left a mark, so that no wake-up is lost', async () => {
    const { lease } = leaseOf(['woken', 'released']);
    expect(await run(lease, [])).toMatchObject({ result: 'done', count: 2 });
  });

  it.each<[string, () => Promise<Progress>]>([
    ['is done', async () => 'settled'],
    ['fails', async () => await Promise.reject(new Error('no'))],
  ])('that %s ends what runs beside it before it lets the Lease go', async (_, pass) => {
    const steps: string[] = [];
    const release = async () => {
      steps.push('release');
      return 'released' as const;
    };
    const letGo = async () => steps.push('let go') < 0;
    const outcome = leased({
      leases: {
        acquire: async () => ({
          names: 'request-1/0',
          isHeld: async () => true,
          releaseUnlessWoken: release,
          release: letGo,
        }),
      },
      name: 'decide',
      pass,
      remainingMs: () => 600_000,
      sleep: async () => undefined,
      pauseMs: 7,
      finish: async () => void steps.push('finish'),
    });
    await outcome.catch(() => undefined);
    expect(steps[0]).toBe('finish');
    expect(steps.at(-1)).toBe('let go');
  });

  it('lets the Lease go though what runs beside it does not end well', async () => {
    const { lease, released } = leaseOf([]);
    const finish = async () => await Promise.reject(new Error('the bus is out of reach'));
    await expect(finishAndRelease(lease, finish)).rejects.toThrow('out of reach');
    expect(released).toEqual(['let go']);
  });

  it('stays while it is unsettled, with pauses', async () => {
    const { lease } = leaseOf([]);
    const found = await run(lease, ['unsettled', 'unsettled', 'settled']);
    expect(found).toEqual({ result: 'done', count: 3, sleeps: [7, 7] });
  });

  it('pauses no longer than leaves time for a pass', async () => {
    const { lease } = leaseOf([]);
    const left = [20_003, 20_003, 20_000, 19_999];
    const found = await run(lease, ['unsettled', 'unsettled', 'settled'], left);
    expect(found).toEqual({ result: 'done', count: 3, sleeps: [3, 0] });
  });

  it('that is settled in the end is done, however late it is', async () => {
    const { lease } = leaseOf([]);
    expect(await run(lease, ['settled'], [1000])).toMatchObject({ result: 'done' });
  });

  it('that is settled and woken too late is left to the next one', async () => {
    const { lease } = leaseOf(['woken', 'released']);
    expect(await run(lease, ['settled'], [1000])).toMatchObject({ result: 'out of time' });
  });

  it('is handed over only by an invocation that had time for it', () => {
    expect([20_300, 59_999, 60_000, 900_000].map(mayHandOver)).toEqual([false, false, true, true]);
  });

  it('hands over before its time is up, and frees the Lease in spite of a mark', async () => {
    const { lease, released } = leaseOf([], { isWoken: true });
    expect(await run(lease, ['unsettled'], [1000])).toMatchObject({ result: 'out of time' });
    expect(released).toEqual(['let go']);
  });

  it('ends without a fault where the Lease was taken over, and passes other faults on', async () => {
    const { lease } = leaseOf([]);
    const work = (error: Error) =>
      leased({
        leases: { acquire: async () => lease },
        name: 'decide',
        pass: () => Promise.reject(error),
        remainingMs: () => 600_000,
        sleep: async () => undefined,
        pauseMs: 1,
      });
    expect(await work(new LeaseLost('gone'))).toBe('held by another');
    await expect(work(new Error('broken'))).rejects.toThrow('broken');
  });
});

describe('ports under a Lease', () => {
  const calls: string[] = [];
  const record = (name: string) => async () => void calls.push(name);
  const cluster = { read: record('read'), event: record('event'), patchNode: record('patchNode') };
  const compute = {
    list: record('list'),
    launch: record('launch'),
    terminate: record('terminate'),
  };
  const profiles = { ensure: record('ensure'), remove: record('remove') };
  const ports = { cluster, compute, profiles } as unknown as Ports;

  it('write only while it is held; reading is free', async () => {
    const lost = leaseGuarded(ports, leaseOf([], { isHeld: false }).lease);
    await lost.cluster.read();
    await lost.compute.list();
    const ref = { kind: 'Node', name: 'a' } as const;
    await expect(lost.cluster.patchNode(ref, {})).rejects.toThrow(LeaseLost);
    await expect(lost.compute.terminate(['i-1'])).rejects.toThrow(LeaseLost);
    await expect(lost.profiles.ensure(aNodeClass())).rejects.toThrow(LeaseLost);
    await expect(lost.profiles.remove(aNodeClass())).rejects.toThrow(LeaseLost);
    const ours = leaseGuarded(ports, leaseOf([]).lease);
    await ours.cluster.patchNode(ref, {});
    await ours.compute.terminate(['i-1']);
    await ours.profiles.ensure(aNodeClass());
    expect(calls).toEqual(['read', 'list', 'patchNode', 'terminate', 'ensure']);
  });
});

describe('work that fails', () => {
  const failing = (lease: Lease, isFirstGood: boolean, onLeft: () => void) => {
    let passes = 0;
    return leased({
      leases: { acquire: async () => lease },
      name: 'lifecycle',
      pass: async () => {
        passes += 1;
        if (passes === 2 || !isFirstGood) throw new Error('503');
        return 'settled';
      },
      remainingMs: () => 600_000,
      sleep: async () => undefined,
      pauseMs: 1,
      onLeft,
    });
  };

  it.each([
    ['before it has looked at a mark that it was told of', true, ['woken'], false, 1],
    ['with a mark that it has not seen', false, [], true, 1],
    ['and nobody has come meanwhile', false, [], false, 0],
  ] as const)('%s', async (_, isGood, releases, isWoken, left) => {
    const calls: string[] = [];
    const { lease } = leaseOf(releases, { isWoken });
    await expect(failing(lease, isGood, () => void calls.push('left'))).rejects.toThrow('503');
    expect(calls).toHaveLength(left);
  });
});

describe('turns under Leases', () => {
  const cluster = { patchNode: async () => 'done' };
  const ports = { cluster, compute: {}, profiles: {} } as unknown as Ports;
  function turnsOf(lease: Lease | undefined) {
    const calls: string[] = [];
    const wakeAnother = () => void calls.push('wake another');
    const turns = writeLeases({ leases: { acquire: async () => lease }, ports, wakeAnother });
    return { turns, calls };
  }

  it.each([true, false])(
    'end free, and say whether somebody came meanwhile: %j',
    async (isWoken) => {
      const { lease, released } = leaseOf([], { isWoken });
      const { turns, calls } = turnsOf(lease);
      expect(await turns.withLease('launch', async () => 'done')).toEqual({
        result: 'done',
        isWoken,
      });
      expect([released, calls]).toEqual([['let go'], []]);
    },
  );

  it('are nobody’s while another holds the Lease', async () => {
    let works = 0;
    const taken = await turnsOf(undefined).turns.withLease('decide', async () => {
      works += 1;
    });
    expect([taken, works]).toEqual([undefined, 0]);
  });

  it('that are lost at a write are another’s, and end free all the same', async () => {
    const { lease, released } = leaseOf([], { isHeld: false, isWoken: true });
    const write = ({ cluster }: Ports) => cluster.patchNode({ kind: 'Node', name: 'a' }, {});
    const { turns, calls } = turnsOf(lease);
    expect(await turns.withLease('decide', write)).toBeUndefined();
    expect([released, calls]).toEqual([['let go'], []]);
  });

  it.each([true, false])('that fail leave nobody without an answer: %j', async (isWoken) => {
    const { lease, released } = leaseOf([], { isWoken });
    const fail = () => Promise.reject(new Error('broken'));
    const { turns, calls } = turnsOf(lease);
    await expect(turns.withLease('decide', fail)).rejects.toThrow('broken');
    expect([released, calls]).toEqual([['let go'], isWoken ? ['wake another'] : []]);
  });
});
