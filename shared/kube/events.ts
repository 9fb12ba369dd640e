import { createHash } from 'node:crypto';
import { encodeTime } from '../api/encode.ts';
import { apiVersion, RESOURCES } from '../api/resources.ts';
import { DECISION, type Labels, REASON_CODE } from '../core/model/labels.ts';
import type { ClusterEvent } from '../ports/cluster.ts';
import { objectKey } from '../ports/cluster.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault, KubeError } from './errors.ts';
import { property } from './list.ts';
import { KINDS } from './resource-paths.ts';

/** Events of cluster-scoped objects live here, as those of Kubernetes' own controllers do. */
const CLUSTER_NAMESPACE = 'default';
/** A burst, then this many a second: a pass over 10,000 pods must not write 10,000 events. */
const BURST = 200;
const REFILL_PER_SECOND = 10;
/** Repeats within this time are counted in memory and written with the next one after it. */
const QUIET_MS = 10_000;
/** Distinct events remembered for that; the oldest are forgotten first. */
const REMEMBERED_MAX = 2_000;
const NAME_LENGTH_MAX = 253;
const MESSAGE_LENGTH_MAX = 1024;

export interface EventSink {
  record(event: ClusterEvent): Promise<void>;
}

/**
 * Writes Events. An event's name is the hash of what it says about which object, so that equal
 * events meet in one object and are counted, whichever function and sandbox they come from. Best
 * effort: an event that cannot be written is never a reason to fail.
 */
export function eventSink(client: KubeClient): EventSink {
  const remembered = new Map<string, { writtenAtMs: number; unwritten: number }>();
  let tokens = BURST;
  let filledAtMs = client.timing.nowMs();

  const takeToken = (nowMs: number): boolean => {
    const gainedMs = Math.max(0, nowMs - filledAtMs);
    tokens = Math.min(BURST, tokens + (gainedMs / 1000) * REFILL_PER_SECOND);
    filledAtMs = nowMs;
    if (tokens < 1) return false;
    tokens -= 1;
    return true;
  };

  /** How many occurrences to write now; 0: only remember. */
  const due = (name: string, nowMs: number): number => {
    const known = remembered.get(name);
    const count = 1 + (known?.unwritten ?? 0);
    const isQuiet = known !== undefined && nowMs - known.writtenAtMs < QUIET_MS;
    const writes = !isQuiet && takeToken(nowMs);
    remembered.delete(name);
    remembered.set(name, {
      writtenAtMs: writes ? nowMs : (known?.writtenAtMs ?? 0),
      unwritten: writes ? 0 : count,
    });
    const [oldest] = remembered.keys();
    if (remembered.size > REMEMBERED_MAX && oldest !== undefined) remembered.delete(oldest);
    return writes ? count : 0;
  };

  return {
    record: async (event) => {
      const nowMs = client.timing.nowMs();
      const name = eventName(event);
      const count = due(name, nowMs);
      if (count === 0) return;
      try {
        await write(client, event, name, count, nowMs);
      } catch (error) {
        // Forbidden, too large, unreachable: whoever calls has more important work to do.
        if (!(error instanceof KubeError)) throw error;
      }
    },
  };
}

function eventName(event: ClusterEvent): string {
  const { regarding, type, reason, message } = event;
  const said = [objectKey(regarding), regarding.uid ?? '', type, reason, message].join('\n');
  const hash = createHash('sha256').update(said).digest('hex').slice(0, 16);
  // A name that is cut may not end in a dash or a dot: the API server would refuse the Event.
  const of = regarding.name.slice(0, NAME_LENGTH_MAX - hash.length - 1).replace(/[-.]+$/, '');
  return `${of}.${hash}`;
}

async function write(
  client: KubeClient,
  event: ClusterEvent,
  name: string,
  count: number,
  nowMs: number,
): Promise<void> {
  const namespace = event.regarding.namespace ?? CLUSTER_NAMESPACE;
  const at = encodeTime(nowMs);
  try {
    await client.create(RESOURCES.events, newEvent(client, event, name, count, at), namespace);
  } catch (error) {
    if (!(isKubeFault(error, 'conflict') && error.fault.what === 'exists')) throw error;
    const existing = await client.get(RESOURCES.events, { namespace, name });
    const before = property(existing, 'count');
    const value = {
      metadata: { annotations: annotationsOf(event) },
      count: (typeof before === 'number' ? before : 1) + count,
      lastTimestamp: at,
    };
    await client.patch(RESOURCES.events, { namespace, name }, { kind: 'merge', value });
  }
}

/** The code of its reason, and the decision that it is about; undefined: neither is known. */
function annotationsOf({ code, decision }: ClusterEvent): Labels | undefined {
  if (code === undefined && decision === undefined) return undefined;
  return {
    ...(code === undefined ? {} : { [REASON_CODE]: code }),
    ...(decision === undefined ? {} : { [DECISION]: decision }),
  };
}

function newEvent(
  client: KubeClient,
  event: ClusterEvent,
  name: string,
  count: number,
  at: string,
): object {
  const { kind, namespace, name: of, uid, resourceVersion } = event.regarding;
  return {
    metadata: {
      name,
      namespace: namespace ?? CLUSTER_NAMESPACE,
      annotations: annotationsOf(event),
    },
    involvedObject: {
      apiVersion: apiVersion(KINDS[kind]),
      kind,
      namespace,
      name: of,
      uid,
      resourceVersion,
    },
    type: event.type,
    reason: event.reason,
    message: event.message.slice(0, MESSAGE_LENGTH_MAX),
    source: { component: client.name },
    reportingComponent: client.name,
    firstTimestamp: at,
    lastTimestamp: at,
    count,
  };
}
