import type { ObjectKind } from '../ports/cluster.ts';
import { KubeError } from './errors.ts';

/** How the API server names a kind. */
export interface Resource {
  /** Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
}

/** Names one object of a resource. */
export interface Address {
  readonly namespace?: string | undefined;
  readonly name: string;
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

/** The resource of each kind that use cases name. */
export const KINDS: Readonly<Record<ObjectKind, Resource>> = {
  NodePool: RESOURCES.nodePools,
  NodeClaim: RESOURCES.nodeClaims,
  NodeOverlay: RESOURCES.nodeOverlays,
  EC2NodeClass: RESOURCES.nodeClasses,
  CapacityBuffer: RESOURCES.capacityBuffers,
  Node: RESOURCES.nodes,
  Pod: RESOURCES.pods,
};

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

/** No object's name is longer. */
const NAME_MAX = 253;

/**
 * A name as a part of a path. Names that come from other objects may be anything: what no object
 * can be named is refused here, since a server might read another path out of it.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
 */
function segment(name: string): string {
  const isDots = name === '' || name === '.' || name === '..';
  if (isDots || name.length > NAME_MAX || /[/%\p{Cs}]/u.test(name)) {
    const message = `no object can be named ${JSON.stringify(name.slice(0, NAME_MAX))}`;
    throw new KubeError({ kind: 'invalid', causes: [] }, 'name', message);
  }
  return encodeURIComponent(name);
}

/** The path of a collection, or with an address of one object or its subresource. */
export function resourcePath(
  resource: Resource,
  address: { readonly namespace?: string | undefined; readonly name?: string } = {},
  subresource?: string,
): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const parts = [`${root}/${resource.version}`];
  if (resource.namespaced && address.namespace !== undefined) {
    parts.push('namespaces', segment(address.namespace));
  }
  parts.push(resource.plural);
  if (address.name !== undefined) parts.push(segment(address.name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

/** How errors name what was asked for: `nodeclaims.karpenter.sh/default-x7k2p`. */
export function resourceName(resource: Resource, address: Partial<Address> = {}): string {
  const type = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  const object = [address.namespace, address.name].filter((part) => part !== undefined);
  return [type, ...object].join('/');
}
