import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  interrupt,
  newInterruptMemory,
  type RefusalReason,
} from '../../shared/app/interrupt/interrupt.ts';
import { appSettings } from '../../shared/app/settings.ts';
import { sqsClient } from '../../shared/aws/access.ts';
import { Calls } from '../../shared/aws/calls.ts';
import { instanceIdOf } from '../../shared/core/lifecycle/actions.ts';
import type { NodeClaim } from '../../shared/core/model/provisioning.ts';
import { PortError, type Ports } from '../../shared/ports.ts';
import { readState } from '../../shared/sim/decode.ts';
import { ACCOUNT, type World } from '../../shared/sim/world.ts';
import { WireCloud } from '../support/aws/cloud.ts';
import { InterruptionQueue } from '../support/aws/interruption-queue.ts';
import { runningWorld, spread, withPorts } from '../unit/app/world.ts';

const REGION = 'us-east-1';
const settings = appSettings('demo', { accountId: ACCOUNT, region: REGION });

/** As the stack sets the queue up. */
const RECEIVES_MAX = 5;
const MANY = 10_000;

const cloud = new WireCloud();
beforeAll(() => cloud.start());
afterAll(() => cloud.stop());

function queue(): InterruptionQueue {
  const sqs = sqsClient({
    region: REGION,
    credentials: { accessKeyId: 'AKID', secretAccessKey: 'secret' },
    functionName: 'interrupt',
    endpoint: cloud.endpoint,
  });
  const timing = { nowMs: () => Date.now(), sleep: async () => undefined };
  return new InterruptionQueue({ sqs, calls: new Calls(timing), name: 'interruptions' });
}

interface Outcome {
  readonly refused: Readonly<Partial<Record<RefusalReason, number>>>;
  readonly deleted: readonly string[];
  /** Bodies that were given up, as the redrive policy does. */
  readonly dead: readonly string[];
  /** Of AWS, whatever they ask for. */
  readonly calls: number;
  /** Seconds that were only waited. */
  readonly waited: number;
  /** By claim: seconds from the first message to its deletion. */
  readonly gone: Readonly<Record<string, number>>;
}

/** Five invocations at once, a fifth of a second each. */
const BATCH_MS = 40;
/** As the stack sets the queue up: what fails is not seen for so long. */
const HIDDEN_MS = 360_000;

/** A clock that waits take forward, and ports that count what they ask of AWS. */
class Counted {
  calls = 0;
  waitedMs = 0;
  elapsedMs = 0;
  readonly ports: Ports;

  constructor(world: World, ports: Ports) {
    const nowMs = (): number => world.timeline.nowMs() + this.elapsedMs;
    const sleep = async (ms: number): Promise<void> => {
      this.waitedMs += ms;
      this.elapsedMs += ms;
    };
    const { compute, images, network, profiles } = ports;
    const aws = { compute, images, network, profiles };
    const counted = Object.entries(aws).map(([name, port]) => [name, this.counting(port)]);
    this.ports = { ...ports, ...Object.fromEntries(counted), clock: { nowMs, sleep } };
  }

  private counting<Port extends object>(port: Port): Port {
    return new Proxy(port, {
      get: (target, name) => {
        const value: unknown = Reflect.get(target, name);
        if (typeof value !== 'function') return value;
        this.calls += 1;
        return value.bind(target);
      },
    });
  }
}

/**
 * What Lambda and SQS do together: batches of ten to the function, those that fail are seen again,
 * and after five times are moved to the dead letters.
 */
async function played(
  world: World,
  bodies: readonly string[],
  ports: Ports = world.ports,
): Promise<Outcome> {
  const source = queue();
  const queuedAtMs = world.timeline.nowMs();
  cloud.messages.push(...bodies.map((body, at) => ({ id: `m${at}`, body, receipt: undefined })));
  const receives = new Map<string, number>();
  const refused: Partial<Record<RefusalReason, number>> = {};
  const gone: Record<string, number> = {};
  const dead: string[] = [];
  const counted = new Counted(world, ports);
  const memory = newInterruptMemory();
  // Those who drain and replace are woken by a call, too.
  const wake = async (): Promise<void> => {
    counted.calls += 1;
  };
  for (;;) {
    const batch = await source.receive(0);
    if (batch.length === 0) {
      if (cloud.messages.length === 0) break;
      counted.elapsedMs += HIDDEN_MS;
      for (const message of cloud.messages) message.receipt = undefined;
      continue;
    }
    counted.elapsedMs += BATCH_MS;
    for (const { id } of batch) receives.set(id, (receives.get(id) ?? 0) + 1);
    const messages = batch.map(({ id, body }) => ({ id, body, queuedAtMs }));
    const report = await interrupt(counted.ports, settings, messages, wake, memory);
    for (const [reason, count] of report.refused) refused[reason] = (refused[reason] ?? 0) + count;
    for (const name of report.deleted) gone[name] ??= counted.elapsedMs / 1000;
    const failed = new Set(report.failedIds);
    const over = batch.filter(({ id }) => failed.has(id) && receives.get(id) === RECEIVES_MAX);
    dead.push(...over.map(({ body }) => body));
    await source.delete(batch.filter((each) => !failed.has(each.id) || over.includes(each)));
  }
  const { calls, waitedMs } = counted;
  return { refused, deleted: Object.keys(gone).sort(), dead, calls, waited: waitedMs / 1000, gone };
}

function claimsOf(world: World): readonly NodeClaim[] {
  return [...readState(world.store).objects.nodeClaims].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function warning(world: World, id: string | undefined, changes: object = {}): string {
  return JSON.stringify({
    source: 'aws.ec2',
    'detail-type': 'EC2 Spot Instance Interruption Warning',
    account: ACCOUNT,
    region: REGION,
    time: new Date(world.timeline.nowMs()).toISOString(),
    detail: { 'instance-id': id, 'instance-action': 'terminate' },
    ...changes,
  });
}

function stopped(world: World, id: string): string {
  return warning(world, id, {
    'detail-type': 'EC2 Instance State-change Notification',
    detail: { 'instance-id': id, state: 'stopped' },
  });
}

/** As EC2 sends it: the spot request says the same. */
function realWarning(world: World, id: string): string {
  world.compute.takeBack(id);
  return warning(world, id);
}

function idOf(claim: NodeClaim | undefined): string {
  return instanceIdOf(claim?.providerId) ?? 'i-00000000';
}

describe('messages of the interruption queue', () => {
  it('that are forged or foreign touch no node and are counted by reason', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const id = idOf(claimsOf(world)[0]);
    const bodies = [
      warning(world, id, { account: '999999999999' }),
      warning(world, id, { region: 'eu-west-1' }),
      warning(world, id, { time: '2020-01-01T00:00:00Z' }),
      warning(world, id, { detail: { 'instance-id': `${id}'; drop` } }),
      warning(world, 'i-0aaaaaaaaaaaaaaaa'),
      'not JSON',
      '['.repeat(100_000),
      warning(world, id, { padding: 'x'.repeat(262_144) }),
    ];
    const { refused, deleted, dead, calls } = await played(world, bodies);
    expect(refused).toEqual({
      foreign_account: 1,
      foreign_region: 1,
      stale: 1,
      malformed: 3,
      foreign_cluster: 1,
      too_large: 1,
    });
    expect(deleted).toEqual([]);
    expect(dead).toEqual([]);
    expect(calls).toBe(0);
    expect(claimsOf(world).filter((each) => each.deletedAtMs !== undefined)).toEqual([]);
  });

  it('10,000 times the same: one node, and EC2 is hardly asked', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const [claim] = claimsOf(world);
    const bodies = Array.from({ length: MANY }, () => realWarning(world, idOf(claim)));
    const { deleted, calls, dead } = await played(world, bodies);
    expect(deleted).toEqual([claim?.name]);
    // The instance, its spot request, and one for those who are woken.
    expect(calls).toBe(3);
    expect(dead).toEqual([]);
    const leaving = claimsOf(world).filter((each) => each.deletedAtMs !== undefined);
    expect(leaving.map(({ name }) => name)).toEqual([claim?.name]);
  });

  it('10,000, five of them over and over, of which none is believed: AWS is not asked', async () => {
    const world = await runningWorld([spread('web', 1)], 'spot');
    const id = idOf(claimsOf(world)[0]);
    const five = [
      warning(world, id, { account: '999999999999' }),
      warning(world, id, { region: 'eu-west-1' }),
      warning(world, id, { time: '2020-01-01T00:00:00Z' }),
      warning(world, id, { detail: { 'instance-id': 'all' } }),
      warning(world, 'i-0aaaaaaaaaaaaaaaa'),
    ];
    const bodies = Array.from({ length: MANY }, (_, at) => five[at % five.length] ?? '');
    const each = MANY / five.length;
    const { waited, ...rest } = await played(world, bodies);
    // Until what was read is newer than what was sent.
    expect(waited).toBeLessThanOrEqual(5);
    expect(rest).toEqual({
      refused: {
        foreign_account: each,
        foreign_region: each,
        stale: each,
        malformed: each,
        foreign_cluster: each,
      },
      ...{ deleted: [], dead: [], calls: 0, gone: {} },
    });
  });

  it('10,000 of other clusters: nothing is asked of AWS', async () => {
    const world = await runningWorld([spread('web', 1)], 'spot');
    const foreign = (at: number): string => `i-0${at.toString(16).padStart(16, '0')}`;
    const bodies = Array.from({ length: MANY }, (_, at) => warning(world, foreign(at + 1e9)));
    const { refused, calls, deleted } = await played(world, bodies);
    expect(refused).toEqual({ foreign_cluster: MANY });
    expect(calls).toBe(0);
    expect(deleted).toEqual([]);
  });

  it('10,000 times the same stop of an instance that runs: asked about by the batch', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const body = stopped(world, idOf(claimsOf(world)[0]));
    const outcome = await played(
      world,
      Array.from({ length: MANY }, () => body),
    );
    expect(outcome.refused).toEqual({ contradicted: MANY });
    expect([outcome.deleted, outcome.dead, outcome.waited]).toEqual([[], [], 0]);
    // Each batch comes twice: EC2's first answer may have been late.
    expect(outcome.calls).toBe((2 * MANY) / 10);
  });

  it('of a stop that EC2 does not show yet is acted on when it comes again', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const [claim] = claimsOf(world);
    const id = idOf(claim);
    let isShown = false;
    const ports = withPorts(world.ports, {
      compute: {
        describe: async (ids) => {
          const found = await world.ports.compute.describe(ids);
          const state = isShown ? 'stopped' : 'running';
          isShown = true;
          return found.map((each) => (each.id === id ? { ...each, state } : each));
        },
      },
    });
    const { gone, refused, dead } = await played(world, [stopped(world, id)], ports);
    expect([refused, dead]).toEqual([{}, []]);
    expect(gone[claim?.name ?? '']).toBeGreaterThan(HIDDEN_MS / 1000);
  });

  it('10,000 forged ones around a real one: it is acted on within the two minutes', async () => {
    const world = await runningWorld([spread('web', 20)], 'spot');
    const [real, ...others] = claimsOf(world);
    const forged = (at: number): string => warning(world, idOf(others[at % others.length]));
    const bodies = Array.from({ length: MANY }, (_, at) => forged(at));
    bodies.splice(MANY / 2, 0, realWarning(world, idOf(real)));
    const { refused, gone, deleted, calls, waited, dead } = await played(world, bodies);
    expect(gone[real?.name ?? '']).toBeLessThan(60);
    // A fifth of the pool, and what is confirmed.
    expect(deleted).toHaveLength(4 + 1);
    expect(refused.unconfirmed).toBeGreaterThanOrEqual(MANY - 4 * Math.ceil(MANY / others.length));
    expect(dead).toEqual([]);
    expect(calls).toBeLessThan(25);
    expect(waited).toBeLessThanOrEqual(10);
  });

  it('of which EC2 knows nothing: one node of four, however often they are forged', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const all = claimsOf(world).map((claim) => warning(world, idOf(claim)));
    const { deleted, refused, dead } = await played(world, [...all, ...all, ...all]);
    expect(deleted).toHaveLength(1);
    // Three of the twelve are about the node that goes.
    expect(refused).toEqual({ unconfirmed: 9 });
    expect(dead).toEqual([]);
  });

  it('one that always fails ends in the dead letters, the others of its batch are done', async () => {
    const world = await runningWorld([spread('web', 4)], 'spot');
    const [poison, ...others] = claimsOf(world);
    const ports = withPorts(world.ports, {
      cluster: {
        delete: async (ref) => {
          if (ref.name === poison?.name) throw new PortError('unknown', '500', 'always');
          return await world.ports.cluster.delete(ref);
        },
      },
    });
    const bodies = claimsOf(world).map((claim) => realWarning(world, idOf(claim)));
    const { deleted, dead } = await played(world, bodies, ports);
    expect(deleted).toEqual(others.map(({ name }) => name));
    expect(dead).toEqual([bodies[0]]);
    expect(cloud.messages).toEqual([]);
  });
});
