import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { decodeCase } from '../../shared/api/case/decode.ts';
import { candidatesOf } from '../../shared/core/comparison/cluster-at-rest.ts';
import { joinersWay } from '../../shared/core/comparison/joiners-way.ts';
import { karpentersWay } from '../../shared/core/comparison/karpenters-way.ts';
import { DEFAULT_CONSOLIDATION_SETTINGS } from '../../shared/core/disruption/consolidation/payback.ts';
import type { ClusterSnapshot } from '../../shared/core/model/snapshot.ts';
import { textOf } from '../support/repository.ts';
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
  return candidatesOf(snapshot).reduce((sum, { pricePerHour }) => sum + pricePerHour, 0);
}

function clusterAt(seed: number) {
  const decoded = decodeCase(clusterOf(seed));
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  const { snapshot, settings: scheduling } = decoded.value;
  return { snapshot, scheduling, nowMs: NOW_MS, plansMax: 400 };
}

describe('Karpenter’s way of consolidating beside Karpenter’s own', () => {
  it('is asked about 60 clusters', () => expect(rests).toHaveLength(CLUSTERS));

  it.each(rests)('cluster $seed, $before $/h', ({ seed, digest, ...rest }) => {
    expect(digestOf(clusterOf(seed)), 'the cluster has changed: collect anew').toBe(digest);
    const cluster = clusterAt(seed);
    expect(priceOf(cluster.snapshot)).toBeCloseTo(rest.before, 4);
    const way = karpentersWay(cluster);
    expect(way.isExhausted).toBe(true);
    expect(priceOf(way.snapshot)).toBeCloseTo(rest.price, 4);
    const { evictions, snapshot: after } = way;
    expect({ nodes: after.nodes.length, evictions }).toEqual({
      nodes: rest.nodes,
      evictions: rest.evictions,
    });
  });
});

describe('Joiner beside Karpenter’s own consolidation', () => {
  const ways = rests.map(({ seed }) => joinersWay(clusterAt(seed), DEFAULT_CONSOLIDATION_SETTINGS));

  it('comes to rest at least 5 % cheaper in all', () => {
    const sum = (prices: readonly number[]) => prices.reduce((all, price) => all + price, 0);
    const ours = sum(ways.map(({ snapshot }) => priceOf(snapshot)));
    expect(ours).toBeLessThan(0.95 * sum(rests.map(({ price }) => price)));
  });

  it('is what the pages say', () => {
    const price = ways.reduce((sum, { snapshot }) => sum + priceOf(snapshot), 0).toFixed(2);
    const evictions = ways.reduce((sum, way) => sum + way.evictions, 0).toLocaleString('en-US');
    const figures = `$${price} with ${evictions}`;
    for (const page of ['docs/compare.md', 'docs/concepts/consolidation.md']) {
      expect(textOf(page).replaceAll(/\s+/g, ' '), page).toContain(figures);
    }
  });

  it('evicts no more pods in all', () => {
    const ours = ways.reduce((all, { evictions }) => all + evictions, 0);
    expect(ours).toBeLessThanOrEqual(rests.reduce((all, { evictions }) => all + evictions, 0));
  });
});
