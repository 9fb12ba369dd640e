import { parse as parseToml } from 'smol-toml';
import { describe, expect, it } from 'vitest';
import { parse as parseYaml } from 'yaml';
import { contentType, readMultipart } from '../../../shared/aws/user-data/mime.ts';
import { USER_DATA_BYTES_MAX, userData } from '../../../shared/aws/user-data/user-data.ts';
import type { ClusterFacts } from '../../../shared/core/launch/cluster-facts.ts';
import { readKubelet } from '../../../shared/core/launch/kubelet.ts';
import { type NodeBootstrap, registrationOf } from '../../../shared/core/launch/node-bootstrap.ts';
import type { ImageFamily } from '../../../shared/core/model/node-class.ts';

const IPV4: ClusterFacts = {
  name: 'demo',
  endpoint: 'https://ABC.eks.amazonaws.com',
  certificateAuthority: 'Q0E=',
  serviceCidr: '10.100.0.0/16',
  ipFamily: 'ipv4',
  kubernetesVersion: '1.33',
};
const IPV6: ClusterFacts = { ...IPV4, serviceCidr: 'fd12:3456::/108', ipFamily: 'ipv6' };

interface Case {
  readonly family: ImageFamily;
  readonly cluster?: ClusterFacts;
  readonly user?: string;
  readonly kubelet?: Readonly<Record<string, unknown>>;
  readonly raid?: boolean;
}

function nodeOf({ family, cluster = IPV4, kubelet = {}, raid = false }: Case): NodeBootstrap {
  return {
    cluster,
    kubelet: readKubelet(kubelet, family).configuration,
    podsMax: 29,
    instanceStoreRaid: raid,
    ...registrationOf({ team: 'blue' }, [{ key: 'gpu', value: 'yes', effect: 'NoSchedule' }]),
  };
}

function rendered(given: Case): string {
  return userData(given.family, given.user, nodeOf(given));
}

/** Contents by type, in order. */
function partsOf(text: string): readonly (readonly [string, string])[] {
  const reading = readMultipart(text);
  if (!reading.ok) throw new Error(reading.message);
  return reading.parts.map((part) => [contentType(part), part.content.trim()]);
}

describe('AL2', () => {
  it('runs the bootstrap script', () => {
    expect(rendered({ family: 'AL2' })).toMatchInlineSnapshot(`
      "MIME-Version: 1.0
      Content-Type: multipart/mixed; boundary="//"

      --//
      Content-Type: text/x-shellscript; charset="us-ascii"

      #!/bin/bash -xe
      /etc/eks/bootstrap.sh 'demo' --apiserver-endpoint 'https://ABC.eks.amazonaws.com' --b64-cluster-ca 'Q0E=' --dns-cluster-ip '10.100.0.10' --use-max-pods false --kubelet-extra-args '--node-labels=karpenter.sh/do-not-sync-taints=true,team=blue --register-with-taints=gpu=yes:NoSchedule,karpenter.sh/unregistered=:NoExecute --max-pods=29'

      --//--
      "
    `);
  });

  it('puts the script last, after what the user brings', () => {
    const user = '#!/bin/bash\necho first\n';
    const parts = partsOf(rendered({ family: 'AL2', user }));
    expect(parts[0]).toEqual(['text/x-shellscript', '#!/bin/bash\necho first']);
    expect(parts[1]?.[1]).toContain('/etc/eks/bootstrap.sh');
  });

  it('passes IPv6, local disks and every kubelet setting on', () => {
    const [[, script] = []] = partsOf(
      rendered({
        family: 'AL2',
        cluster: IPV6,
        raid: true,
        kubelet: {
          clusterDNS: ['fd12:3456::bb'],
          podsPerCore: 2,
          kubeReserved: { cpu: '100m', memory: '1Gi' },
          systemReserved: { pid: '100' },
          evictionHard: { 'memory.available': '5%' },
          evictionSoft: { 'nodefs.available': '10%' },
          evictionSoftGracePeriod: { 'nodefs.available': '1m' },
          evictionMaxPodGracePeriod: 60,
          imageGCHighThresholdPercent: 80,
          imageGCLowThresholdPercent: 60,
          cpuCFSQuota: false,
        },
      }),
    );
    expect(script?.split(/ (?=--)/).slice(3)).toMatchInlineSnapshot(`
      [
        "--dns-cluster-ip 'fd12:3456::bb'",
        "--ip-family ipv6",
        "--service-ipv6-cidr fd12:3456::/108",
        "--use-max-pods false",
        "--local-disks raid0",
        "--kubelet-extra-args '--node-labels=karpenter.sh/do-not-sync-taints=true,team=blue",
        "--register-with-taints=gpu=yes:NoSchedule,karpenter.sh/unregistered=:NoExecute",
        "--max-pods=29",
        "--pods-per-core=2",
        "--system-reserved=pid=100",
        "--kube-reserved=cpu=100m,memory=1Gi",
        "--eviction-hard=memory.available<5%",
        "--eviction-soft=nodefs.available<10%",
        "--eviction-soft-grace-period=nodefs.available=1m",
        "--eviction-max-pod-grace-period=60",
        "--image-gc-high-threshold=80",
        "--image-gc-low-threshold=60",
        "--cpu-cfs-quota=false'",
      ]
    `);
  });
});

describe('AL2023', () => {
  it('appends our NodeConfig', () => {
    expect(rendered({ family: 'AL2023' })).toMatchInlineSnapshot(`
      "MIME-Version: 1.0
      Content-Type: multipart/mixed; boundary="//"

      --//
      Content-Type: application/node.eks.aws

      apiVersion: "node.eks.aws/v1alpha1"
      kind: "NodeConfig"
      spec:
        cluster:
          name: "demo"
          apiServerEndpoint: "https://ABC.eks.amazonaws.com"
          certificateAuthority: "Q0E="
          cidr: "10.100.0.0/16"
        kubelet:
          config:
            maxPods: 29
            registerWithTaints:
              - key: "gpu"
                value: "yes"
                effect: "NoSchedule"
              - key: "karpenter.sh/unregistered"
                effect: "NoExecute"
          flags:
            - "--node-labels=karpenter.sh/do-not-sync-taints=true,team=blue"

      --//--
      "
    `);
  });

  it.each([
    ['a script', '#!/bin/bash\necho hi', 'text/x-shellscript'],
    ['a script without a first line', 'echo hi', 'text/x-shellscript'],
    [
      'a NodeConfig',
      'apiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig',
      'application/node.eks.aws',
    ],
    ['one as JSON', '{"apiVersion": "node.eks.aws/v1alpha1"}', 'application/node.eks.aws'],
    ['one that ends in ---', 'apiVersion: node.eks.aws/v1\n---', 'application/node.eks.aws'],
  ])('puts %s first', (_, user, type) => {
    const parts = partsOf(rendered({ family: 'AL2023', user }));
    expect(parts.map(([each]) => each)).toEqual([type, 'application/node.eks.aws']);
    expect(parts[0]?.[1]).toBe(user);
  });

  it('keeps the parts of a multipart message as they are', () => {
    const user = [
      'Content-Type: multipart/mixed;',
      ' boundary=OWN',
      'MIME-Version: 1.0',
      '',
      'what stands before the first part is no part',
      '--OWN',
      'Content-Type: text/x-shellscript',
      'Content-Transfer-Encoding: base64',
      'Content-Disposition: attachment; filename="a.sh"',
      '',
      'ZWNobyBoaQo=',
      '--OWNER is no delimiter',
      '--OWN',
      'Content-Type: application/node.eks.aws',
      '',
      'apiVersion: node.eks.aws/v1alpha1',
      '--OWN--',
      'nor is what stands after the last',
    ].join('\r\n');
    const text = rendered({ family: 'AL2023', user });
    expect(text).toContain(
      [
        '--//',
        'Content-Type: text/x-shellscript',
        'Content-Transfer-Encoding: base64',
        'Content-Disposition: attachment; filename="a.sh"',
        '',
        'ZWNobyBoaQo=',
        '--OWNER is no delimiter',
        '',
      ].join('\n'),
    );
    expect(text).not.toContain('no part');
    expect(text).not.toContain('nor is');
    expect(partsOf(text)).toHaveLength(3);
  });

  it('does not look into an encoded NodeConfig', () => {
    const headers = 'Content-Type: application/node.eks.aws\nContent-Transfer-Encoding: base64';
    const user = `Content-Type: multipart/mixed; boundary=B\n\n--B\n${headers}\n\neDogMQ==\n--B--\n`;
    expect(rendered({ family: 'AL2023', user })).toContain(`${headers}\n\neDogMQ==\n`);
  });

  it('takes another boundary when a part holds ours', () => {
    const user = '#!/bin/bash\ncat <<X\n--//\nX\n';
    const text = rendered({ family: 'AL2023', user });
    expect(text).toContain('boundary="///"');
    expect(partsOf(text)[0]?.[1]).toBe(user.trim());
  });

  it('writes kubelet fields of any name, and the array of local disks', () => {
    const kubelet = { featureGates: { X: true }, clusterDNS: ['10.0.0.1', '10.0.0.2'], maxPods: 8 };
    const parts = partsOf(rendered({ family: 'AL2023', cluster: IPV6, raid: true, kubelet }));
    const config = parseYaml(parts[0]?.[1] ?? '');
    expect(config.spec.cluster.cidr).toBe('fd12:3456::/108');
    expect(config.spec.instance).toEqual({ localStorage: { strategy: 'RAID0' } });
    // The number of pods is decided by type, from maxPods among others.
    expect(config.spec.kubelet.config).toMatchObject({ ...kubelet, maxPods: 29 });
  });
});

describe('Bottlerocket', () => {
  it('writes settings', () => {
    expect(rendered({ family: 'Bottlerocket' })).toMatchInlineSnapshot(`
      "[settings.kubernetes]
      cluster-name = "demo"
      api-server = "https://ABC.eks.amazonaws.com"
      cluster-certificate = "Q0E="
      cluster-dns-ip = "10.100.0.10"
      max-pods = 29

      [settings.kubernetes.node-labels]
      "karpenter.sh/do-not-sync-taints" = "true"
      team = "blue"

      [settings.kubernetes.node-taints]
      gpu = [ "yes:NoSchedule" ]
      "karpenter.sh/unregistered" = [ ":NoExecute" ]
      "
    `);
  });

  it('lays them over the settings of the user', () => {
    const user = [
      '[settings.kubernetes]',
      'cluster-name = "another"',
      'allowed-unsafe-sysctls = ["net.*"]',
      'cpu-manager-reconcile-period = "5s"',
      'ratio = 1.0',
      '[settings.kubernetes.node-labels]',
      'mine = "kept"',
      'team = "red"',
      '[settings.kernel.sysctl]',
      '"user.max_user_namespaces" = "16384"',
      '[settings.since]',
      'day = 2026-01-01',
      'count = 9007199254740993',
    ].join('\n');
    const text = rendered({ family: 'Bottlerocket', user });
    expect(parseToml(text, { integersAsBigInt: true })).toMatchObject({
      settings: {
        kubernetes: {
          'cluster-name': 'demo',
          'allowed-unsafe-sysctls': ['net.*'],
          'node-labels': { mine: 'kept', team: 'blue' },
        },
        kernel: { sysctl: { 'user.max_user_namespaces': '16384' } },
      },
    });
    // Numbers and dates stay what they were.
    expect(text).toMatch(/^ratio = 1\.0$/m);
    expect(text).toMatch(/^day = 2026-01-01$/m);
    expect(text).toMatch(/^count = 9007199254740993$/m);
  });

  it('binds instance storage, and passes kubelet settings', () => {
    const kubelet = { clusterDNS: ['10.0.0.1'], evictionHard: { 'memory.available': '5%' } };
    const toml = parseToml(rendered({ family: 'Bottlerocket', raid: true, kubelet }));
    expect(toml).toMatchObject({
      settings: {
        kubernetes: {
          'cluster-dns-ip': '10.0.0.1',
          'eviction-hard': { 'memory.available': '5%' },
        },
        'bootstrap-commands': {
          '000-mount-instance-storage': { essential: true, mode: 'always' },
        },
      },
    });
  });
});

describe('Windows', () => {
  it.each(['Windows2019', 'Windows2022', 'Windows2025'] as const)('%s starts EKS', (family) => {
    const user = 'Write-Host first';
    expect(rendered({ family, user })).toBe(
      [
        '<powershell>',
        'Write-Host first',
        '& "$env:ProgramFiles\\Amazon\\EKS\\Start-EKSBootstrap.ps1" -EKSClusterName \'demo\'' +
          " -APIServerEndpoint 'https://ABC.eks.amazonaws.com' -Base64ClusterCA 'Q0E='" +
          " -DNSClusterIP '10.100.0.10' -KubeletExtraArgs " +
          "'--node-labels=karpenter.sh/do-not-sync-taints=true,team=blue" +
          ' --register-with-taints=gpu=yes:NoSchedule,karpenter.sh/unregistered=:NoExecute' +
          " --max-pods=29'",
        '</powershell>',
        '',
      ].join('\n'),
    );
  });

  it('takes the tags off what the user brings', () => {
    const user = '<powershell>\nWrite-Host first\n</powershell>\n';
    const text = rendered({ family: 'Windows2022', user });
    expect(text).toBe(rendered({ family: 'Windows2022', user: 'Write-Host first' }));
  });
});

describe('Custom', () => {
  it.each(['', 'anything at all', 'MIME-Version: 1.0'])('passes on %j unchanged', (user) => {
    expect(rendered({ family: 'Custom', user })).toBe(user);
  });
});

describe('refused', () => {
  const long = `#!/bin/bash\n${'x'.repeat(USER_DATA_BYTES_MAX)}`;
  it.each<readonly [string, Case, string, RegExp]>([
    [
      'a message without a boundary',
      { family: 'AL2', user: 'MIME-Version: 1.0\n\nx' },
      'InvalidUserData',
      /boundary/,
    ],
    [
      'a message that does not end',
      { family: 'AL2023', user: 'Content-Type: multipart/mixed; boundary="B"\n\n--B\n\nx\n' },
      'InvalidUserData',
      /does not end with the line --B--/,
    ],
    [
      'a NodeConfig that is not YAML',
      { family: 'AL2023', user: 'apiVersion: node.eks.aws/v1alpha1\nspec: [' },
      'InvalidUserData',
      /NodeConfig is not YAML/,
    ],
    [
      'two documents at once',
      { family: 'AL2023', user: 'apiVersion: node.eks.aws/v1alpha1\n---\nkind: NodeConfig' },
      'InvalidUserData',
      /several YAML documents/,
    ],
    [
      'a part that is no NodeConfig',
      {
        family: 'AL2023',
        user: 'Content-Type: multipart/mixed; boundary=B\n\n--B\nContent-Type: application/node.eks.aws\n\nkind: Pod\n--B--',
      },
      'InvalidUserData',
      /no apiVersion/,
    ],
    ['broken TOML', { family: 'Bottlerocket', user: 'a = ' }, 'InvalidUserData', /not TOML/],
    [
      'TOML that reaches for the prototype',
      { family: 'Bottlerocket', user: '[__proto__]\na = 1' },
      'InvalidUserData',
      /not TOML/,
    ],
    [
      'a Windows batch script',
      { family: 'Windows2022', user: '<script>dir</script>' },
      'InvalidUserData',
      /PowerShell/,
    ],
    ['Windows with IPv6', { family: 'Windows2022', cluster: IPV6 }, 'UnsupportedIpFamily', /IPv4/],
    ['more than EC2 takes', { family: 'AL2023', user: long }, 'UserDataSizeLimitExceeded', /16384/],
    ['so for Custom', { family: 'Custom', user: long }, 'UserDataSizeLimitExceeded', /16384/],
  ])('%s', (_, given, code, message) => {
    expect(() => rendered(given)).toThrow(
      expect.objectContaining({ code, message: expect.stringMatching(message) }),
    );
  });

  it('nothing of exactly the size that EC2 takes', () => {
    const user = 'x'.repeat(USER_DATA_BYTES_MAX);
    expect(rendered({ family: 'Custom', user })).toBe(user);
    expect(() => rendered({ family: 'Custom', user: `${user.slice(1)}é` })).toThrow(/16385/);
  });
});
