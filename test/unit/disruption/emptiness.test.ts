import { describe, expect, it } from 'vitest';
import { blockersOf } from '../../../shared/core/disruption/candidates.ts';
import { isIdle, notNeeded } from '../../../shared/core/disruption/emptiness.ts';
import { sentences } from '../../../shared/core/explain/reason.ts';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { DEFAULT_SCHEDULING_SETTINGS } from '../../../shared/core/model/snapshot.ts';
import { claimOf, nodeOf, podOf, snapshotOf, yes } from '../../builders/scheduling.ts';

const MINUTE = 60_000;
const NOW = 100 * MINUTE;

const on = (rest: Partial<Pod> = {}): Pod => podOf('a', {}, { nodeName: 'old', ...rest });
const ownedBy = (kind: string) => ({ controller: { kind, name: 'x', uid: 'x' } });
const anything = [
  { key: '', operator: 'Exists', value: '', effect: undefined },
] as Pod['spec']['tolerations'];
const going = (ms: number) => ({ deletedAtMs: NOW - ms });

describe('a node is idle', () => {
  it.each<[string, boolean, readonly Pod[]]>([
    ['without pods', true, []],
    ['not with one that nobody owns', false, [on()]],
    ['not with one of a workload', false, [on(ownedBy('ReplicaSet'))]],
    ['not with one that has not started', false, [on({ phase: 'Pending' })]],
    ['with one of a DaemonSet', true, [on(ownedBy('DaemonSet'))]],
    ['with a static one', true, [on({ ...ownedBy('Node'), isMirror: true })]],
    ['with a mirror pod that names no owner', true, [on({ isMirror: true })]],
    ['with a static one that is ending', true, [on({ ...ownedBy('Node'), ...going(0) })]],
    ['with one that is done', true, [on({ phase: 'Succeeded' })]],
    ['with one that has failed', true, [on({ phase: 'Failed' })]],
    ['with one that is done and ending', true, [on({ phase: 'Succeeded', ...going(0) })]],
    ['with one that has failed and is ending', true, [on({ phase: 'Failed', ...going(0) })]],
    ['not with one that is still ending', false, [on({ ...ownedBy('StatefulSet'), ...going(0) })]],
    [
      'not with one that is ending and tolerates everything',
      false,
      [podOf('a', { tolerations: anything }, { nodeName: 'old', ...going(0) })],
    ],
    ['with one that does not end', true, [on({ ...ownedBy('ReplicaSet'), ...going(2 * MINUTE) })]],
    [
      'with one of a DaemonSet that is ending',
      true,
      [on({ ...ownedBy('DaemonSet'), ...going(0) })],
    ],
    ['not with one among others', false, [on(ownedBy('DaemonSet')), on({ name: 'b' })]],
  ])('%s', (_, expected, pods) => {
    expect(isIdle({ pods }, NOW)).toBe(expected);
  });
});

describe('what holds a node that is to be removed', () => {
  it('is a protected pod, also where the drain would end in time', () => {
    const claim = claimOf('old', { terminationGracePeriodMs: MINUTE });
    const pod = on({
      ...ownedBy('DaemonSet'),
      annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
    });
    expect(
      sentences(
        blockersOf({ claim, node: nodeOf('old', 4, 16), pods: [pod] }, [], NOW, 'graceful'),
      ),
    ).toContain('a');
    expect(
      blockersOf({ claim, node: nodeOf('old', 4, 16), pods: [on()] }, [], NOW, 'graceful'),
    ).toEqual([]);
  });
});

describe('an idle node is needed', () => {
  const initialized = yes('Launched', 'Registered', 'Initialized');
  const nodes = ['a', 'b'].map((name) => nodeOf(name, 4, 16));
  const nodeClaims = nodes.map(({ name, providerId }) =>
    claimOf(name, { providerId, conditions: initialized }),
  );
  const candidates = nodes.map((node, index) => {
    const claim = nodeClaims[index];
    if (claim === undefined) throw new Error('a claim for each node');
    return { claim, node, pods: [] };
  });

  function names(pods: readonly Pod[]): readonly string[] {
    const snapshot = snapshotOf({ nodes, nodeClaims, pods });
    return notNeeded(snapshot, candidates, DEFAULT_SCHEDULING_SETTINGS).map(
      ({ node }) => node.name,
    );
  }

  it('by nothing where nothing waits', () => {
    expect(names([])).toEqual(['a', 'b']);
  });

  it('only where there is one', () => {
    expect(notNeeded(snapshotOf({ nodes, nodeClaims }), [], DEFAULT_SCHEDULING_SETTINGS)).toEqual(
      [],
    );
  });

  it('by pods that fit there: one of them', () => {
    expect(names([podOf('p'), podOf('q')])).toHaveLength(1);
  });

  it('by as many as it takes', () => {
    const large = { cpu: 3000 };
    expect(names([podOf('p', large), podOf('q', large)])).toEqual([]);
  });

  it('not by pods that fit on none', () => {
    expect(names([podOf('p', { cpu: 5000 })])).toEqual(['a', 'b']);
  });

  it('by pods that kube-scheduler has not looked at yet, but for those it may not', () => {
    const fresh = podOf('p', {}, { unschedulable: false });
    expect(names([fresh])).toHaveLength(1);
    expect(names([{ ...fresh, spec: { ...fresh.spec, hasSchedulingGates: true } }])).toEqual([
      'a',
      'b',
    ]);
  });
});
