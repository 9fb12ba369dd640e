import { describe, expect, it } from 'vitest';
import { CAPACITY_TYPE } from '../../../shared/core/model/labels.ts';
import type { PodSpec } from '../../../shared/core/model/pod.ts';
import { GI, planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

function likes(key: string, value: string): Pick<PodSpec, 'preferredNodeAffinity'> {
  const expression = { key, operator: 'In', values: [value] } as const;
  const term = { matchExpressions: [expression], matchFields: [] };
  return { preferredNodeAffinity: [{ weight: 10, term }] };
}

const types = [typeOf('four', 4, 16, 1, { spot: true }), typeOf('two', 2, 8, 0.5, { spot: true })];

/** Two and a half times the price of spot, for many nodes. */
const many = podsOf(20, 'many', { cpu: 3500, ...likes(CAPACITY_TYPE, 'on-demand') });
const few = podsOf(2, 'few', { cpu: 1800, memory: GI, ...likes(CAPACITY_TYPE, 'on-demand') });

describe('a kind of preferences that is too dear for all', () => {
  it('is met for those for whom it is not', () => {
    const { newNodeClaims, pricePerHour, preferences } = planOf({ types, pods: [...many, ...few] });
    const onDemand = newNodeClaims.filter(({ chosen }) => chosen.capacityType === 'on-demand');
    expect(onDemand.flatMap(({ pods }) => pods).sort()).toEqual(
      few.map(({ name }) => `default/${name}`),
    );
    expect(preferences.satisfiedWeight).toBe(20);
    // All on spot cost 8.4: a tenth more is what preferences about it are worth.
    expect(pricePerHour).toBeCloseTo(20 * 0.4 + 2 * 0.5, 6);
  });

  it('is met for nobody where it is too dear for each', () => {
    const { newNodeClaims } = planOf({ types, pods: many });
    expect(new Set(newNodeClaims.map(({ chosen }) => chosen.capacityType))).toEqual(
      new Set(['spot']),
    );
  });
});
