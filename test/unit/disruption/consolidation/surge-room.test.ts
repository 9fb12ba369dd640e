import { describe, expect, it } from 'vitest';
import type { Pod } from '../../../../shared/core/model/pod.ts';
import { clusterOf } from '../../../builders/consolidation.ts';
import { cpuPod, ON_DEMAND, tried, used } from '../../../builders/moves.ts';

const apart = {
  topologyKey: 'kubernetes.io/hostname',
  labelSelector: { matchLabels: { app: 'front' }, matchExpressions: [] },
  namespaces: ['default'],
  namespaceSelector: undefined,
  matchLabelKeys: [],
  mismatchLabelKeys: [],
};

/** A pod of the Deployment `web`, which are on nodes of their own. */
function web(name: string, annotations = {}): Pod {
  const pod = cpuPod(name, 500, { podAntiAffinity: [apart] });
  const controller = { kind: 'ReplicaSet', name: 'web-1', uid: 'set' } as const;
  return { ...pod, controller, annotations, labels: { app: 'front' } };
}

/** Where node `a` would go: so many pods of `web`, and nodes that have none of them. */
function outcome(replicas: number, spare: number, annotations = {}): string {
  const pods = Array.from({ length: replicas }, (_, at) => web(`web-${at}`, annotations));
  const others = [...pods.slice(1), ...Array.from({ length: spare }, () => undefined)];
  const nodes = others.map((pod, at) => {
    const name = `b${at}`;
    return used(name, 'm.xlarge', cpuPod(`own-${name}`, 1000), ...(pod === undefined ? [] : [pod]));
  });
  const cluster = clusterOf([used('a', 'm.xlarge', ...pods.slice(0, 1)), ...nodes], {
    types: ON_DEMAND,
  });
  const { found } = tried({ cluster });
  return found.kind === 'move'
    ? `goes, and ${found.replacements.length} come`
    : found.reasons.map(({ code }) => code).join(' ');
}

const ROLLOUT = { 'joiner.dev/drain': 'rollout' };

describe('a node whose pods fit elsewhere, one to a node', () => {
  it.each<[string, number, number, object, string]>([
    ['goes where they are evicted', 3, 1, {}, 'goes, and 0 come'],
    ['stays where a restart needs one node more', 3, 1, ROLLOUT, 'pod-would-wait'],
    ['goes where there is room for that pod, too', 3, 2, ROLLOUT, 'goes, and 0 come'],
    ['needs room for a quarter of the pods', 8, 2, ROLLOUT, 'pod-would-wait'],
    ['needs no more than that', 8, 3, ROLLOUT, 'goes, and 0 come'],
    ['needs none for a single pod', 1, 1, ROLLOUT, 'goes, and 0 come'],
  ])('%s', (_, replicas, spare, annotations, expected) => {
    expect(outcome(replicas, spare, annotations)).toBe(expected);
  });
});

it('names the same pod in whatever order its node has them', () => {
  const pods = Array.from({ length: 8 }, (_, at): Pod => {
    const controller = { kind: 'ReplicaSet', name: 'web-1', uid: 'set' } as const;
    return { ...cpuPod(`web-${at}`, 1000), controller, annotations: ROLLOUT };
  });
  const reasonsFor = (own: readonly Pod[]) => {
    const others = [pods.slice(2, 5), pods.slice(5)].map((each, at) =>
      used(`b${at}`, 'm.xlarge', ...each),
    );
    const nodes = [used('a', 'm.xlarge', ...own), ...others];
    const { found } = tried({ cluster: clusterOf(nodes, { types: ON_DEMAND }) });
    return found.kind === 'move' ? [] : found.reasons;
  };
  const reasons = reasonsFor(pods.slice(0, 2));
  expect(reasons.map(({ code }) => code)).toEqual(['pod-would-wait']);
  expect(reasonsFor(pods.slice(0, 2).toReversed())).toEqual(reasons);
});
