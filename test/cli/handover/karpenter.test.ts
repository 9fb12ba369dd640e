import { describe, expect, it } from 'vitest';
import { findKarpenter, karpenterOf } from '../../../cli/handover/karpenter.ts';
import { listingClient } from '../../builders/listing-client.ts';
import { karpenterDeployment } from '../../support/karpenter/deployment.ts';

/** A Deployment of one container. */
function deployment(image: string, change: object = {}, container: object = {}): object {
  return {
    metadata: { namespace: 'platform', name: 'controller' },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: 'a' } },
      template: { spec: { containers: [{ name: 'c', image, ...container }] } },
    },
    ...change,
  };
}

describe('which Deployment is that of Karpenter', () => {
  it.each([
    ['public.ecr.aws/karpenter/controller:1.14.1@sha256:00', '1.14.1'],
    ['public.ecr.aws/karpenter/controller:v0.32.1', '0.32.1'],
    ['111122223333.dkr.ecr.eu-west-1.amazonaws.com/mirror/karpenter/controller:1.15.0', '1.15.0'],
    ['registry:5000/karpenter/controller@sha256:00', undefined],
    ['karpenter/controller:1.2.3', '1.2.3'],
  ])('%s: version %s', (image, version) => {
    expect(karpenterOf(deployment(image))).toMatchObject({ replicas: 3, version });
  });

  it.each([
    'public.ecr.aws/eks/aws-load-balancer-controller:2.0',
    'example.com/not-karpenter/controller-of-others:1',
    'example.com/karpenter/controller-webhook:1',
  ])('%s: another', (image) => {
    expect(karpenterOf(deployment(image))).toBeUndefined();
  });

  it('the chart label says it where the image has another name', () => {
    const labels = { 'app.kubernetes.io/name': 'karpenter', 'app.kubernetes.io/version': '1.9.0' };
    const metadata = { namespace: 'platform', name: 'k', labels };
    const found = karpenterOf(deployment('example.com/node-controller:stable', { metadata }));
    expect(found).toMatchObject({ namespace: 'platform', name: 'k', version: '1.9.0' });
  });
});

describe('another chart', () => {
  const env = [{ name: 'CLUSTER_NAME', value: 'demo' }];
  const sidecar = { name: 'istio-proxy', image: 'istio/proxyv2:1.24.0' };
  const own = { name: 'kp', image: 'registry.corp/mirror/kp:1.14.1', env };
  const spec = {
    selector: { matchLabels: { app: 'a' } },
    template: { spec: { containers: [sidecar, own] } },
  };

  it('is Karpenter where somebody names the Deployment', () => {
    const found = deployment('', { spec });
    expect(karpenterOf(found)).toBeUndefined();
    expect(karpenterOf(found, true)?.settings.get('CLUSTER_NAME')).toBe('demo');
  });

  it('with the label has its settings in whatever container they are', () => {
    const labels = { 'app.kubernetes.io/name': 'karpenter' };
    const metadata = { namespace: 'a', name: 'k', labels };
    const found = karpenterOf(deployment('', { metadata, spec }));
    expect(found?.settings.get('CLUSTER_NAME')).toBe('demo');
  });
});

it('settings: variables, and flags against them', () => {
  const env = [
    { name: 'FEATURE_GATES', value: 'NodeOverlay=true' },
    { name: 'CLUSTER_NAME', value: 'demo' },
    { name: 'MEMORY_LIMIT', valueFrom: { resourceFieldRef: { resource: 'limits.memory' } } },
    { name: 'INTERRUPTION_QUEUE', valueFrom: { secretKeyRef: { name: 'a', key: 'queue' } } },
  ];
  const args = ['--feature-gates', 'StaticCapacity=true', '--cluster-name=other', '--isolated-vpc'];
  const found = karpenterOf(deployment('a/karpenter/controller:1.0.0', {}, { env, args }));
  expect(Object.fromEntries(found?.settings ?? [])).toEqual({
    FEATURE_GATES: 'StaticCapacity=true',
    CLUSTER_NAME: 'other',
    ISOLATED_VPC: 'true',
  });
  expect(found?.unread).toEqual(['INTERRUPTION_QUEUE']);
});

it.each([
  [{ annotations: { 'argocd.argoproj.io/tracking-id': 'karpenter:apps/Deployment' } }, ['Argo CD']],
  [{ managedFields: [{ manager: 'argocd-controller', operation: 'Update' }] }, ['Argo CD']],
  [{ labels: { 'helm.toolkit.fluxcd.io/name': 'karpenter' } }, ['Flux']],
  [{ managedFields: [{ manager: 'helm-controller', operation: 'Update' }] }, ['Flux']],
  [{ managedFields: [{ manager: 'helm' }, { manager: 'kubectl-scale' }] }, []],
  [{ labels: { 'app.kubernetes.io/managed-by': 'Helm' } }, []],
])('who else writes the Deployment: %j', (marks, writers) => {
  const metadata = { namespace: 'a', name: 'b', ...marks };
  const found = karpenterOf(deployment('a/karpenter/controller:1.0.0', { metadata }));
  expect(found?.writers).toEqual(writers);
});

it('who writes it as a field manager is read from the list', async () => {
  const managedFields = [{ manager: 'argocd-controller', operation: 'Update' }];
  const metadata = { namespace: 'a', name: 'b', managedFields };
  const client = listingClient([deployment('a/karpenter/controller:1.0.0', { metadata })]);
  expect((await findKarpenter(client, undefined))?.writers).toEqual(['Argo CD']);
});

it('the Deployment of the end-to-end tests is one of the chart', () => {
  expect(karpenterOf(karpenterDeployment('1.14.1', 2))).toMatchObject({
    namespace: 'kube-system',
    name: 'karpenter',
    replicas: 2,
    version: '1.14.1',
    labels: { 'app.kubernetes.io/name': 'karpenter', 'app.kubernetes.io/instance': 'karpenter' },
  });
});
