import { expect, it } from 'vitest';
import { decodePersistentVolume } from '../../../shared/api/kubernetes/cluster.ts';
import { ZONE } from '../../../shared/core/model/labels.ts';

const inZone = (...values: string[]) => ({ key: ZONE, operator: 'In', values });

function affinityOf(
  labels: Readonly<Record<string, string>>,
  ...terms: readonly (readonly object[])[]
) {
  const nodeSelectorTerms = terms.map((matchExpressions) => ({ matchExpressions }));
  const spec = terms.length === 0 ? {} : { nodeAffinity: { required: { nodeSelectorTerms } } };
  const decoded = decodePersistentVolume({ metadata: { name: 'pv', labels }, spec });
  if (!decoded.ok) throw new Error(JSON.stringify(decoded.issues));
  return decoded.value.requiredNodeAffinity;
}

it('a volume without node affinity or zone label may be anywhere', () => {
  expect(affinityOf({})).toBeUndefined();
});

it.each([ZONE, 'failure-domain.beta.kubernetes.io/zone'])(
  'a volume is where its label %s says',
  (key) => {
    expect(affinityOf({ [key]: 'zone-a' })).toEqual([
      { matchExpressions: [inZone('zone-a')], matchFields: [] },
    ]);
  },
);

it('a label may name several zones', () => {
  expect(affinityOf({ [ZONE]: 'zone-a__zone-b' })?.[0]?.matchExpressions).toEqual([
    inZone('zone-a', 'zone-b'),
  ]);
});

it('a label narrows every term of the node affinity', () => {
  const arm = { key: 'kubernetes.io/arch', operator: 'In', values: ['arm64'] };
  const terms = affinityOf({ [ZONE]: 'zone-a' }, [arm], [inZone('zone-b')]);
  expect(terms?.map((each) => each.matchExpressions)).toEqual([
    [arm, inZone('zone-a')],
    [inZone('zone-b'), inZone('zone-a')],
  ]);
});
