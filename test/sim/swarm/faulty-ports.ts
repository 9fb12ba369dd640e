import { type ClusterState, type Instance, PortError, type Ports } from '../../../shared/ports.ts';
import type { Awaits, Invocation } from './awaits.ts';
import type { Faults } from './faults.ts';
import type { Karpenter } from './karpenter.ts';

/** EC2 may leave an instance out of its answers for so long after it was launched. */
const LAG_MS = 8_000;
/** A watch cache may be behind for so long. */
const STALE_MS = 2_000;
/** Long enough for a Lease to be taken over, and short enough not to be. */
const FROZEN_MS = [5_000, 40_000] as const;
/** A fleet takes seconds. */
const FLEET_MS = [200, 2_500] as const;

const IMMEDIATE: ReadonlySet<PropertyKey> = new Set(['isWarm', 'followWaitingPods']);
const READS: ReadonlySet<PropertyKey> = new Set([
  'read',
  'readClaims',
  'readNode',
  'readNodePoolNotes',
  'wantedPods',
  'podUsage',
  'karpenterRenewedAtMs',
  'pausedUntilMs',
]);
/** Writes that are refused where the object is another one by now. */
const CONDITIONAL: ReadonlySet<PropertyKey> = new Set([
  'patchNodeClaim',
  'patchNodeClaimStatus',
  'patchNode',
  'patchNodePool',
]);

/** What any invocation has read last: the API server's watch cache is one. */
export class LastRead {
  atMs = Number.NEGATIVE_INFINITY;
  state: ClusterState | undefined;
}

type Call = () => Promise<unknown>;
type Around = (name: string, call: Call, args: readonly unknown[]) => Promise<unknown>;

export interface FaultySettings {
  readonly ports: Ports;
  readonly awaits: Awaits;
  readonly faults: Faults;
  readonly lastRead: LastRead;
  readonly karpenter: Karpenter;
  /** The true time. */
  readonly nowMs: () => number;
  /** Looks at each write right before it takes effect. */
  readonly onWrite: (by: Invocation, call: string, args: readonly unknown[]) => void;
}

/** The ports of one invocation: each call takes time, lets others go first, and may fail. */
export function faultyPorts(settings: FaultySettings, by: Invocation): Ports {
  const { ports, awaits, nowMs } = settings;
  return {
    ...ports,
    cluster: around(ports.cluster, clusterCalls(settings, by)),
    compute: around(ports.compute, computeCalls(settings, by)),
    memory: around(ports.memory, memoryCalls(settings, by)),
    clock: {
      nowMs: () => nowMs() + by.skewMs,
      sleep: async (ms) => await awaits.pause(by, ms),
    },
  };
}

function around<Port extends object>(port: Port, each: Around): Port {
  return new Proxy(port, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      if (IMMEDIATE.has(name)) return value.bind(target);
      return async (...args: unknown[]) =>
        await each(String(name), async () => await Reflect.apply(value, target, args), args);
    },
  });
}

/** The moment before or after a call, at which an invocation may end or stand still. */
export async function moment(
  { faults, awaits, nowMs }: FaultySettings,
  by: Invocation,
): Promise<void> {
  if (faults.happens('killed')) by.isKilled = true;
  else if (faults.happens('frozen')) by.frozenUntilMs = nowMs() + faults.between(...FROZEN_MS);
  await awaits.latency(by);
}

function clusterCalls(settings: FaultySettings, by: Invocation): Around {
  const { faults, onWrite } = settings;
  return async (name, call, args) => {
    await moment(settings, by);
    if (faults.happens('api-refuses')) throw new PortError('unknown', '500', `${name} failed`);
    if (faults.happens('api-throttles')) throw new PortError('throttled', '429', `${name} waits`);
    const isWrite = !READS.has(name);
    if (CONDITIONAL.has(name) && isPreconditioned(args) && faults.happens('api-conflict')) {
      return 'conflict';
    }
    if (isWrite) onWrite(by, name, args);
    const answer = withKarpenter(settings, name, await call());
    const result = name === 'read' ? lateState(settings, answer as ClusterState) : answer;
    await moment(settings, by);
    if (isWrite && faults.happens('api-answer-lost')) {
      throw new PortError('unknown', '504', `the answer to ${name} is lost`);
    }
    return result;
  };
}

/**
 * Pods and nodes may come from a watch that is behind. NodeClaims may not: a pass that begins under
 * a Lease sees what the passes before it have written.
 */
function lateState({ lastRead, faults, nowMs }: FaultySettings, fresh: ClusterState): ClusterState {
  const { state, atMs } = lastRead;
  const isRecent = state !== undefined && nowMs() - atMs < STALE_MS;
  if (isRecent && faults.happens('api-stale-read')) {
    const { pods, nodes } = state.objects;
    return { ...fresh, objects: { ...fresh.objects, pods, nodes } };
  }
  lastRead.state = fresh;
  lastRead.atMs = nowMs();
  return fresh;
}

/** What the answer says of Karpenter's Lease. */
function withKarpenter({ karpenter }: FaultySettings, name: string, answer: unknown): unknown {
  if (name === 'karpenterRenewedAtMs') return karpenter.renewedAtMs();
  const isState = name === 'read' || name === 'readClaims';
  if (!isState) return answer;
  return { ...(answer as ClusterState), karpenterRenewedAtMs: karpenter.renewedAtMs() };
}

/** Whether the write names what it expects to find. */
function isPreconditioned(args: readonly unknown[]): boolean {
  const text = JSON.stringify(args);
  return text.includes('"resourceVersion":"') || text.includes('"taintsBefore"');
}

function computeCalls(settings: FaultySettings, by: Invocation): Around {
  const { faults, awaits, onWrite } = settings;
  return async (name, call, args) => {
    await moment(settings, by);
    if (name === 'launch') await awaits.latency(by, ...FLEET_MS);
    if (faults.happens('ec2-throttles')) {
      throw new PortError('throttled', 'RequestLimitExceeded', `${name} is throttled`);
    }
    if (name === 'launch' && faults.happens('ec2-unknown-code')) {
      throw new PortError('unknown', 'InternalUnheardOf', 'nothing is launched');
    }
    onWrite(by, name, args);
    const result = await call();
    await moment(settings, by);
    if (name === 'launch' && faults.happens('ec2-answer-lost')) {
      throw new PortError('unknown', 'RequestTimeout', 'the answer to launch is lost');
    }
    return name === 'list' || name === 'describe' ? lagging(settings, result) : result;
  };
}

/** Read after write does not hold for EC2's lists. */
function lagging({ faults, nowMs }: FaultySettings, listed: unknown): unknown {
  const instances = listed as readonly Instance[];
  return instances.filter(
    ({ launchedAtMs }) => nowMs() - launchedAtMs > LAG_MS || !faults.happens('ec2-lag'),
  );
}

function memoryCalls({ faults, awaits }: FaultySettings, by: Invocation): Around {
  return async (name, call) => {
    await awaits.latency(by, 1, 3);
    const isUnreadable = name === 'unavailable' && faults.happens('memory-unreadable');
    return isUnreadable ? [] : await call();
  };
}
