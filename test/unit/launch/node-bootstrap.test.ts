import { describe, expect, it } from 'vitest';
import type { ClusterFacts } from '../../../shared/core/launch/cluster-facts.ts';
import { readKubelet } from '../../../shared/core/launch/kubelet.ts';
import {
  BOTTLEROCKET_WHOLE,
  bootstrapScript,
  bottlerocketSettings,
  dnsAddress,
  kubeletArguments,
  type NodeBootstrap,
  nodeConfig,
  pairs,
  registrationOf,
  taintList,
  windowsScript,
} from '../../../shared/core/launch/node-bootstrap.ts';

const IPV4: ClusterFacts = {
  name: 'demo',
  endpoint: 'https://demo',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.100.0.0/16',
  ipFamily: 'ipv4',
  kubernetesVersion: '1.33',
};
const IPV6: ClusterFacts = { ...IPV4, serviceCidr: 'fd12::/108', ipFamily: 'ipv6' };
const gpu = { key: 'gpu', value: 'yes', effect: 'NoSchedule' } as const;
const FULL = {
  podsPerCore: 4,
  systemReserved: { cpu: '100m', memory: '1Gi' },
  kubeReserved: { memory: '2Gi' },
  evictionHard: { 'memory.available': '5%' },
  evictionSoft: { 'memory.available': '10%' },
  evictionSoftGracePeriod: { 'memory.available': '1m' },
  evictionMaxPodGracePeriod: 60,
  imageGCHighThresholdPercent: 80,
  imageGCLowThresholdPercent: 50,
  cpuCFSQuota: false,
};

function bootstrap(
  kubelet: Readonly<Record<string, unknown>> = {},
  rest: Partial<NodeBootstrap> = {},
): NodeBootstrap {
  return {
    cluster: IPV4,
    kubelet: readKubelet(kubelet, 'AL2023').configuration,
    podsMax: 29,
    labels: { team: 'blue' },
    taints: [gpu],
    instanceStoreRaid: false,
    ...rest,
  };
}

describe('a node registers', () => {
  it('with its labels in order, its taints, and the taint that keeps pods away', () => {
    const { labels, taints } = registrationOf({ b: '1', a: '2' }, [gpu]);
    expect(Object.entries(labels)).toEqual([
      ['a', '2'],
      ['b', '1'],
      ['karpenter.sh/do-not-sync-taints', 'true'],
    ]);
    expect(taints).toEqual([
      gpu,
      { key: 'karpenter.sh/unregistered', value: '', effect: 'NoExecute' },
    ]);
  });
});

it('lists are written as the kubelet reads them', () => {
  expect(pairs({ a: '1', b: '' })).toBe('a=1,b=');
  expect(pairs({ a: '1' }, '<')).toBe('a<1');
  expect(pairs({})).toBe('');
  const taints = [gpu, { key: 'x', value: '', effect: 'NoExecute' }] as const;
  expect(taintList(taints)).toBe('gpu=yes:NoSchedule,x=:NoExecute');
});

it('DNS is the class’s own, else the cluster’s', () => {
  expect(dnsAddress(bootstrap())).toBe('10.100.0.10');
  expect(dnsAddress(bootstrap({}, { cluster: IPV6 }))).toBe('fd12::a');
  expect(dnsAddress(bootstrap({ clusterDNS: ['10.0.0.2', '10.0.0.3'] }))).toBe('10.0.0.2');
});

describe('the kubelet’s command line', () => {
  it('has what every node has', () => {
    expect(kubeletArguments(bootstrap())).toEqual([
      '--node-labels=team=blue',
      '--register-with-taints=gpu=yes:NoSchedule',
      '--max-pods=29',
    ]);
    expect(kubeletArguments(bootstrap({}, { labels: {}, taints: [] }))).toEqual(['--max-pods=29']);
  });

  it('has each setting', () => {
    expect(kubeletArguments(bootstrap(FULL)).slice(3)).toEqual([
      '--pods-per-core=4',
      '--system-reserved=cpu=100m,memory=1Gi',
      '--kube-reserved=memory=2Gi',
      '--eviction-hard=memory.available<5%',
      '--eviction-soft=memory.available<10%',
      '--eviction-soft-grace-period=memory.available=1m',
      '--eviction-max-pod-grace-period=60',
      '--image-gc-high-threshold=80',
      '--image-gc-low-threshold=50',
      '--cpu-cfs-quota=false',
    ]);
  });
});

describe('the NodeConfig', () => {
  it('has what every node has', () => {
    expect(nodeConfig(bootstrap())).toEqual({
      apiVersion: 'node.eks.aws/v1alpha1',
      kind: 'NodeConfig',
      spec: {
        cluster: {
          name: 'demo',
          apiServerEndpoint: 'https://demo',
          certificateAuthority: 'Q0E=',
          cidr: '10.100.0.0/16',
        },
        kubelet: {
          config: { maxPods: 29, registerWithTaints: [gpu] },
          flags: ['--node-labels=team=blue'],
        },
      },
    });
  });

  it('has each setting, fields of the kubelet’s own, and the array of local disks', () => {
    const taints = [{ key: 'x', value: '', effect: 'NoExecute' }] as const;
    const own = { clusterDNS: ['10.0.0.2'], topologyManagerPolicy: 'restricted', featureGates: {} };
    const config = nodeConfig(
      bootstrap({ ...FULL, ...own, systemReserved: {} }, { taints, instanceStoreRaid: true }),
    );
    expect(config).toHaveProperty('spec.instance', { localStorage: { strategy: 'RAID0' } });
    const { systemReserved: _, ...rest } = FULL;
    expect(config).toHaveProperty('spec.kubelet.config', {
      ...rest,
      clusterDNS: ['10.0.0.2'],
      topologyManagerPolicy: 'restricted',
      maxPods: 29,
      registerWithTaints: [{ key: 'x', effect: 'NoExecute' }],
    });
  });

  it('keeps a null of the user’s, and leaves out what is empty', () => {
    const node = bootstrap();
    const other = { a: null, b: [], c: {}, d: undefined, e: 0, f: '' };
    const config = nodeConfig({ ...node, kubelet: { ...node.kubelet, other }, taints: [] });
    expect(config).toHaveProperty('spec.kubelet.config', { a: null, e: 0, f: '', maxPods: 29 });
  });
});

describe('the bootstrap script', () => {
  it('of AL2', () => {
    expect(bootstrapScript(bootstrap())).toBe(
      "#!/bin/bash -xe\n/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://demo' " +
        "--b64-cluster-ca 'Q0E=' --dns-cluster-ip '10.100.0.10' --use-max-pods false " +
        "--kubelet-extra-args '--node-labels=team=blue " +
        "--register-with-taints=gpu=yes:NoSchedule --max-pods=29'\n",
    );
  });

  it('of AL2 with IPv6 and local disks', () => {
    const node = bootstrap({}, { cluster: IPV6, instanceStoreRaid: true, labels: {}, taints: [] });
    expect(bootstrapScript(node)).toBe(
      "#!/bin/bash -xe\n/etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://demo' " +
        "--b64-cluster-ca 'Q0E=' --dns-cluster-ip 'fd12::a' --ip-family ipv6 " +
        '--service-ipv6-cidr fd12::/108 --use-max-pods false --local-disks raid0 ' +
        "--kubelet-extra-args '--max-pods=29'\n",
    );
  });

  it('of Windows', () => {
    expect(windowsScript(bootstrap({ podsPerCore: 2 }, { labels: {}, taints: [] }))).toBe(
      '& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName \'demo\' ' +
        "-APIServerEndpoint 'https://demo' -Base64ClusterCA 'Q0E=' -DNSClusterIP '10.100.0.10' " +
        "-KubeletExtraArgs '--max-pods=29 --pods-per-core=2'",
    );
  });

  it('quotes what is quoted', () => {
    const node = bootstrap({}, { cluster: { ...IPV4, name: "a'b'c" } });
    expect(bootstrapScript(node)).toContain(" 'a'\\''b'\\''c' ");
    expect(windowsScript(node)).toContain(" 'a''b''c' ");
  });
});

describe('the settings of Bottlerocket', () => {
  it('are what every node has', () => {
    expect(bottlerocketSettings(bootstrap())).toEqual({
      settings: {
        kubernetes: {
          'cluster-name': 'demo',
          'api-server': 'https://demo',
          'cluster-certificate': 'Q0E=',
          'cluster-dns-ip': '10.100.0.10',
          'max-pods': 29,
          'node-labels': { team: 'blue' },
          'node-taints': { gpu: ['yes:NoSchedule'] },
        },
      },
    });
  });

  it('are each setting, and taints of one key together', () => {
    const taints = [gpu, { ...gpu, value: 'no', effect: 'NoExecute' }] as const;
    const { podsPerCore: _, ...settings } = FULL;
    const found = bottlerocketSettings(bootstrap(settings, { taints }));
    expect(found).toMatchObject({
      settings: {
        kubernetes: {
          'node-taints': { gpu: ['yes:NoSchedule', 'no:NoExecute'] },
          'system-reserved': { cpu: '100m', memory: '1Gi' },
          'kube-reserved': { memory: '2Gi' },
          'eviction-hard': { 'memory.available': '5%' },
          'eviction-soft': { 'memory.available': '10%' },
          'eviction-soft-grace-period': { 'memory.available': '1m' },
          'eviction-max-pod-grace-period': 60,
          'image-gc-high-threshold-percent': '80',
          'image-gc-low-threshold-percent': '50',
          'cpu-cfs-quota-enforced': false,
        },
      },
    });
  });

  it('are whole where plans go by them', () => {
    expect([...BOTTLEROCKET_WHOLE]).toEqual([
      'node-taints',
      'system-reserved',
      'kube-reserved',
      'eviction-hard',
      'eviction-soft',
      'eviction-soft-grace-period',
    ]);
  });

  it('bind the array of local disks', () => {
    expect(bottlerocketSettings(bootstrap({}, { instanceStoreRaid: true }))).toMatchObject({
      settings: {
        'bootstrap-commands': {
          '000-mount-instance-storage': {
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
          },
        },
      },
    });
  });
});
