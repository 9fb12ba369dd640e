/** How the API server names a kind. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

const cluster = (group: string, version: string, plural: string, kind: string): Resource => ({
  group,
  version,
  plural,
  kind,
  namespaced: false,
});

const namespaced = (group: string, version: string, plural: string, kind: string): Resource => ({
  ...cluster(group, version, plural, kind),
  namespaced: true,
});

/** Every resource that is read or written, and what the installer applies. */
export const RESOURCES = {
  nodePools: cluster('karpenter.sh', 'v1', 'nodepools', 'NodePool'),
  nodeClaims: cluster('karpenter.sh', 'v1', 'nodeclaims', 'NodeClaim'),
  nodeOverlays: cluster('karpenter.sh', 'v1alpha1', 'nodeoverlays', 'NodeOverlay'),
  nodeClasses: cluster('karpenter.k8s.aws', 'v1', 'ec2nodeclasses', 'EC2NodeClass'),
  capacityBuffers: namespaced(
    'autoscaling.x-k8s.io',
    'v1beta1',
    'capacitybuffers',
    'CapacityBuffer',
  ),
  nodes: cluster('', 'v1', 'nodes', 'Node'),
  pods: namespaced('', 'v1', 'pods', 'Pod'),
  podTemplates: namespaced('', 'v1', 'podtemplates', 'PodTemplate'),
  limitRanges: namespaced('', 'v1', 'limitranges', 'LimitRange'),
  resourceQuotas: namespaced('', 'v1', 'resourcequotas', 'ResourceQuota'),
  replicationControllers: namespaced('', 'v1', 'replicationcontrollers', 'ReplicationController'),
  namespaces: cluster('', 'v1', 'namespaces', 'Namespace'),
  configMaps: namespaced('', 'v1', 'configmaps', 'ConfigMap'),
  events: namespaced('', 'v1', 'events', 'Event'),
  services: namespaced('', 'v1', 'services', 'Service'),
  persistentVolumes: cluster('', 'v1', 'persistentvolumes', 'PersistentVolume'),
  persistentVolumeClaims: namespaced('', 'v1', 'persistentvolumeclaims', 'PersistentVolumeClaim'),
  daemonSets: namespaced('apps', 'v1', 'daemonsets', 'DaemonSet'),
  deployments: namespaced('apps', 'v1', 'deployments', 'Deployment'),
  replicaSets: namespaced('apps', 'v1', 'replicasets', 'ReplicaSet'),
  statefulSets: namespaced('apps', 'v1', 'statefulsets', 'StatefulSet'),
  jobs: namespaced('batch', 'v1', 'jobs', 'Job'),
  storageClasses: cluster('storage.k8s.io', 'v1', 'storageclasses', 'StorageClass'),
  csiNodes: cluster('storage.k8s.io', 'v1', 'csinodes', 'CSINode'),
  volumeAttachments: cluster('storage.k8s.io', 'v1', 'volumeattachments', 'VolumeAttachment'),
  podDisruptionBudgets: namespaced('policy', 'v1', 'poddisruptionbudgets', 'PodDisruptionBudget'),
  podMetrics: namespaced('metrics.k8s.io', 'v1beta1', 'pods', 'PodMetrics'),
  priorityClasses: cluster('scheduling.k8s.io', 'v1', 'priorityclasses', 'PriorityClass'),
  leases: namespaced('coordination.k8s.io', 'v1', 'leases', 'Lease'),
  customResourceDefinitions: cluster(
    'apiextensions.k8s.io',
    'v1',
    'customresourcedefinitions',
    'CustomResourceDefinition',
  ),
  clusterRoles: cluster('rbac.authorization.k8s.io', 'v1', 'clusterroles', 'ClusterRole'),
  clusterRoleBindings: cluster(
    'rbac.authorization.k8s.io',
    'v1',
    'clusterrolebindings',
    'ClusterRoleBinding',
  ),
  roles: namespaced('rbac.authorization.k8s.io', 'v1', 'roles', 'Role'),
  roleBindings: namespaced('rbac.authorization.k8s.io', 'v1', 'rolebindings', 'RoleBinding'),
  flowSchemas: cluster('flowcontrol.apiserver.k8s.io', 'v1', 'flowschemas', 'FlowSchema'),
} as const satisfies Readonly<Record<string, Resource>>;

/** e.g. `karpenter.sh/v1`, `v1` */
export function apiVersion(resource: Resource): string {
  return resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;
}

/** The resource of an object's apiVersion and kind; undefined: not one of ours. */
export function resourceOf(version: string, kind: string): Resource | undefined {
  return Object.values(RESOURCES).find(
    (resource) => resource.kind === kind && apiVersion(resource) === version,
  );
}
