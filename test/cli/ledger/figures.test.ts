import { expect, it } from 'vitest';
import { searchedFigures } from '../../../cli/ledger/figures.ts';
import type { PoolUse } from '../../../shared/core/disruption/consolidation/payback.ts';
import { CONSOLIDATION_GUARD } from '../../../shared/core/model/labels.ts';
import { clusterOf, consolidationOf } from '../../builders/consolidation.ts';
import { podsOf, poolOf } from '../../builders/scheduling.ts';

const HOUR_MS = 3_600_000;

it.each<[string, string | undefined, Partial<PoolUse>, number]>([
  ['the setting', undefined, {}, 4],
  ['its NodePool', 'horizon=12h', {}, 12],
  ['how long savings last', undefined, { savingsLastMs: 3 * HOUR_MS }, 3],
])('a move is counted for a horizon: that of %s', (_, guard, use, hours) => {
  const annotations = guard === undefined ? {} : { [CONSOLIDATION_GUARD]: guard };
  const pools = [{ ...poolOf('general'), annotations }];
  const nodes = ['a', 'b'].map((name) => {
    return { name, type: 'm.large', pods: podsOf(1, `pod-${name}`, { cpu: 100 }) };
  });
  const search = consolidationOf(clusterOf(nodes, { pools }));
  const known = new Map(
    [...search.pools].map(([name, each]) => [name, { ...each, ...use }] as const),
  );
  const [move] = searchedFigures({ ...search, pools: known });
  expect(move?.horizonHours).toBe(hours);
});
