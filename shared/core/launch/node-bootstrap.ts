import { DO_NOT_SYNC_TAINTS, type Labels, UNREGISTERED_TAINT_KEY } from '../model/labels.ts';
import type { Taint } from '../model/taint.ts';
import { type ClusterFacts, clusterDnsAddress } from './cluster-facts.ts';
import type { KubeletConfiguration } from './kubelet.ts';

/** Everything that a node's user data has to say. */
export interface NodeBootstrap {
  readonly cluster: ClusterFacts;
  readonly kubelet: KubeletConfiguration;
  readonly podsMax: number;
  readonly labels: Labels;
  readonly taints: readonly Taint[];
  /** Instance-store volumes become one array that holds the pods' storage. */
  readonly instanceStoreRaid: boolean;
}

/**
 * With the taint that keeps pods away until the node is registered, and the label that says that
 * its taints came with it and are not to be written again.
 */
export function registrationOf(
  labels: Labels,
  taints: readonly Taint[],
): Pick<NodeBootstrap, 'labels' | 'taints'> {
  const sorted = Object.entries({ ...labels, [DO_NOT_SYNC_TAINTS]: 'true' }).sort(([a], [b]) =>
    a < b ? -1 : 1,
  );
  const unregistered: Taint = { key: UNREGISTERED_TAINT_KEY, value: '', effect: 'NoExecute' };
  return { labels: Object.fromEntries(sorted), taints: [...taints, unregistered] };
}

/** `a=1,b=2`. */
export function pairs(map: Readonly<Record<string, string>>, separator = '='): string {
  return Object.entries(map)
    .map(([key, value]) => `${key}${separator}${value}`)
    .join(',');
}

/** `key=value:Effect,…`; a taint without value keeps its equals sign, as the kubelet wants it. */
export function taintList(taints: readonly Taint[]): string {
  return taints.map(({ key, value, effect }) => `${key}=${value}:${effect}`).join(',');
}

/** Address of DNS that is passed where the family cannot work it out. */
export function dnsAddress({ kubelet, cluster }: NodeBootstrap): string {
  return kubelet.clusterDNS[0] ?? clusterDnsAddress(cluster);
}

/**
 * The kubelet's command line for the families that take one.
 * https://kubernetes.io/docs/reference/command-line-tools-reference/kubelet/
 */
export function kubeletArguments(node: NodeBootstrap): readonly string[] {
  const { kubelet } = node;
  const named: readonly (readonly [string, string | undefined])[] = [
    ['node-labels', pairs(node.labels)],
    ['register-with-taints', taintList(node.taints)],
    ['max-pods', String(node.podsMax)],
    ['pods-per-core', kubelet.podsPerCore?.toString()],
    ['system-reserved', pairs(kubelet.systemReserved)],
    ['kube-reserved', pairs(kubelet.kubeReserved)],
    ['eviction-hard', pairs(kubelet.evictionHard, '<')],
    ['eviction-soft', pairs(kubelet.evictionSoft, '<')],
    ['eviction-soft-grace-period', pairs(kubelet.evictionSoftGracePeriod)],
    ['eviction-max-pod-grace-period', kubelet.evictionMaxPodGracePeriod?.toString()],
    ['image-gc-high-threshold', kubelet.imageGCHighThresholdPercent?.toString()],
    ['image-gc-low-threshold', kubelet.imageGCLowThresholdPercent?.toString()],
    ['cpu-cfs-quota', kubelet.cpuCFSQuota?.toString()],
  ];
  return named.flatMap(([name, value]) =>
    value === undefined || value === '' ? [] : [`--${name}=${value}`],
  );
}

type Json = Readonly<Record<string, unknown>>;

/** Fields that hold something: neither undefined nor an empty map or list. */
function filled(fields: Json): Json {
  const kept = Object.entries(fields).filter(
    ([, value]) =>
      value !== undefined &&
      !(typeof value === 'object' && value !== null && Object.keys(value).length === 0),
  );
  return Object.fromEntries(kept);
}

/**
 * The NodeConfig that nodeadm merges over the user's.
 * https://awslabs.github.io/amazon-eks-ami/nodeadm/doc/api/
 */
export function nodeConfig(node: NodeBootstrap): Json {
  const { cluster, kubelet, podsMax, taints, instanceStoreRaid } = node;
  const { other, ...settings } = kubelet;
  const config = filled({
    ...other,
    ...settings,
    maxPods: podsMax,
    registerWithTaints: taints.map(({ key, value, effect }) =>
      filled({ key, value: value === '' ? undefined : value, effect }),
    ),
  });
  const storage = { localStorage: { strategy: 'RAID0' } };
  return {
    apiVersion: 'node.eks.aws/v1alpha1',
    kind: 'NodeConfig',
    spec: {
      cluster: {
        name: cluster.name,
        apiServerEndpoint: cluster.endpoint,
        certificateAuthority: cluster.certificateAuthority,
        cidr: cluster.serviceCidr,
      },
      ...(instanceStoreRaid ? { instance: storage } : {}),
      kubelet: { config, flags: [`--node-labels=${pairs(node.labels)}`] },
    },
  };
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The call of AL2's bootstrap script.
 * https://awslabs.github.io/amazon-eks-ami/usage/al2/
 */
export function bootstrapScript(node: NodeBootstrap): string {
  const { cluster } = node;
  const words = [
    '/etc/eks/bootstrap.sh',
    shellQuoted(cluster.name),
    '--apiserver-endpoint',
    shellQuoted(cluster.endpoint),
    '--b64-cluster-ca',
    shellQuoted(cluster.certificateAuthority),
    '--dns-cluster-ip',
    shellQuoted(dnsAddress(node)),
    ...(cluster.ipFamily === 'ipv6' ? ['--ip-family', 'ipv6'] : []),
    ...(cluster.ipFamily === 'ipv6' ? ['--service-ipv6-cidr', cluster.serviceCidr] : []),
    '--use-max-pods',
    'false',
    ...(node.instanceStoreRaid ? ['--local-disks', 'raid0'] : []),
    '--kubelet-extra-args',
    shellQuoted(kubeletArguments(node).join(' ')),
  ];
  return `#!/bin/bash -xe\n${words.join(' ')}\n`;
}

function powershellQuoted(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/**
 * The call of the Windows images' bootstrap script.
 * https://docs.aws.amazon.com/eks/latest/userguide/eks-optimized-windows-ami.html
 */
export function windowsScript(node: NodeBootstrap): string {
  const { cluster } = node;
  const words = [
    '& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1"',
    `-EKSClusterName ${powershellQuoted(cluster.name)}`,
    `-APIServerEndpoint ${powershellQuoted(cluster.endpoint)}`,
    `-Base64ClusterCA ${powershellQuoted(cluster.certificateAuthority)}`,
    `-DNSClusterIP ${powershellQuoted(dnsAddress(node))}`,
    `-KubeletExtraArgs ${powershellQuoted(kubeletArguments(node).join(' '))}`,
  ];
  return words.join(' ');
}

const INSTANCE_STORAGE: Json = {
  commands: [
    ['apiclient', 'ephemeral-storage', 'init'],
    [
      'apiclient',
      'ephemeral-storage',
      'bind',
      '--dirs',
      '/var/lib/containerd',
      '/var/lib/kubelet',
      '/var/log/pods',
    ],
  ],
  essential: true,
  mode: 'always',
};

/** Bottlerocket keeps taints as `key → ["value:Effect", …]`. */
function taintTable(taints: readonly Taint[]): Json {
  const table: Record<string, string[]> = {};
  for (const { key, value, effect } of taints) {
    table[key] = [...(table[key] ?? []), `${value}:${effect}`];
  }
  return table;
}

/**
 * Tables of which nothing of the user's is kept where we have one: plans know the taints, and what
 * is reserved, of the claim and the class alone. Labels are merged, as Karpenter does.
 */
export const BOTTLEROCKET_WHOLE: ReadonlySet<string> = new Set([
  'node-taints',
  'system-reserved',
  'kube-reserved',
  'eviction-hard',
  'eviction-soft',
  'eviction-soft-grace-period',
]);

/**
 * Settings that are laid over the user's.
 * https://bottlerocket.dev/en/os/latest/#/api/settings/kubernetes/
 */
export function bottlerocketSettings(node: NodeBootstrap): Json {
  const { cluster, kubelet } = node;
  const kubernetes = filled({
    'cluster-name': cluster.name,
    'api-server': cluster.endpoint,
    'cluster-certificate': cluster.certificateAuthority,
    'cluster-dns-ip': dnsAddress(node),
    'max-pods': node.podsMax,
    'node-labels': node.labels,
    'node-taints': taintTable(node.taints),
    'system-reserved': kubelet.systemReserved,
    'kube-reserved': kubelet.kubeReserved,
    'eviction-hard': kubelet.evictionHard,
    'eviction-soft': kubelet.evictionSoft,
    'eviction-soft-grace-period': kubelet.evictionSoftGracePeriod,
    'eviction-max-pod-grace-period': kubelet.evictionMaxPodGracePeriod,
    'image-gc-high-threshold-percent': kubelet.imageGCHighThresholdPercent?.toString(),
    'image-gc-low-threshold-percent': kubelet.imageGCLowThresholdPercent?.toString(),
    'cpu-cfs-quota-enforced': kubelet.cpuCFSQuota,
  });
  const commands = { '000-mount-instance-storage': INSTANCE_STORAGE };
  return {
    settings: {
      kubernetes,
      ...(node.instanceStoreRaid ? { 'bootstrap-commands': commands } : {}),
    },
  };
}
