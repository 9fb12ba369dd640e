import { type Json, listAt, objectAt, textAt } from '../../shared/sim/json.ts';

/**
 * What every EKS cluster of Linux nodes runs before anybody has put anything into it, with the
 * requests that the add-ons have unless they are configured otherwise: Amazon VPC CNI
 * (aws-k8s-cni.yaml), kube-proxy, the EBS CSI driver (its Helm chart), the Pod Identity Agent and
 * CoreDNS (https://docs.aws.amazon.com/eks/latest/userguide/eks-add-ons.html).
 */

const NAMESPACE = 'kube-system';
const COMPUTE_TYPE = 'eks.amazonaws.com/compute-type';

interface Expression {
  readonly key: string;
  readonly operator: 'In' | 'NotIn';
  readonly values: string[];
}

const LINUX: Expression = { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] };
const ARCHITECTURES: Expression = {
  key: 'kubernetes.io/arch',
  operator: 'In',
  values: ['amd64', 'arm64'],
};

function ownMachines(...others: string[]): Expression {
  return { key: COMPUTE_TYPE, operator: 'NotIn', values: ['fargate', 'auto', ...others] };
}

/** A container's requests; the names of images decide nothing. */
interface Container {
  readonly name: string;
  readonly requests?: { readonly cpu?: string; readonly memory?: string };
  readonly limits?: { readonly memory: string };
}

function containers(all: readonly Container[]): Json[] {
  return all.map(({ name, requests = {}, limits = {} }) => ({
    name,
    image: name,
    resources: { requests: { ...requests }, limits: { ...limits } },
  }));
}

function daemonSet(
  name: string,
  { own, initial = [] }: { own: readonly Container[]; initial?: readonly Container[] },
  matchExpressions: readonly Expression[],
): Json {
  const labels = { 'k8s-app': name };
  const nodeSelectorTerms = [{ matchExpressions: matchExpressions.map((each) => ({ ...each })) }];
  return {
    apiVersion: 'apps/v1',
    kind: 'DaemonSet',
    metadata: { name, namespace: NAMESPACE, labels },
    spec: {
      selector: { matchLabels: labels },
      template: {
        metadata: { labels },
        spec: {
          priorityClassName: 'system-node-critical',
          tolerations: [{ operator: 'Exists' }],
          affinity: {
            nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
          },
          initContainers: containers(initial),
          containers: containers(own),
        },
      },
    },
  };
}

/** Nodes that the EBS CSI driver leaves out. */
const A1: Expression = {
  key: 'node.kubernetes.io/instance-type',
  operator: 'NotIn',
  values: ['a1.medium', 'a1.large', 'a1.xlarge', 'a1.2xlarge', 'a1.4xlarge'],
};

function daemonSets(): readonly Json[] {
  const cpu = (amount: string) => ({ cpu: amount });
  const ofDriver = { requests: { cpu: '10m', memory: '40Mi' }, limits: { memory: '256Mi' } };
  return [
    daemonSet(
      'aws-node',
      {
        initial: [{ name: 'aws-vpc-cni-init', requests: cpu('25m') }],
        own: [
          { name: 'aws-node', requests: cpu('25m') },
          { name: 'aws-eks-nodeagent', requests: cpu('25m') },
        ],
      },
      [LINUX, ARCHITECTURES, ownMachines('hybrid')],
    ),
    daemonSet('kube-proxy', { own: [{ name: 'kube-proxy', requests: cpu('100m') }] }, [
      LINUX,
      ARCHITECTURES,
      ownMachines(),
    ]),
    daemonSet(
      'ebs-csi-node',
      {
        own: [
          { name: 'ebs-plugin', ...ofDriver },
          { name: 'node-driver-registrar', ...ofDriver },
          { name: 'liveness-probe', ...ofDriver },
        ],
      },
      [LINUX, ownMachines('hybrid'), A1],
    ),
    daemonSet('eks-pod-identity-agent', { own: [{ name: 'eks-pod-identity-agent' }] }, [
      LINUX,
      ARCHITECTURES,
      ownMachines('hybrid'),
    ]),
  ];
}

function coreDns(): readonly Json[] {
  const labels = { 'k8s-app': 'kube-dns' };
  const selector = { matchLabels: labels };
  const nodeSelectorTerms = [{ matchExpressions: [{ ...LINUX }, { ...ARCHITECTURES }] }];
  const apart = { labelSelector: selector, topologyKey: 'kubernetes.io/hostname' };
  const affinity = {
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [{ weight: 100, podAffinityTerm: apart }],
    },
  };
  const topologySpreadConstraints = [
    {
      maxSkew: 1,
      topologyKey: 'topology.kubernetes.io/zone',
      whenUnsatisfiable: 'ScheduleAnyway',
      labelSelector: selector,
    },
  ];
  const requests = { cpu: '100m', memory: '70Mi' };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'coredns', namespace: NAMESPACE, labels },
      spec: {
        replicas: 2,
        selector,
        template: {
          metadata: { labels },
          spec: {
            priorityClassName: 'system-cluster-critical',
            tolerations: [
              { key: 'CriticalAddonsOnly', operator: 'Exists' },
              { key: 'node-role.kubernetes.io/control-plane', effect: 'NoSchedule' },
            ],
            affinity,
            topologySpreadConstraints,
            containers: containers([{ name: 'coredns', requests, limits: { memory: '170Mi' } }]),
          },
        },
      },
    },
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: { name: 'coredns', namespace: NAMESPACE },
      spec: { maxUnavailable: 1, selector },
    },
  ];
}

/** `gp2` is EKS's own; the default is `gp3`, as EKS itself has had none since 1.30. */
function storageClasses(): readonly Json[] {
  const isDefault = { 'storageclass.kubernetes.io/is-default-class': 'true' };
  const rest = {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'StorageClass',
    volumeBindingMode: 'WaitForFirstConsumer',
    reclaimPolicy: 'Delete',
  };
  return [
    { ...rest, metadata: { name: 'gp2' }, provisioner: 'kubernetes.io/aws-ebs' },
    {
      ...rest,
      metadata: { name: 'gp3', annotations: isDefault },
      provisioner: 'ebs.csi.aws.com',
      parameters: { type: 'gp3' },
    },
  ];
}

function keyOf(object: Json): string {
  const namespace = textAt(object, 'metadata', 'namespace') ?? '';
  return `${object['kind']}/${namespace}/${textAt(object, 'metadata', 'name')}`;
}

/** The Deployment that a ReplicaSet is of by its name. */
function deploymentKeyOf(object: Json): string {
  const key = keyOf(object);
  return object['kind'] === 'ReplicaSet'
    ? key.replace(/^ReplicaSet(.*)-[^-]+$/, 'Deployment$1')
    : key;
}

/** Whether a NodePool of Linux nodes takes pods that tolerate nothing. */
function isOpen(pool: Json): boolean {
  const spec = objectAt(pool, 'spec', 'template', 'spec');
  const closing = listAt(spec, 'taints').some(
    (taint) => textAt(taint, 'effect') !== 'PreferNoSchedule',
  );
  const isWindows = listAt(spec, 'requirements').some(
    (each) => textAt(each, 'key') === LINUX.key && listAt(each, 'values').includes('windows'),
  );
  return !closing && !isWindows;
}

/** The objects of a new EKS cluster, and what people should know of them. */
interface EksCluster {
  readonly objects: readonly Json[];
  readonly notes: readonly string[];
}

/** Without what every EKS cluster runs, as commands name it. */
export const BARE = [
  '--bare',
  'leave out the DaemonSets, CoreDNS and StorageClasses of every EKS cluster',
] as const;

/** Of a claim, or of a template of one in a StatefulSet. */
function classNamesOf(object: Json): readonly string[] {
  const claims =
    object['kind'] === 'StatefulSet'
      ? listAt(object, 'spec', 'volumeClaimTemplates')
      : object['kind'] === 'PersistentVolumeClaim'
        ? [object]
        : [];
  return claims.flatMap((claim) => textAt(claim, 'spec', 'storageClassName') ?? []);
}

/** StorageClasses of every EKS cluster that claims name and a bare one does not have. */
export function bareNotes(manifests: readonly Json[]): readonly string[] {
  const there = new Set(manifests.map(keyOf));
  const named = new Set(manifests.flatMap(classNamesOf));
  return storageClasses()
    .filter((each) => !there.has(keyOf(each)))
    .map((each) => textAt(each, 'metadata', 'name') ?? '')
    .filter((name) => named.has(name))
    .map((name) => `claims name the StorageClass ${name}, which ${BARE[0]} leaves out`);
}

/** The manifests in a new EKS cluster. */
export function inEksCluster(
  manifests: readonly Json[],
  note: (line: string) => void = () => undefined,
): readonly Json[] {
  const { objects, notes } = eksCluster(manifests);
  for (const line of notes) note(line);
  return [...objects, ...manifests];
}

/**
 * What a new EKS cluster has, but for what the manifests have themselves. CoreDNS is there only
 * where a NodePool takes it: otherwise it runs on nodes of somebody else, or on Fargate.
 */
export function eksCluster(manifests: readonly Json[]): EksCluster {
  const given = new Set(manifests.flatMap((each) => [keyOf(each), deploymentKeyOf(each)]));
  const pools = manifests.filter((each) => each['kind'] === 'NodePool');
  const isServed = pools.length === 0 || pools.some(isOpen);
  const all = [...storageClasses(), ...daemonSets(), ...(isServed ? coreDns() : [])];
  return {
    objects: all.filter((each) => !given.has(keyOf(each))),
    notes: isServed ? [] : ['CoreDNS is taken to run on other nodes: no NodePool takes its pods'],
  };
}
