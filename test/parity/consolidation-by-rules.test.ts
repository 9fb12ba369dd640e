import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeCase } from '../../shared/api/case/decode.ts';
import { usagesOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { karpentersWay } from '../../shared/core/comparison/karpenters-way.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { digestOf } from './first-fit/cases.ts';
import { CLUSTERS, clusterOf } from './first-fit/clusters.ts';

/** Where Karpenter's own consolidation has brought a cluster, command by command. */
interface Rest {
  readonly seed: number;
  readonly digest: string;
  /** USD an hour as it was, and at rest. */
  readonly before: number;
  readonly price: number;
  readonly nodes: number;
  readonly evictions: number;
  readonly rounds: number;
}

const file = join(import.meta.dirname, 'first-fit', 'clusters.json');
const rests: readonly Rest[] = JSON.parse(readFileSync(file, 'utf8'));
const NOW_MS = Date.UTC(2026, 0, 1);

function priceOf(snapshot: ClusterSnapshot): number {
  return usagesOf(snapshot).reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

describe('Karpenter’s way of consolidating beside Karpenter’s own', () => {
  it('is asked about 60 clusters', () => expect(rests).toHaveLength(CLUSTERS));

  it.each(rests)('cluster $seed, $before $/h', ({ seed, digest, ...rest }) => {
    const problem = clusterOf(seed);
    expect(digestOf(problem), 'the cluster has changed: collect anew').toBe(digest);
    const decoded = decodeCase(problem);
    if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
    const { snapshot, settings: scheduling } = decoded.value;
    expect(priceOf(snapshot)).toBeCloseTo(rest.before, 4);
    const way = karpentersWay({ snapshot, scheduling, nowMs: NOW_MS, plansMax: 400 });
    expect(way.isExhausted).toBe(true);
    expect(priceOf(way.snapshot)).toBeCloseTo(rest.price, 4);
    const { evictions, snapshot: after } = way;
    expect({ nodes: after.nodes.length, evictions }).toEqual({
      nodes: rest.nodes,
      evictions: rest.evictions,
    });
  });
});
