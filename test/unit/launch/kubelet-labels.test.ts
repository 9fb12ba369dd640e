import { expect, it } from 'vitest';
import { kubeletLabels } from '../../../shared/core/launch/launch-request.ts';
import { aNodeClaim } from './builders.ts';

const ASKED = {
  'karpenter.sh/nodepool': 'default',
  'karpenter.sh/capacity-type': 'spot',
  'karpenter.k8s.aws/instance-tenancy': 'dedicated',
  team: 'a',
  'example.com/tier': 'b',
};

it('leave out what only registration may set', () => {
  const labels = { ...ASKED, 'node-role.kubernetes.io/worker': '', 'sub.k8s.io/x': '1' };
  expect(kubeletLabels(aNodeClaim({ labels }))).toEqual(ASKED);
});

it('are the same before and after the claim has its instance', () => {
  const labels = {
    ...ASKED,
    'karpenter.k8s.aws/instance-family': 'c7g',
    'karpenter.k8s.aws/instance-cpu': '2',
    'topology.k8s.aws/zone-id': 'use1-az1',
    'topology.kubernetes.io/zone': 'us-east-1a',
    'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
  };
  expect(kubeletLabels(aNodeClaim({ labels }))).toEqual(
    kubeletLabels(aNodeClaim({ labels: ASKED })),
  );
});
