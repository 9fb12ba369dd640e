import { decodePauses } from '../../shared/api/pauses.ts';
import { isKarpenterActive } from '../../shared/app/settings.ts';
import type { KubeClient } from '../../shared/kube/client.ts';
import type { PauseScope } from '../../shared/ports/cluster.ts';
import type { ClusterReader, ClusterState, ClusterWriter } from '../../shared/ports.ts';
import { type PauseData, readPauses } from '../pauses.ts';
import { findKarpenter, type Karpenter, type KarpenterPod, podsOfKarpenter } from './karpenter.ts';
import {
  type HeldKarpenterLease,
  isOwnHolder,
  type KarpenterLeaseState,
  karpenterLeases,
} from './lease.ts';
import { type HandoverRecord, readRecord, writeRecord } from './record.ts';

/** What a hand-over is carried out with. */
export interface Walk {
  /** By the API server's clock. */
  readonly client: KubeClient;
  readonly reader: ClusterReader;
  readonly writer: ClusterWriter;
  /** `namespace/name` of Karpenter's Deployment, where somebody has named it. */
  readonly karpenter: string | undefined;
  /** Somebody else scales Karpenter: the command waits for it. */
  readonly isByHand: boolean;
  /** Nodes that have drifted since are no reason to stop. */
  readonly acceptsDrift: boolean;
  /** Whether to wait until Karpenter has finished what it has begun. */
  readonly settles: boolean;
  /** How long a step waits for what others have to do. */
  readonly waitMs: number;
  /** Of Karpenter, where nobody knows how many it had. */
  readonly replicas: number | undefined;
  /** Tells people how far it is. */
  readonly say: (line: string) => void;
  /** Karpenter's Lease, while this process holds it. */
  lease: HeldKarpenterLease | undefined;
}

/** The cluster as a step finds it. */
export interface Position {
  readonly nowMs: number;
  readonly record: HandoverRecord | undefined;
  readonly pauses: PauseData;
  readonly karpenter: Karpenter | undefined;
  readonly pods: readonly KarpenterPod[];
  /** The Lease that was renewed last. */
  readonly lease: KarpenterLeaseState | undefined;
  /** As Joiner sees it: while somebody renews the Lease, Joiner only reads. */
  readonly isJoinerPassive: boolean;
  readonly state: ClusterState;
}

/** A step of a hand-over, which may be repeated. */
export interface Step {
  /** A word, for people and programs. */
  readonly name: string;
  /** What it does, a sentence. */
  readonly what: string;
  /** What does the same by hand. */
  readonly commands: (position: Position) => readonly string[];
  /** Whether nothing is left to do for it. */
  readonly isDone: (position: Position) => boolean;
  /** Does it, and returns what came of it in a sentence. Throws {@link Stopped}. */
  readonly take: (walk: Walk) => Promise<string>;
}

/** A step that did not come to its end: what is in the way, and what to do. */
export class Stopped extends Error {
  override readonly name = 'Stopped';
  readonly advice: string;

  constructor(message: string, advice: string) {
    super(message);
    this.advice = advice;
  }
}

export async function positionOf({ client, reader, karpenter: named }: Walk): Promise<Position> {
  const record = await readRecord(client);
  const karpenter = await findKarpenter(client, named);
  const [lease] = await karpenterLeases(client);
  const nowMs = client.timing.nowMs();
  const state = await reader.read();
  return {
    nowMs,
    record,
    pauses: await readPauses(client),
    karpenter,
    pods: karpenter === undefined ? [] : await podsOfKarpenter(client, karpenter),
    lease,
    isJoinerPassive: isKarpenterActive(state.karpenterRenewedAtMs, nowMs),
    state,
  };
}

/** Whether Karpenter is at work, and nobody has told it to stop. */
export function doesKarpenterRun({ isJoinerPassive, lease, karpenter }: Position): boolean {
  if (!isJoinerPassive || lease === undefined || isOwnHolder(lease)) return false;
  return karpenter === undefined || karpenter.replicas > 0;
}

/** Whether all of these are paused without an end: one from before may be over, or end meanwhile. */
export function arePaused({ pauses }: Position, parts: readonly PauseScope[]): boolean {
  const ends = decodePauses({ data: pauses });
  return parts.every((each) => ends[each] === Number.POSITIVE_INFINITY);
}

const LOOK_MS = 2_000;

/**
 * Looks at the cluster until nothing is in the way. Says each new thing that is. Throws
 * {@link Stopped} when the time is over.
 */
export async function until(
  walk: Walk,
  obstacle: (position: Position) => Promise<string | undefined> | string | undefined,
  advice: string,
): Promise<Position> {
  const { timing } = walk.client;
  const startedAtMs = timing.nowMs();
  let said = '';
  for (;;) {
    const position = await positionOf(walk);
    const inTheWay = await obstacle(position);
    if (inTheWay === undefined) return position;
    if (inTheWay !== said) walk.say(`waiting: ${inTheWay}`);
    said = inTheWay;
    if (timing.nowMs() - startedAtMs >= walk.waitMs) throw new Stopped(inTheWay, advice);
    await timing.sleep(LOOK_MS);
  }
}

/** Writes fields of the record. */
export async function noteRecord(
  { client }: Walk,
  before: HandoverRecord,
  change: Partial<HandoverRecord>,
): Promise<void> {
  await writeRecord(client, { ...before, ...change });
}
