import {
  type KeepKey,
  list,
  type Message,
  message,
  quantityMap,
  type Shape,
  stringMap,
  stringMapOf,
  strings,
} from './shape.ts';

/**
 * The fields that decisions read of the core kinds, with the tags of k8s.io/api's generated.proto
 * (v1.35; tags never change). Nothing else of these kinds enters the process.
 */

/** Annotations of pods and nodes may hold secrets; only those that mean something to us are read. */
const READ_ANNOTATIONS: ReadonlySet<string> = new Set([
  'kubernetes.io/config.mirror',
  'controller.kubernetes.io/pod-deletion-cost',
  'deprecated.daemonset.template.generation',
  'cluster-autoscaler.kubernetes.io/safe-to-evict',
  'pv.kubernetes.io/bind-completed',
  'storageclass.kubernetes.io/is-default-class',
  'volume.beta.kubernetes.io/storage-class',
]);
const READ_PREFIXES = ['karpenter.sh/', 'karpenter.k8s.aws/', 'joiner.dev/'];

const isRead: KeepKey = (key) =>
  READ_ANNOTATIONS.has(key) || READ_PREFIXES.some((prefix) => key.startsWith(prefix));

const metadata = message({
  name: [1, 'string'],
  namespace: [3, 'string'],
  uid: [5, 'string'],
  resourceVersion: [6, 'string'],
  generation: [7, 'int'],
  creationTimestamp: [8, 'time'],
  deletionTimestamp: [9, 'time'],
  deletionGracePeriodSeconds: [10, 'int'],
  labels: [11, stringMap],
  annotations: [12, stringMapOf(isRead)],
  ownerReferences: [
    13,
    list(
      message({
        apiVersion: [5, 'string'],
        kind: [1, 'string'],
        name: [3, 'string'],
        uid: [4, 'string'],
        controller: [6, 'bool'],
      }),
    ),
  ],
  finalizers: [14, strings],
});

/** What an object is and at which version: of any kind, where its metadata alone is asked for. */
export const IDENTITY = message({
  metadata: [
    1,
    message({ name: [1, 'string'], namespace: [3, 'string'], resourceVersion: [6, 'string'] }),
  ],
});

const expression = message({
  key: [1, 'string'],
  operator: [2, 'string'],
  values: [3, strings],
});

const labelSelector = message({
  matchLabels: [1, stringMap],
  matchExpressions: [2, list(expression)],
});

const nodeSelectorTerm = message({
  matchExpressions: [1, list(expression)],
  matchFields: [2, list(expression)],
});

const nodeSelector = message({ nodeSelectorTerms: [1, list(nodeSelectorTerm)] });

const podAffinityTerm = message({
  labelSelector: [1, labelSelector],
  namespaces: [2, strings],
  topologyKey: [3, 'string'],
  namespaceSelector: [4, labelSelector],
  matchLabelKeys: [5, strings],
  mismatchLabelKeys: [6, strings],
});

const podAffinity = message({
  requiredDuringSchedulingIgnoredDuringExecution: [1, list(podAffinityTerm)],
  preferredDuringSchedulingIgnoredDuringExecution: [
    2,
    list(message({ weight: [1, 'int'], podAffinityTerm: [2, podAffinityTerm] })),
  ],
});

const affinity = message({
  nodeAffinity: [
    1,
    message({
      requiredDuringSchedulingIgnoredDuringExecution: [1, nodeSelector],
      preferredDuringSchedulingIgnoredDuringExecution: [
        2,
        list(message({ weight: [1, 'int'], preference: [2, nodeSelectorTerm] })),
      ],
    }),
  ],
  podAffinity: [2, podAffinity],
  podAntiAffinity: [3, podAffinity],
});

const resources = message({
  limits: [1, quantityMap],
  requests: [2, quantityMap],
  claims: [3, list(message({ name: [1, 'string'] }))],
});

const container = message({
  name: [1, 'string'],
  ports: [
    6,
    list(
      message({
        hostPort: [2, 'positiveInt'],
        containerPort: [3, 'int'],
        protocol: [4, 'string'],
        hostIP: [5, 'string'],
      }),
    ),
  ],
  resources: [8, resources],
  restartPolicy: [24, 'string'],
});

const volumeSource = message({
  awsElasticBlockStore: [4, message({ volumeID: [1, 'string'] })],
  persistentVolumeClaim: [10, message({ claimName: [1, 'string'] })],
  ephemeral: [
    29,
    message({
      volumeClaimTemplate: [
        1,
        message({ spec: [2, message({ storageClassName: [5, 'string'] })] }),
      ],
    }),
  ],
});

const toleration = message({
  key: [1, 'string'],
  operator: [2, 'string'],
  value: [3, 'string'],
  effect: [4, 'string'],
  tolerationSeconds: [5, 'int'],
});

const topologySpread = message({
  maxSkew: [1, 'int'],
  topologyKey: [2, 'string'],
  whenUnsatisfiable: [3, 'string'],
  labelSelector: [4, labelSelector],
  minDomains: [5, 'int'],
  nodeAffinityPolicy: [6, 'string'],
  nodeTaintsPolicy: [7, 'string'],
  matchLabelKeys: [8, strings],
});

const podSpec = message({
  volumes: [1, list(message({ name: [1, 'string'], source: [2, volumeSource, 'inline'] }))],
  containers: [2, list(container)],
  terminationGracePeriodSeconds: [4, 'int'],
  nodeSelector: [7, stringMap],
  nodeName: [10, 'string'],
  hostNetwork: [11, 'bool'],
  affinity: [18, affinity],
  schedulerName: [19, 'string'],
  initContainers: [20, list(container)],
  tolerations: [22, list(toleration)],
  priorityClassName: [24, 'string'],
  priority: [25, 'int'],
  preemptionPolicy: [31, 'string'],
  overhead: [32, quantityMap],
  topologySpreadConstraints: [33, list(topologySpread)],
  schedulingGates: [38, list(message({ name: [1, 'string'] }))],
  resourceClaims: [39, list(message({ name: [1, 'string'] }))],
  resources: [40, resources],
});

/** Of pods and of nodes. */
const conditions: Shape = list(
  message({
    type: [1, 'string'],
    status: [2, 'string'],
    lastTransitionTime: [4, 'time'],
    reason: [5, 'string'],
    message: [6, 'string'],
  }),
);

export const POD: Message = message({
  metadata: [1, metadata],
  spec: [2, podSpec],
  status: [
    3,
    message({
      phase: [1, 'string'],
      conditions: [2, conditions],
      startTime: [7, 'time'],
      nominatedNodeName: [11, 'string'],
    }),
  ],
});

export const NODE: Message = message({
  metadata: [1, metadata],
  spec: [
    2,
    message({
      providerID: [3, 'string'],
      unschedulable: [4, 'bool'],
      taints: [
        5,
        list(message({ key: [1, 'string'], value: [2, 'string'], effect: [3, 'string'] })),
      ],
    }),
  ],
  status: [
    3,
    message({
      capacity: [1, quantityMap],
      allocatable: [2, quantityMap],
      conditions: [4, conditions],
    }),
  ],
});

const podTemplate = message({ metadata: [1, metadata], spec: [2, podSpec] });

export const DAEMON_SET: Message = message({
  metadata: [1, metadata],
  spec: [2, message({ template: [3, podTemplate] })],
});

/** Deployments, ReplicaSets and StatefulSets; read as JSON only, so their tags do not matter. */
export const WORKLOAD: Message = message({
  metadata: [1, metadata],
  spec: [2, message({ replicas: [1, 'int'], template: [3, podTemplate] })],
});

export const POD_TEMPLATE: Message = message({
  metadata: [1, metadata],
  template: [2, podTemplate],
});

export const NAMESPACE: Message = message({ metadata: [1, metadata] });

export const PERSISTENT_VOLUME_CLAIM: Message = message({
  metadata: [1, metadata],
  spec: [2, message({ volumeName: [3, 'string'], storageClassName: [5, 'string'] })],
  status: [3, message({ phase: [1, 'string'] })],
});
