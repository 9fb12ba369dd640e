import { describe, expect, it } from 'vitest';
import { ZONE } from '../../../shared/core/model/labels.ts';
import { ofApp, termOver } from '../../builders/affinity.ts';
import { planOf, podsOf, typeOf } from '../../builders/scheduling.ts';

const labels = { app: 'many' };
/** So many that their plan is not improved in other ways. */
const many = podsOf(300, 'many', { cpu: 3000 }, { labels });
/** Of these, some have to be in one zone and some in another. */
const pinned = ['zone-b', 'zone-c'].flatMap((zone) =>
  podsOf(5, `pinned-${zone}`, { nodeSelector: { [ZONE]: zone } }, { labels }),
);

/** Small ones that may not be in a zone with those. */
const shy = podsOf(4, 'shy', { cpu: 500, podAntiAffinity: [termOver(ZONE, ofApp('many'))] });

describe('pods that find every zone taken', () => {
  it('are placed before the others', () => {
    const plan = planOf({
      types: [typeOf('large', 64, 256, 1)],
      pods: [...many, ...pinned, ...shy],
    });
    expect([...plan.unplaced.keys()]).toEqual([]);
    const zonesOf = (name: string) => {
      const claims = plan.newNodeClaims.filter(({ pods }) =>
        pods.some((pod) => pod.includes(name)),
      );
      return [...new Set(claims.map(({ chosen }) => chosen.zone))].sort();
    };
    expect(zonesOf('shy')).toEqual(['zone-a']);
    expect([...zonesOf('many'), ...zonesOf('pinned')]).not.toContain('zone-a');
  });

  it('stay where they are where nothing would place more', () => {
    const types = [typeOf('large', 64, 256, 1, { zones: ['zone-a'] })];
    const plan = planOf({ types, pods: [...many, ...shy] });
    expect([...plan.unplaced.keys()].sort()).toEqual(shy.map(({ name }) => `default/${name}`));
  });

  it('do not come before pods that matter more', () => {
    const types = [typeOf('large', 64, 256, 1, { zones: ['zone-a'] })];
    const first = shy.map((pod) => ({ ...pod, spec: { ...pod.spec, priority: 10 } }));
    const plan = planOf({ types, pods: [...many, ...first] });
    expect([...plan.unplaced.keys()].sort()).toEqual(
      many.map(({ name }) => `default/${name}`).sort(),
    );
  });
});
