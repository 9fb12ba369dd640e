import { describe, expect, it } from 'vitest';
import {
  autoscalerOf,
  checkNodeGroups,
  nodeGroupSteps,
  nodeGroupsOf,
} from '../../../cli/handover/node-groups.ts';
import { nodeOf } from '../../builders/scheduling.ts';
import { clusterState } from './state.ts';

const AUTOSCALER = { namespace: 'kube-system', name: 'cluster-autoscaler', replicas: 1 };

function deploymentWith(image: string, replicas?: number): unknown {
  const spec = { replicas, template: { spec: { containers: [{ name: 'main', image }] } } };
  return { metadata: { namespace: 'kube-system', name: 'cluster-autoscaler' }, spec };
}

describe('a Deployment of Cluster Autoscaler', () => {
  it.each([
    ['registry.k8s.io/autoscaling/cluster-autoscaler:v1.35.0'],
    ['k8s.gcr.io/cluster-autoscaler-arm64@sha256:00'],
    ['mirror.example/cluster-autoscaler'],
  ])('is found by its image %s', (image) => {
    expect(autoscalerOf(deploymentWith(image))).toEqual(AUTOSCALER);
    expect(autoscalerOf(deploymentWith(image, 0))?.replicas).toBe(0);
  });

  it.each([
    ['registry.k8s.io/cpa/cluster-proportional-autoscaler:1.9'],
    ['example/my-cluster-autoscaler-exporter:1'],
  ])('is not %s', (image) => {
    expect(autoscalerOf(deploymentWith(image))).toBeUndefined();
  });
});

const state = clusterState({
  nodes: [
    nodeOf('a', 4, 8, { labels: { 'eks.amazonaws.com/nodegroup': 'web' } }),
    nodeOf('b', 4, 8, { labels: { 'alpha.eksctl.io/nodegroup-name': 'batch' } }),
    nodeOf('c', 4, 8, {
      labels: {
        'eks.amazonaws.com/nodegroup': 'web',
        'alpha.eksctl.io/nodegroup-name': 'web',
      },
    }),
    nodeOf('d', 4, 8),
  ],
});

it('groups are told from the labels of nodes', () => {
  expect(nodeGroupsOf(state)).toEqual([
    { label: 'alpha.eksctl.io/nodegroup-name', group: 'batch', nodes: 1 },
    { label: 'eks.amazonaws.com/nodegroup', group: 'web', nodes: 2 },
  ]);
});

const said = ({ status, check, message }: ReturnType<typeof checkNodeGroups>[number]): string =>
  `${status} ${check}: ${message}`;

it('an autoscaler that runs is a warning, and what it scales is named', () => {
  expect(checkNodeGroups([AUTOSCALER], nodeGroupsOf(state)).map(said)).toEqual([
    'WARN cluster autoscaler: Deployment kube-system/cluster-autoscaler with 1 replicas launches nodes for the same pending pods as Joiner',
    'OK node groups: batch (1 node), web (2 nodes): Joiner never changes their nodes',
  ]);
  expect(checkNodeGroups([{ ...AUTOSCALER, replicas: 0 }], []).map(said)).toEqual([
    'OK cluster autoscaler: Deployment kube-system/cluster-autoscaler with 0 replicas',
  ]);
  expect(checkNodeGroups([], [])).toEqual([]);
});

it('the way to NodePools, in commands', () => {
  expect(nodeGroupSteps([AUTOSCALER], nodeGroupsOf(state), 'shop')).toEqual([
    'Node groups keep their nodes. To move their pods to nodes of NodePools:',
    'aws eks describe-nodegroup --cluster-name shop --nodegroup-name web > web.json',
    'joiner convert -f web.json cluster.yaml > pools.yaml && kubectl apply -f pools.yaml',
    'kubectl -n kube-system scale deployment cluster-autoscaler --replicas 0',
    'kubectl cordon -l alpha.eksctl.io/nodegroup-name=batch',
    'kubectl drain -l alpha.eksctl.io/nodegroup-name=batch --ignore-daemonsets --delete-emptydir-data',
    'kubectl cordon -l eks.amazonaws.com/nodegroup=web',
    'kubectl drain -l eks.amazonaws.com/nodegroup=web --ignore-daemonsets --delete-emptydir-data',
  ]);
  expect(nodeGroupSteps([], [], 'shop')).toEqual([]);
});
