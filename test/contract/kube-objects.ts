import { RESOURCES } from '../../shared/api/resources.ts';
import type { KubeClient } from '../../shared/kube/client.ts';

/** Manifests for the suites that run against a real API server; whole, valid, not random. */

/** Every field that decisions read is set, so that a field that is not read is missed. */
export function aRichPod(name: string): object {
  const selector = {
    matchLabels: { app: 'web' },
    matchExpressions: [{ key: 'tier', operator: 'In', values: ['front', 'back'] }],
  };
  const podTerm = {
    topologyKey: 'topology.kubernetes.io/zone',
    labelSelector: selector,
    namespaces: ['default', 'other'],
    namespaceSelector: { matchLabels: { team: 'a' } },
    matchLabelKeys: ['pod-template-hash'],
  };
  const nodeTerm = {
    matchExpressions: [
      { key: 'karpenter.k8s.aws/instance-cpu', operator: 'Gt', values: ['3'] },
      { key: 'kubernetes.io/arch', operator: 'Exists' },
    ],
  };
  return {
    metadata: {
      name,
      namespace: 'default',
      labels: { app: 'web', 'pod-template-hash': '5d9c', empty: '' },
      annotations: {
        'karpenter.sh/do-not-disrupt': 'true',
        'joiner.dev/simulated-duration': '5m',
        'example.com/secret': CANARY,
      },
      ownerReferences: [
        { apiVersion: 'apps/v1', kind: 'ReplicaSet', name: 'web', uid: 'u-1', controller: true },
      ],
    },
    spec: {
      nodeSelector: { 'karpenter.sh/capacity-type': 'spot' },
      affinity: {
        nodeAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: {
            nodeSelectorTerms: [
              nodeTerm,
              { matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n-1'] }] },
            ],
          },
          preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 7, preference: nodeTerm }],
        },
        podAffinity: {
          preferredDuringSchedulingIgnoredDuringExecution: [
            { weight: 100, podAffinityTerm: podTerm },
          ],
        },
        podAntiAffinity: {
          requiredDuringSchedulingIgnoredDuringExecution: [
            { ...podTerm, labelSelector: {}, namespaceSelector: {} },
          ],
        },
      },
      tolerations: [
        { key: 'gpu', operator: 'Equal', value: 'yes', effect: 'NoSchedule' },
        { operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      topologySpreadConstraints: [
        {
          maxSkew: 1,
          minDomains: 2,
          topologyKey: 'kubernetes.io/hostname',
          whenUnsatisfiable: 'DoNotSchedule',
          labelSelector: selector,
          nodeAffinityPolicy: 'Ignore',
          nodeTaintsPolicy: 'Honor',
          matchLabelKeys: ['pod-template-hash'],
        },
      ],
      initContainers: [
        { name: 'sidecar', image: 'image', restartPolicy: 'Always', ...amounts('10m', '1Mi') },
      ],
      containers: [
        {
          name: 'main',
          image: 'image',
          command: [CANARY],
          args: [CANARY],
          env: [{ name: 'TOKEN', value: CANARY }],
          ports: [{ containerPort: 80, hostPort: 8080, hostIP: '10.0.0.1', protocol: 'UDP' }],
          ...amounts('1500m', '1.5Gi'),
        },
        { name: 'other', image: 'image', ports: [{ containerPort: 81 }] },
      ],
      volumes: [
        { name: 'data', persistentVolumeClaim: { claimName: 'data-0' } },
        { name: 'old', awsElasticBlockStore: { volumeID: 'aws://zone-a/vol-1' } },
        { name: 'config', configMap: { name: CANARY } },
        {
          name: 'scratch',
          ephemeral: {
            volumeClaimTemplate: {
              spec: {
                accessModes: ['ReadWriteOnce'],
                storageClassName: 'gp3',
                resources: { requests: { storage: '1Gi' } },
              },
            },
          },
        },
      ],
      priorityClassName: 'low',
      preemptionPolicy: 'Never',
      terminationGracePeriodSeconds: 45,
      schedulerName: 'other-scheduler',
      schedulingGates: [{ name: 'example.com/wait' }],
    },
  };
}

/** Below zero, which protobuf writes in another way than positive numbers. */
export const LOW_PRIORITY = -10;

/** Stands for whatever is secret in a pod; it must not come through. */
export const CANARY = 'canary-7f3a';

function amounts(cpu: string, memory: string): object {
  return { resources: { requests: { cpu, memory }, limits: { cpu, memory } } };
}

/** A pod of one small container. */
export function aPlainPod(name: string, spec: object = {}): object {
  return {
    metadata: { name, namespace: 'default', labels: { app: 'plain' } },
    spec: {
      containers: [
        { name: 'main', image: 'image', resources: { requests: { cpu: '100m', memory: '64Mi' } } },
      ],
      terminationGracePeriodSeconds: 0,
      ...spec,
    },
  };
}

/** Nobody looks for nodes for its pods. */
export function aReplicaSet(name: string, replicas: number, spec: object = {}): object {
  const labels = { app: name };
  const containers = [{ name: 'main', image: 'image' }];
  return {
    apiVersion: 'apps/v1',
    kind: 'ReplicaSet',
    metadata: { name, namespace: 'default' },
    spec: {
      replicas,
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: { containers, schedulerName: 'nobody', ...spec },
      },
    },
  };
}

/** No pod with it is let in: there is no such class. */
export const REFUSED_SPEC = { priorityClassName: 'none-such' };

/** A node that can take pods. */
export function aReadyNode(name: string, labels: Readonly<Record<string, string>> = {}): object {
  const capacity = { cpu: '4', memory: '16Gi', pods: '110', 'ephemeral-storage': '20Gi' };
  const at = '2026-01-01T00:00:00Z';
  return {
    metadata: { name, labels: { 'kubernetes.io/hostname': name, ...labels } },
    spec: {
      providerID: `aws:///us-east-1a/i-${name}`,
      taints: [{ key: 'dedicated', value: 'test', effect: 'PreferNoSchedule' }],
    },
    status: {
      capacity,
      allocatable: capacity,
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'KubeletReady',
          message: 'ready',
          lastHeartbeatTime: at,
          lastTransitionTime: at,
        },
      ],
    },
  };
}

/** Without the controllers nobody makes it. */
export async function ensureNamespace(admin: KubeClient, name: string): Promise<void> {
  const object = { metadata: { name } };
  await admin.apply(RESOURCES.namespaces, { name }, object);
}
