import { describe, expect, it, vi } from 'vitest';
import { provision } from '../../../../shared/app/provision/provision.ts';
import { claimNames } from '../../../../shared/app/writes/claim-names.ts';
import {
  leaseGuarded,
  type WriteLease,
  type WriteLeases,
  withoutLeases,
} from '../../../../shared/app/writes/write-leases.ts';
import { type FleetRequest, PortError, type Ports } from '../../../../shared/ports.ts';
import { readState } from '../../../../shared/sim/decode.ts';
import { claimOf } from '../../../builders/scheduling.ts';
import { deployment } from '../../../sim/small-world.ts';
import { clockOf, settings, spread, type WaitingWorld, waitingWorld, withPorts } from '../world.ts';

const ALWAYS = () => Number.POSITIVE_INFINITY;

/** WriteLeases beside which something happens: before a turn, or, where it says so, instead of it. */
function beside(
  ports: Ports,
  before: Readonly<Partial<Record<WriteLease, () => Promise<unknown>>>>,
  woken: readonly WriteLease[] = [],
): WriteLeases & { readonly taken: WriteLease[] } {
  const own = withoutLeases(ports);
  const taken: WriteLease[] = [];
  return {
    taken,
    withLease: async (turn, work) => {
      if ((await before[turn]?.()) === 'held') return undefined;
      taken.push(turn);
      const done = await own.withLease(turn, work);
      return done && { ...done, isWoken: woken.includes(turn) };
    },
  };
}

/** Each fleet that is asked for is noted in `calls`. */
function noting(ports: Ports, calls: string[]): Ports {
  const launch = async (fleet: FleetRequest) => {
    calls.push('CreateFleet');
    return await ports.compute.launch(fleet);
  };
  return withPorts(ports, { compute: { launch } });
}

function claimsOf({ world }: WaitingWorld) {
  return readState(world.store).objects.nodeClaims;
}

/** Every claim has an instance of its own, and there are no others. */
function expectOneEach(waiting: WaitingWorld, count: number): void {
  const ids = claimsOf(waiting).flatMap(({ providerId }) => providerId ?? []);
  expect([new Set(ids).size, waiting.world.compute.machines.size]).toEqual([count, count]);
}

describe('the turns of a pass', () => {
  it('are over for deciding before EC2 is asked for anything', async () => {
    const { ports } = await waitingWorld([deployment('web', 1, '1')]);
    const turns: string[] = [];
    const noted = noting(ports, turns);
    const own = withoutLeases(noted);
    const withLease: WriteLeases['withLease'] = async (turn, work) => {
      turns.push(`${turn} begins`);
      const done = await own.withLease(turn, work);
      turns.push(`${turn} ends`);
      return done;
    };
    await provision(noted, settings, ALWAYS, { withLease });
    const deciding = ['decide begins', 'decide ends'];
    expect(turns).toEqual([...deciding, 'launch begins', 'CreateFleet', 'launch ends']);
  });

  it('are one where nothing waits for an instance', async () => {
    const { ports } = await waitingWorld([]);
    const turns = beside(ports, {});
    await provision(ports, settings, ALWAYS, turns);
    expect(turns.taken).toEqual(['decide']);
  });

  it('leave launches to whoever launches already', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const turns = beside(waiting.ports, { launch: async () => 'held' });
    const report = await provision(waiting.ports, settings, ALWAYS, turns);
    expect(report).toMatchObject({ launched: [], isLeftToAnother: true, isWoken: false });
    expect(report.created).toHaveLength(1);
    expectOneEach(waiting, 0);
    expect((await provision(waiting.ports, settings)).launched).toEqual(report.created);
  });

  it('leave all to whoever decides already', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const turns = beside(waiting.ports, { decide: async () => 'held' });
    const report = await provision(waiting.ports, settings, ALWAYS, turns);
    expect(report).toMatchObject({ created: [], isLeftToAnother: true });
    expect(claimsOf(waiting)).toEqual([]);
  });

  it.each<WriteLease>(['decide', 'launch'])(
    'that end woken (%s) ask for another pass',
    async (turn) => {
      const { ports } = await waitingWorld([deployment('web', 1, '1')]);
      const report = await provision(ports, settings, ALWAYS, beside(ports, {}, [turn]));
      expect(report).toMatchObject({ isWoken: true, isLeftToAnother: false });
      expect(report.launched).toHaveLength(1);
    },
  );
});

describe('who comes while it is launched in vain', () => {
  const short = async ({ overrides, capacityType }: FleetRequest) => ({
    instances: [],
    faults: overrides.map(({ instanceType, zone }) => ({
      kind: 'shortage' as const,
      code: 'InsufficientInstanceCapacity',
      message: '',
      offering: { instanceType, zone, capacityType },
    })),
  });

  /** The second decision is made by another, or fails. */
  async function shortTurns(second: () => Promise<unknown>) {
    const { ports } = await waitingWorld([deployment('web', 1, '1')]);
    const calls: string[] = [];
    const decides = [async () => undefined, second];
    const turns = beside(
      withPorts(ports, { compute: { launch: short } }),
      { decide: async () => await decides.shift()?.() },
      ['launch'],
    );
    const wakeAnother = () => void calls.push('wake another');
    return { ports, calls, turns: { ...turns, wakeAnother } };
  }

  it('is not forgotten where another decides by then', async () => {
    const { ports, turns } = await shortTurns(async () => 'held');
    const report = await provision(ports, settings, ALWAYS, turns);
    expect(report).toMatchObject({ isWoken: true, isLeftToAnother: true });
  });

  it('is not forgotten where the next decision fails', async () => {
    const { ports, turns, calls } = await shortTurns(() => Promise.reject(new Error('503')));
    await expect(provision(ports, settings, ALWAYS, turns)).rejects.toThrow('503');
    expect(calls).toEqual(['wake another']);
  });
});

it('who came while it was launched is not forgotten where the round fails after it', async () => {
  const { ports } = await waitingWorld([deployment('web', 1, '1')]);
  const calls: string[] = [];
  const failing = withPorts(ports, {
    cluster: { event: () => Promise.reject(new Error('503')) },
  });
  const turns: WriteLeases = {
    ...beside(failing, {}, ['launch']),
    wakeAnother: () => void calls.push('wake another'),
  };
  await expect(provision(failing, settings, ALWAYS, turns)).rejects.toThrow('503');
  expect(calls).toEqual(['wake another']);
});

it('who came while it was decided need not wait for EC2: another plans for them', async () => {
  const { ports } = await waitingWorld([deployment('web', 1, '1')]);
  const calls: string[] = [];
  const turns: WriteLeases = {
    ...beside(noting(ports, calls), {}, ['decide']),
    wakeAnother: () => void calls.push('wake another'),
  };
  const report = await provision(ports, settings, ALWAYS, turns);
  expect(calls).toEqual(['wake another', 'CreateFleet']);
  expect(report.isWoken).toBe(true);
});

describe('between deciding and launching', () => {
  it('another may have launched what was just written', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const { ports } = waiting;
    const other = () => provision(ports, settings);
    const report = await provision(ports, settings, ALWAYS, beside(ports, { launch: other }));
    expect(report.created).toHaveLength(1);
    expect(report.launched).toEqual([]);
    expectOneEach(waiting, 1);
  });

  it('another may have adopted what somebody launched who died', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const { ports, add } = waiting;
    const die = () => Promise.reject(new Error('died'));
    const doomed = withPorts(ports, { cluster: { patchNodeClaimStatus: die } });
    await expect(provision(doomed, settings)).rejects.toThrow('died');
    expect([waiting.world.compute.machines.size, claimsOf(waiting)[0]?.providerId]).toEqual([
      1,
      undefined,
    ]);
    await add([deployment('api', 1, '3')]);
    const other = () => provision(ports, settings);
    const report = await provision(ports, settings, ALWAYS, beside(ports, { launch: other }));
    expect([report.created.length, report.launched]).toEqual([1, []]);
    expectOneEach(waiting, 2);
  });

  it('a claim that was deleted is not launched', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const { ports } = waiting;
    let deleted = 0;
    const deletion = async (): Promise<void> => {
      if (deleted > 0) return;
      for (const { name } of claimsOf(waiting)) {
        await ports.cluster.delete({ kind: 'NodeClaim', name });
        deleted += 1;
      }
    };
    const report = await provision(ports, settings, ALWAYS, beside(ports, { launch: deletion }));
    expect(deleted).toBe(1);
    // The round after it plans for the pod again.
    expect([report.created.length, report.launched.length]).toEqual([2, 1]);
    expect(waiting.world.compute.machines.size).toBe(1);
  });

  it('a claim that another has noted something on is launched by the next round', async () => {
    const waiting = await waitingWorld([deployment('web', 1, '1')]);
    const { ports } = waiting;
    let notes = 0;
    const note = async (): Promise<void> => {
      notes += 1;
      if (notes > 1) return;
      const [claim] = claimsOf(waiting);
      const patch = { annotations: { 'example.com/note': 'seen' } };
      await ports.cluster.patchNodeClaim({ kind: 'NodeClaim', name: claim?.name ?? '' }, patch);
    };
    const report = await provision(ports, settings, ALWAYS, beside(ports, { launch: note }));
    expect([notes, report.created.length, report.launched.length]).toEqual([2, 1, 1]);
    expectOneEach(waiting, 1);
  });
});

describe('a pause', () => {
  it.each([
    ['before launches begin', 0, 0],
    ['between two fleets', 15, 15],
  ])('%s is obeyed', async (_, before, launched) => {
    const waiting = await waitingWorld([spread('web', 20)]);
    const { ports, world } = waiting;
    let nowMs = world.timeline.nowMs();
    let fleets = 0;
    const launch = async (fleet: FleetRequest) => {
      fleets += 1;
      return await ports.compute.launch(fleet);
    };
    const pausedUntilMs = async () => (fleets < before ? {} : { launch: Number.POSITIVE_INFINITY });
    const clock = clockOf(() => (nowMs += 300));
    const pausing = withPorts(ports, { clock, cluster: { pausedUntilMs }, compute: { launch } });
    await provision(pausing, { ...settings, fleetSizeMax: 1 });
    expect(claimsOf(waiting)).toHaveLength(20);
    expect(world.compute.machines.size).toBe(launched);
  });
});

it('an instance whose launch got no answer has what its type has, though that is barred by then', async () => {
  const waiting = await waitingWorld([deployment('web', 1, '1')]);
  const { ports, world } = waiting;
  const launch = async (fleet: FleetRequest) => {
    await ports.compute.launch(fleet);
    throw new PortError('unknown', 'TimeoutError', 'no answer');
  };
  await provision(withPorts(ports, { compute: { launch } }), settings);
  const [{ instanceType, zone } = { instanceType: '', zone: '' }] = world.compute.machines.values();
  const offering = { instanceType, zone, capacityType: 'on-demand' } as const;
  await ports.memory.markUnavailable(offering, 'InsufficientInstanceCapacity', 'shortage');
  await provision(ports, settings);
  const [claim] = claimsOf(waiting);
  expect(world.compute.machines.size).toBe(1);
  expect(claim?.providerId).toBeDefined();
  expect(claim?.labels['karpenter.k8s.aws/instance-family']).toBe(instanceType.split('.')[0]);
  expect(claim?.allocatable['cpu']).toBeGreaterThan(0);
});

describe('a holder that is frozen before a write', () => {
  /** A Lease that is held as long as `isHeld` says. */
  const leaseOf = (names: string, isHeld: () => boolean) => ({
    names,
    isHeld: async () => isHeld(),
    releaseUnlessWoken: async () => 'released' as const,
    release: async () => false,
  });

  const heldBy = (holder: string, ports: Ports) =>
    leaseGuarded(
      ports,
      leaseOf(`${holder}/0`, () => true),
    );

  it('launches nothing beside what the holder after it launches', async () => {
    const waiting = await waitingWorld([spread('web', 3)]);
    let isFirst = true;
    const frozen: (() => void)[] = [];
    const createNodeClaim: Ports['cluster']['createNodeClaim'] = async (claim) => {
      await new Promise<void>((resolve) => void frozen.push(resolve));
      return await waiting.ports.cluster.createNodeClaim(claim);
    };
    const before = leaseGuarded(
      withPorts(waiting.ports, { cluster: { createNodeClaim } }),
      leaseOf('a/0', () => isFirst),
    );
    const first = provision(before, settings, ALWAYS).catch((error: unknown) => error);
    await vi.waitFor(() => expect(frozen).toHaveLength(3));
    isFirst = false;
    const { created } = await provision(heldBy('a', waiting.ports), settings, ALWAYS);
    for (const thaw of frozen) thaw();
    await first;
    expect(claimsOf(waiting).map(({ name }) => name)).toEqual([...created].sort());
    expectOneEach(waiting, 3);
  });

  it('gives no name twice', () => {
    const suffixes = ['aaaaa', 'aaaaa', 'bbbbb'];
    const ids = { suffix: () => suffixes.shift() ?? '' };
    const nameFor = claimNames({ ids }, []);
    expect([nameFor('general'), nameFor('general')]).toEqual(['general-aaaaa', 'general-bbbbb']);
  });

  it('leaves the names of what it has written to that', async () => {
    const { ports } = await waitingWorld([spread('web', 3)]);
    const own = heldBy('a', ports);
    const name = `general-${own.ids.suffix()}`;
    const next = heldBy('a', ports);
    const other = heldBy('b', ports);
    expect(claimNames(next, [])('general')).toBe(name);
    const again = heldBy('a', ports);
    expect(claimNames(again, [claimOf(name)])('general')).not.toBe(name);
    expect(claimNames(other, [])('general')).not.toBe(name);
  });
});
