import { expect, it } from 'vitest';
import { isAboveLimits } from '../../../shared/core/disruption/above-limits.ts';
import type { Resources } from '../../../shared/core/model/resources.ts';
import { DISRUPTED } from '../../../shared/core/model/taint.ts';
import { claimOf, nodeOf, poolOf, snapshotOf } from '../../builders/scheduling.ts';

const nodes = [
  nodeOf('a', 4, 16, { providerId: 'a' }),
  nodeOf('b', 4, 16, { providerId: 'b', taints: [DISRUPTED] }),
  nodeOf('c', 4, 16, { providerId: 'c' }),
];
const claim = (name: string) => claimOf(name, { providerId: name });

it.each<[string, Resources, boolean]>([
  ['without limits', {}, false],
  ['with as much as stays', { cpu: 8000 }, false],
  ['with less than that', { cpu: 7999 }, true],
  ['with as many nodes as stay', { nodes: 2 }, false],
  ['with fewer nodes', { cpu: 8000, nodes: 1 }, true],
])('a NodePool %s', (_, limits, expected) => {
  const pool = poolOf('general', { limits });
  const nodeClaims = [claim('a'), claim('b'), { ...claim('c'), deletedAtMs: 1 }];
  const others = [nodeOf('d', 64, 64, { labels: { 'karpenter.sh/nodepool': 'other' } })];
  const snapshot = snapshotOf({ nodePools: [pool], nodes: [...nodes, ...others], nodeClaims });
  expect(isAboveLimits(pool, snapshot)).toBe(expected);
});

it('a node that is replaced does not count once its replacement is there', () => {
  const pool = poolOf('general', { limits: { cpu: 8000 } });
  const annotations = { 'joiner.dev/replaced-by': 'c' };
  const replaced = (own: Readonly<Record<string, string>>) =>
    snapshotOf({
      nodes,
      nodeClaims: [claim('a'), { ...claim('b'), annotations: own }, claim('c')],
    });
  expect(isAboveLimits(pool, replaced(annotations))).toBe(false);
  expect(isAboveLimits(pool, replaced({}))).toBe(true);
});
