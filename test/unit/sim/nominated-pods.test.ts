import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../shared/core/model/pod.ts';
import { schedule } from '../../../shared/sim/scheduler/schedule.ts';
import { schedulerView } from '../../../shared/sim/scheduler/view.ts';
import { nodeOf, podOf, snapshotOf } from '../../builders/scheduling.ts';

/** `large` is what kube-scheduler would rather take: more of it is free. */
const NODES = [nodeOf('large', 8, 32), nodeOf('small', 2, 8)];

/** Where each pod is bound; undefined: nowhere. */
function bound(pods: readonly Pod[]): Readonly<Record<string, string | undefined>> {
  const bindings = schedule(schedulerView(snapshotOf({ pods, nodes: NODES })));
  return Object.fromEntries(bindings.map(({ pod, node }) => [pod.name, node]));
}

describe('the simulated scheduler', () => {
  const spec = { cpu: 1500 };

  it('tries the node first that a pod is nominated to', () => {
    expect(bound([podOf('a', spec)])).toEqual({ a: 'large' });
    expect(bound([podOf('a', spec, { nominatedNodeName: 'small' })])).toEqual({ a: 'small' });
  });

  it('takes another where the pod does not fit there, or the node is gone', () => {
    expect(bound([podOf('a', { cpu: 3000 }, { nominatedNodeName: 'small' })])).toEqual({
      a: 'large',
    });
    expect(bound([podOf('a', spec, { nominatedNodeName: 'gone' })])).toEqual({ a: 'large' });
  });

  it('keeps the room of a nominated pod from pods that matter no more', () => {
    const onSmall = { nodeSelector: { size: 'small' } };
    const nodes = [nodeOf('small', 2, 8, { labels: { size: 'small' } })];
    const later = podOf('later', spec, { createdAtMs: 1, nominatedNodeName: 'small' });
    const messages = (priority: number) => {
      const pods = [podOf('first', { ...spec, ...onSmall, priority }), later];
      return schedule(schedulerView(snapshotOf({ pods, nodes }))).map(({ pod, node, message }) =>
        [pod.name, node ?? message].join(': '),
      );
    };
    const kept = '0/1 nodes are available: 1 kept their room for nominated pods.';
    const full = '0/1 nodes are available: 1 had too few resources.';
    expect(messages(0)).toEqual([`first: ${kept}`, 'later: small']);
    expect(messages(1)).toEqual(['first: small', `later: ${full}`]);
  });

  it('keeps the rules between pods with those that are nominated, too', () => {
    const labelSelector = { matchLabels: { app: 'web' }, matchExpressions: [] };
    const apart = {
      topologyKey: 'kubernetes.io/hostname',
      labelSelector,
      namespaces: [],
      namespaceSelector: undefined,
      matchLabelKeys: [],
      mismatchLabelKeys: [],
    };
    const alone = { cpu: 100, podAntiAffinity: [apart] };
    const pods = [
      podOf('first', alone),
      podOf('later', alone, { createdAtMs: 1, nominatedNodeName: 'large' }),
    ];
    expect(bound(pods)).toEqual({ first: 'small', later: 'large' });
  });

  it('forgets a nomination that was tried in vain', () => {
    const huge = podOf('huge', { cpu: 9000 }, { nominatedNodeName: 'small' });
    const pods = [huge, podOf('later', spec, { createdAtMs: 1 })];
    const nodes = NODES.slice(1);
    const bindings = schedule(schedulerView(snapshotOf({ pods, nodes })));
    expect(bindings.map(({ node }) => node)).toEqual([undefined, 'small']);
  });

  it('makes no room where a pod could not be beside one that is nominated there', () => {
    const hostPorts = [{ ip: '0.0.0.0', port: 80, protocol: 'TCP' }];
    const low = ['a', 'b'].map((name) => podOf(name, { cpu: 1000 }, { nodeName: 'small' }));
    const high = ['c', 'd'].map((name) => podOf(name, { cpu: 500, priority: 1, hostPorts }));
    const pods = [...low, ...high];
    const bindings = schedule(schedulerView(snapshotOf({ pods, nodes: NODES.slice(1) })));
    expect(bindings.map(({ pod, preemption }) => [pod.name, preemption?.node])).toEqual([
      ['c', 'small'],
      ['d', undefined],
    ]);
  });
});
