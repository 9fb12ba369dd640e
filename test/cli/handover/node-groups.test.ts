import { describe, expect, it } from 'vitest';
import {
  autoscalerOf,
  checkNodeGroups,
  checkOtherNodes,
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
    'WARN cluster autoscaler: Deployment kube-system/cluster-autoscaler with 1 replica launches nodes for the same pending pods as Joiner',
    'OK node groups: batch (1 node), web (2 nodes): Joiner never changes their nodes',
  ]);
  expect(checkNodeGroups([{ ...AUTOSCALER, replicas: 0 }], []).map(said)).toEqual([
    'OK cluster autoscaler: Deployment kube-system/cluster-autoscaler with 0 replicas',
  ]);
  expect(checkNodeGroups([], [])).toEqual([]);
});

it('instances whose labels name no owner are named with the command that finds their group', () => {
  const instance = (id: string) => `aws:///eu-west-1a/${id}`;
  const owner = (label: string) => ({ providerId: instance('i-01'), labels: { [label]: 'x' } });
  const nodes = [
    nodeOf('d', 4, 8, { pool: '', providerId: instance('i-0d') }),
    nodeOf('e', 4, 8, owner('eks.amazonaws.com/nodegroup')),
    nodeOf('f', 4, 8, owner('eks.amazonaws.com/compute-type')),
    nodeOf('g', 4, 8, owner('karpenter.sh/nodepool')),
    nodeOf('hybrid', 4, 8, { providerId: 'eks-hybrid:///eu-west-1/shop/mi-0a' }),
  ];
  const bare = nodes.map((node) => {
    const { 'karpenter.sh/nodepool': pool, ...labels } = node.labels;
    return node.name === 'g' ? node : { ...node, labels };
  });
  expect(checkOtherNodes(clusterState({ nodes: bare }))).toEqual([
    {
      check: 'other nodes',
      status: 'WARN',
      message: 'of no NodePool and of no group that a label names: d',
      advice:
        'their Auto Scaling groups: aws autoscaling describe-auto-scaling-instances --instance-ids i-0d',
    },
  ]);
  expect(checkOtherNodes(clusterState({ nodes: bare.slice(1) }))).toEqual([]);
});
