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

interface Given {
  /** Of the node that would go. @default 'm.large', as cheap as one gets */
  readonly type?: string;
  /** Pods of `web`, each on a node of its own. */
  readonly replicas: number;
  /** Nodes that have none of them. */
  readonly spare: number;
  readonly annotations?: object;
  /** The other nodes have no pods of their own beside it. */
  readonly isAlone?: boolean;
}

const ROLLOUT = { 'joiner.dev/drain': 'rollout' };

/** Whether node `a` would go. */
function outcome({ type = 'm.large', replicas, spare, isAlone, ...given }: Given): string {
  const { annotations = ROLLOUT } = given;
  const pods = Array.from({ length: replicas }, (_, at) => web(`web-${at}`, annotations));
  const others = [...pods.slice(1), ...Array.from({ length: spare }, () => undefined)];
  const nodes = others.map((pod, at) => {
    const name = `b${at}`;
    const own = isAlone ? [] : [cpuPod(`own-${name}`, 1000)];
    return used(name, 'm.xlarge', ...own, ...(pod === undefined ? [] : [pod]));
  });
  const cluster = clusterOf([used('a', type, ...pods.slice(0, 1)), ...nodes], {
    types: ON_DEMAND,
  });
  const { found } = tried({ cluster });
  return found.kind === 'move'
    ? `goes, and ${found.replacements.length} come`
    : found.reasons.map(({ code }) => code).join(' ');
}

describe('a node whose pods fit elsewhere, one to a node', () => {
  it.each<[string, Given, string]>([
    ['goes where they are evicted', { replicas: 3, spare: 1, annotations: {} }, 'goes, and 0 come'],
    ['stays where a restart needs a node as dear', { replicas: 3, spare: 1 }, 'pod-would-wait'],
    [
      'goes where a restart needs a cheaper one',
      { type: 'm.xlarge', replicas: 3, spare: 1 },
      'goes, and 0 come',
    ],
    ['goes where there is room for that pod, too', { replicas: 3, spare: 2 }, 'goes, and 0 come'],
    ['needs room for a quarter of the pods', { replicas: 8, spare: 2 }, 'pod-would-wait'],
    ['needs no more than that', { replicas: 8, spare: 3 }, 'goes, and 0 come'],
    [
      'goes where the pods are alone, so that a restart leaves a node empty',
      { replicas: 8, spare: 1, isAlone: true },
      'goes, and 0 come',
    ],
    ['needs none for a single pod', { replicas: 1, spare: 1 }, 'goes, and 0 come'],
  ])('%s', (_, given, expected) => {
    expect(outcome(given)).toBe(expected);
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
    const nodes = [used('a', 'm.large', ...own), ...others];
    const { found } = tried({ cluster: clusterOf(nodes, { types: ON_DEMAND }) });
    return found.kind === 'move' ? [] : found.reasons;
  };
  const reasons = reasonsFor(pods.slice(0, 2));
  expect(reasons.map(({ code }) => code)).toEqual(['pod-would-wait']);
  expect(reasonsFor(pods.slice(0, 2).toReversed())).toEqual(reasons);
});
