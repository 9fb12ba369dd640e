import { describe, expect, it } from 'vitest';
import {
  fingerprint,
  hasSameTypes,
} from '../../../../shared/core/disruption/consolidation/fingerprint.ts';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import type { ClusterSnapshot } from '../../../../shared/core/model/snapshot.ts';
import { clusterOf, type Used } from '../../../builders/consolidation.ts';
import {
  claimOf,
  FAMILY,
  podOf,
  podsOf,
  poolOf,
  snapshotOf,
  yes,
} from '../../../builders/scheduling.ts';

/** One small pod, on a node as it is by default. */
const small = (name: string, type: string, rest: Partial<Used> = {}): Used => ({
  name,
  type,
  pods: [podOf(`pod-${name}`, { cpu: 900 })],
  ...rest,
});

describe('the text by which a cluster is known again', () => {
  const base = snapshotOf({
    pods: podsOf(2, 'p'),
    nodeClaims: [claimOf('a')],
    nodes: clusterOf([small('n', 'm.large')]).snapshot.nodes,
  });
  const pod = (change: Partial<Pod>): ClusterSnapshot => ({
    ...base,
    pods: base.pods.map((each, at) => (at === 0 ? { ...each, ...change } : each)),
  });
  const isKnown = (other: ClusterSnapshot): boolean =>
    fingerprint(other) === fingerprint(base) &&
    hasSameTypes(other.instanceTypes, base.instanceTypes);
  const no = {
    type: 'Ready',
    status: 'False',
    reason: 'No',
    message: '',
    lastTransitionAtMs: 0,
  } as const;
  const unready = { conditions: [no] };
  const [first] = FAMILY;
  const dearer = FAMILY.map((each) => ({
    ...each,
    offerings: each.offerings.map((one) => ({ ...one, price: one.price + 0.01 })),
  }));

  it.each<[string, ClusterSnapshot]>([
    ['a pod has gone', { ...base, pods: base.pods.slice(1) }],
    ['a pod is bound', pod({ nodeName: 'n' })],
    ['a pod begins to end', pod({ deletedAtMs: 1 })],
    ['a pod asks for more', pod({ spec: podOf('x', { cpu: 7 }).spec })],
    ['a pod has other labels', pod({ labels: { app: 'other' } })],
    ['prices change', { ...base, instanceTypes: new Map([['general', dearer]]) }],
    ['a type has gone', { ...base, instanceTypes: new Map([['general', first ? [first] : []]]) }],
    ['a NodePool is no longer ready', { ...base, nodePools: [poolOf('general', unready)] }],
    ['a limit is set', { ...base, nodePools: [poolOf('general', { limits: { cpu: 1 } })] }],
    ['a node is tainted', tainted()],
    [
      'a claim is initialised',
      { ...base, nodeClaims: [claimOf('a', { conditions: yes('Initialized') })] },
    ],
  ])('is another where %s', (_, changed) => {
    expect(isKnown(changed)).toBe(false);
  });

  function tainted(): ClusterSnapshot {
    const taints = [{ key: 'x', value: '', effect: 'NoSchedule' as const }];
    return { ...base, nodes: base.nodes.map((each) => ({ ...each, taints })) };
  }

  it('is the same in any order, and whenever things were seen', () => {
    const later = yes('Ready').map((each) => ({ ...each, lastTransitionAtMs: 9 }));
    const same = {
      ...base,
      pods: base.pods.toReversed(),
      nodes: base.nodes.map((each) => ({ ...each, conditions: later })),
      instanceTypes: new Map([...base.instanceTypes].map(([pool, types]) => [pool, [...types]])),
    };
    expect(isKnown(same)).toBe(true);
  });
});
