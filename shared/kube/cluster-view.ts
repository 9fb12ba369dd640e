import { RESOURCES } from '../api/resources.ts';
import type { Condition } from '../core/model/cluster.ts';
import type { ClusterView, PodTimes } from '../ports/metrics.ts';
import { NODES, PODS, type ReaderOptions, withRaw } from './cluster-reader.ts';
import { decodeConditions, decodeUsage } from './decoders.ts';
import { type CachedObject, Informer } from './informer.ts';

type Entries<Value> = ReadonlyMap<string, CachedObject<Value>>;

/**
 * Reads what gauges are made of. Nodes and pods are kept and caught up, so keep the reader as long
 * as the sandbox lives.
 */
export function clusterViewReader({
  client,
  decoders,
  onInvalid,
}: ReaderOptions): () => Promise<ClusterView> {
  const kept = { client, onInvalid, warm: true, faulty: 'kept' } as const;
  const listed = { client, onInvalid } as const;
  const nodes = new Informer({ ...kept, selection: NODES, decode: decoders.Node });
  const pods = new Informer({
    ...kept,
    selection: PODS,
    decode: withRaw(decoders.Pod, (object) => timesOf(decodeConditions(object))),
  });
  const nodeClaims = new Informer({
    ...listed,
    selection: { resource: RESOURCES.nodeClaims },
    decode: decoders.NodeClaim,
  });
  const nodePools = new Informer({
    ...listed,
    selection: { resource: RESOURCES.nodePools },
    decode: withRaw(decoders.NodePool, decodeUsage),
  });
  return async () => {
    const [pools, claims, read] = await Promise.all([
      nodePools.read(),
      nodeClaims.read(),
      nodes.read(),
    ]);
    const withTimes = valuesOf(await pods.read());
    return {
      nodes: valuesOf(read),
      nodeClaims: valuesOf(claims),
      nodePools: valuesOf(pools).map(({ value }) => value),
      usage: new Map(valuesOf(pools).map(({ value, more }) => [value.name, more])),
      pods: withTimes.map(({ value }) => value),
      podTimes: new Map(withTimes.map(({ value, more }) => [value.uid, more])),
    };
  };
}

/** When a pod was bound and became ready, by its conditions. */
export function timesOf(conditions: readonly Condition[]): PodTimes {
  const since = (type: string): number | undefined => {
    const found = conditions.find((each) => each.type === type && each.status === 'True');
    return found === undefined || found.lastTransitionAtMs === 0
      ? undefined
      : found.lastTransitionAtMs;
  };
  return { boundAtMs: since('PodScheduled'), readyAtMs: since('Ready') };
}

function valuesOf<Value>(entries: Entries<Value>): readonly Value[] {
  return Array.from(entries.values(), ({ value }) => value);
}
