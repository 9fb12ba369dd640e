import type { CapacityReservation } from '@aws-sdk/client-ec2';
import { deployment, nodeClass, nodePool, type Requirement } from '../closed-loop/manifests.ts';

/** Objects of the scenario that the bundles of all functions play. */

const amd64: Requirement = { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] };
const bought = (...values: readonly string[]): Requirement => ({
  key: 'karpenter.sh/capacity-type',
  operator: 'In',
  values,
});
const category: Requirement = {
  key: 'karpenter.k8s.aws/instance-category',
  operator: 'In',
  values: ['c', 'm', 'r'],
};

export const spotPool = nodePool('general', [amd64, bought('spot'), category]);
export const onDemandPool = nodePool('on-demand', [amd64, bought('on-demand'), category]);
export const staticPool = nodePool('static', [amd64, bought('on-demand'), category], {
  replicas: 1,
});

export const overlay = {
  apiVersion: 'karpenter.sh/v1alpha1',
  kind: 'NodeOverlay',
  metadata: { name: 'cheaper' },
  spec: {
    requirements: [
      { key: 'karpenter.k8s.aws/instance-family', operator: 'In', values: ['c6i', 'm6i'] },
    ],
    priceAdjustment: '-5%',
  },
};

/** Free, of a type that the pools may use. */
export const RESERVATION: CapacityReservation = {
  CapacityReservationId: 'cr-0123456789abcdef0',
  OwnerId: '111122223333',
  InstanceType: 'm6i.large',
  AvailabilityZone: 'us-east-1b',
  AvailabilityZoneId: 'use1-az2',
  InstanceMatchCriteria: 'targeted',
  State: 'active',
  Tenancy: 'default',
  TotalInstanceCount: 2,
  AvailableInstanceCount: 2,
  Tags: [{ Key: 'karpenter.sh/discovery', Value: 'demo' }],
};

export const reservedClass = {
  ...nodeClass,
  metadata: { name: 'reserved' },
  spec: {
    ...nodeClass.spec,
    capacityReservationSelectorTerms: [{ tags: { 'karpenter.sh/discovery': 'demo' } }],
  },
};

const plain = nodePool('reserved', [amd64, bought('reserved')]);
export const reservedPool = {
  ...plain,
  spec: {
    template: {
      spec: {
        ...plain.spec.template.spec,
        nodeClassRef: { ...plain.spec.template.spec.nodeClassRef, name: 'reserved' },
      },
    },
  },
};

const selected = nodePool('patient', [amd64, bought('spot'), category]);
/** Its nodes wait for their pods a few seconds and no longer. */
export const patientPool = {
  ...selected,
  spec: { template: { spec: { ...selected.spec.template.spec, terminationGracePeriod: '10s' } } },
};

/** A pod that refuses to be evicted. */
export const stubborn = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: 'stubborn',
    namespace: 'default',
    labels: { app: 'stubborn' },
    annotations: { 'karpenter.sh/do-not-disrupt': 'true' },
  },
  spec: {
    nodeSelector: { 'karpenter.sh/nodepool': 'patient' },
    containers: [{ name: 'app', image: 'app', resources: { requests: { cpu: '1' } } }],
  },
};

/** What only the pod itself and its node may know. */
export const CANARY = 'canary-8d1f0a77';

const keepsSecrets = deployment('secretive', 6, '1');
const [container] = keepsSecrets.spec.template.spec.containers;
export const secretive = {
  ...keepsSecrets,
  spec: {
    ...keepsSecrets.spec,
    template: {
      metadata: {
        ...keepsSecrets.spec.template.metadata,
        annotations: { 'vault.example.com/token': CANARY },
      },
      spec: {
        containers: [
          {
            ...container,
            env: [{ name: 'PASSWORD', value: CANARY }],
            command: ['serve'],
            args: [`--password=${CANARY}`],
          },
        ],
      },
    },
  },
};

/** No instance type can take it: it is spoken of again and again. */
export const tooLarge = deployment('too-large', 1, '2000');

const template = {
  metadata: { labels: { app: 'few' } },
  spec: { containers: container === undefined ? [] : [container] },
};

function buffer(name: string, spec: object) {
  return {
    apiVersion: 'autoscaling.x-k8s.io/v1beta1',
    kind: 'CapacityBuffer',
    metadata: { name, namespace: 'default' },
    spec,
  };
}

/** A buffer of each kind of target, with the target. */
export const buffers = [
  {
    apiVersion: 'v1',
    kind: 'PodTemplate',
    metadata: { name: 'few', namespace: 'default' },
    template,
  },
  deployment('few', 1, '100m'),
  {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'set', namespace: 'default' },
    spec: {
      replicas: 0,
      serviceName: 'set',
      selector: { matchLabels: { app: 'set' } },
      template: { ...template, metadata: { labels: { app: 'set' } } },
    },
  },
  {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name: 'replicas', namespace: 'default' },
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'replicas' } },
      template: { ...template, metadata: { labels: { app: 'replicas' } } },
    },
  },
  buffer('by-template', { podTemplateRef: { name: 'few' }, replicas: 1 }),
  ...(['Deployment', 'StatefulSet', 'ReplicaSet'] as const).map((kind) =>
    buffer(`by-${kind.toLowerCase()}`, {
      scalableRef: {
        apiGroup: 'apps',
        kind,
        name: { Deployment: 'few', StatefulSet: 'set', ReplicaSet: 'replicas' }[kind],
      },
      replicas: 1,
    }),
  ),
];
