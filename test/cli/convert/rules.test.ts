import { describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { valueAt } from '../../../shared/sim/json.ts';
import { inFolder, joiner } from '../run.ts';

const PROVISIONER = `apiVersion: karpenter.sh/v1alpha5
kind: Provisioner
metadata: {name: a}
spec: {providerRef: {name: a}, FIELDS}
`;
const NODE_TEMPLATE = `apiVersion: karpenter.k8s.aws/v1alpha1
kind: AWSNodeTemplate
metadata: {name: a}
spec: {subnetSelector: {a: b}, securityGroupSelector: {a: b}, FIELDS}
`;
const NODE_POOL = `apiVersion: karpenter.sh/v1beta1
kind: NodePool
metadata: {name: a}
spec: {template: {spec: {requirements: [], nodeClassRef: {name: a}}}, FIELDS}
`;
const NODE_CLASS = `apiVersion: karpenter.k8s.aws/v1beta1
kind: EC2NodeClass
metadata: {name: a}
spec:
  {role: r, subnetSelectorTerms: [{id: subnet-0a}],
   securityGroupSelectorTerms: [{id: sg-0a}], FIELDS}
`;

async function converted(text: string, fields: string) {
  const files = { 'a.yaml': text.replace('FIELDS', fields) };
  const { exitCode, stdout, stderr } = await inFolder(files, (folder) =>
    joiner('convert', `${folder}/a.yaml`),
  );
  const [first] = parseAllDocuments(stdout).map((each): unknown => each.toJS());
  return { exitCode, stderr, spec: valueAt(first, 'spec') };
}

const AT = (path: string): readonly string[] => path.split('.');

/** What is written, the field of v1, its value, and words of the note, if there is one. */
type Rule = readonly [fields: string, path: string, value: unknown, note?: string];

async function follows(text: string, [fields, path, value, note]: Rule): Promise<void> {
  const { exitCode, stderr, spec } = await converted(text, fields);
  expect(exitCode, stderr).toBe(0);
  expect(valueAt(spec, ...AT(path))).toEqual(value);
  const field = note?.split(': ')[0] ?? fields.split(':')[0];
  const lines = stderr.split('\n').filter((line) => line.includes(`: ${field}`));
  if (note === undefined)
    expect(lines.filter((line) => line.includes(`: spec.${field}:`))).toEqual([]);
  else
    expect(
      lines.some((line) => line.includes(note)),
      stderr,
    ).toBe(true);
}

function table(text: string, rules: readonly Rule[]): void {
  it.each(rules.map((rule) => ({ rule, what: `${rule[0]} → ${rule[1]}` })))('$what', ({ rule }) =>
    follows(text, rule),
  );
}

describe('a Provisioner', () => {
  table(PROVISIONER, [
    ['labels: {a: b}', 'template.metadata.labels', { a: 'b' }],
    [
      'labels: {beta.kubernetes.io/os: linux}',
      'template.metadata.labels',
      { 'kubernetes.io/os': 'linux' },
    ],
    ['annotations: {a: b}', 'template.metadata.annotations', { a: 'b' }],
    [
      'annotations: {karpenter.sh/do-not-evict: "true"}',
      'template.metadata.annotations',
      { 'karpenter.sh/do-not-disrupt': 'true' },
      'spec.annotations.karpenter.sh/do-not-evict: "true": written as',
    ],
    [
      'taints: [{key: a, effect: NoSchedule}]',
      'template.spec.taints',
      [{ key: 'a', effect: 'NoSchedule' }],
    ],
    [
      'startupTaints: [{key: a, value: b, effect: NoExecute}]',
      'template.spec.startupTaints',
      [{ key: 'a', value: 'b', effect: 'NoExecute' }],
    ],
    ['taints: []', 'template.spec.taints', undefined],
    [
      'weight: 7',
      'template.spec.nodeClassRef',
      { group: 'karpenter.k8s.aws', kind: 'EC2NodeClass', name: 'a' },
    ],
    ['weight: 7', 'weight', 7],
    ['limits: {resources: {cpu: 10, memory: 1.5Ti}}', 'limits', { cpu: 10, memory: '1.5Ti' }],
    ['limits: {}', 'limits', undefined],
    [
      'consolidation: {enabled: true}',
      'disruption',
      { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' },
    ],
    [
      'consolidation: {enabled: false}',
      'disruption',
      { consolidationPolicy: 'WhenEmpty', consolidateAfter: 'Never' },
      'spec.consolidation: not given',
    ],
    [
      'ttlSecondsAfterEmpty: 0',
      'disruption',
      { consolidationPolicy: 'WhenEmpty', consolidateAfter: '0s' },
    ],
    ['ttlSecondsAfterEmpty: 120', 'disruption.consolidateAfter', '2m'],
    [
      'ttlSecondsAfterEmpty: 30, consolidation: {enabled: false}',
      'disruption.consolidateAfter',
      '30s',
    ],
    ['weight: 1', 'template.spec.expireAfter', 'Never', 'spec.ttlSecondsUntilExpired: not given'],
    [
      'ttlSecondsUntilExpired: 604800',
      'template.spec.expireAfter',
      '168h',
      'spec.ttlSecondsUntilExpired: 604800: v1 drains',
    ],
    ['weight: 1', 'template.metadata', undefined, 'spec: v1 also replaces nodes that have drifted'],
    [
      'kubeletConfiguration: {maxPods: 9}',
      'template.spec.kubelet',
      undefined,
      'spec.kubeletConfiguration: left out: v1 has it in the class, and EC2NodeClass/a',
    ],
  ]);

  const OS = { key: 'kubernetes.io/os', operator: 'In', values: ['linux'] };
  const ARCH = { key: 'kubernetes.io/arch', operator: 'In', values: ['amd64'] };
  const CAPACITY = { key: 'karpenter.sh/capacity-type', operator: 'In', values: ['on-demand'] };
  const CATEGORY = {
    key: 'karpenter.k8s.aws/instance-category',
    operator: 'In',
    values: ['c', 'm', 'r'],
  };
  const GENERATION = {
    key: 'karpenter.k8s.aws/instance-generation',
    operator: 'Gt',
    values: ['2'],
  };

  it.each([
    ['none', [], [OS, ARCH, CAPACITY, CATEGORY, GENERATION]],
    ['beta.kubernetes.io/os', ['windows'], [ARCH, CAPACITY, CATEGORY, GENERATION]],
    ['kubernetes.io/arch', ['arm64'], [OS, CAPACITY, CATEGORY, GENERATION]],
    ['karpenter.sh/capacity-type', ['spot'], [OS, ARCH, CATEGORY, GENERATION]],
    ['node.kubernetes.io/instance-type', ['m6i.large'], [OS, ARCH, CAPACITY]],
    ['karpenter.k8s.aws/instance-family', ['m6i'], [OS, ARCH, CAPACITY]],
    ['karpenter.k8s.aws/instance-generation', ['6'], [OS, ARCH, CAPACITY]],
    [
      'failure-domain.beta.kubernetes.io/zone',
      ['us-east-1a'],
      [OS, ARCH, CAPACITY, CATEGORY, GENERATION],
    ],
  ])('that asks for %s gets what v1alpha5 added', async (key, values, added) => {
    const list = key === 'none' ? [] : [{ key, operator: 'In', values }];
    const fields = `requirements: ${JSON.stringify(list)}`;
    const { spec, stderr } = await converted(PROVISIONER, fields);
    const requirements = valueAt(spec, 'template', 'spec', 'requirements');
    const current: Readonly<Record<string, string>> = {
      'beta.kubernetes.io/os': 'kubernetes.io/os',
      'failure-domain.beta.kubernetes.io/zone': 'topology.kubernetes.io/zone',
    };
    const own = list.map((each) => ({ ...each, key: current[key] ?? key }));
    expect(requirements).toEqual([...own, ...added]);
    for (const each of added)
      expect(stderr).toContain(`spec.requirements: ${each.key} ${each.operator}`);
  });
});

const alias = (name: string) => [{ alias: `${name}@latest` }];

const TEMPLATE_RULES: readonly Rule[] = [
  ['tags: {}', 'amiSelectorTerms', alias('al2'), 'spec.amiFamily: al2@latest: EKS has no'],
  ['amiFamily: Bottlerocket', 'amiSelectorTerms', alias('bottlerocket')],
  ['amiFamily: Windows2022', 'amiSelectorTerms', alias('windows2022')],
  ['amiFamily: Bottlerocket', 'amiFamily', undefined],
  ['amiFamily: Custom, amiSelector: {aws-ids: ami-0a}', 'amiFamily', 'Custom'],
  [
    'amiSelector: {aws-ids: "ami-0a, ami-0b"}',
    'amiSelectorTerms',
    [{ id: 'ami-0a' }, { id: 'ami-0b' }],
  ],
  ['amiSelector: {aws-ids: ami-0a}', 'amiFamily', 'AL2'],
  [
    'amiSelector: {"aws::name": "a*,b", "aws::owners": "self,123456789012"}',
    'amiSelectorTerms',
    [
      { name: 'a*', owner: 'self' },
      { name: 'a*', owner: '123456789012' },
      { name: 'b', owner: 'self' },
      { name: 'b', owner: '123456789012' },
    ],
    'spec.amiSelector: v1 takes an image for every',
  ],
  [
    'amiSelector: {team: web, "aws::owners": self}',
    'amiSelectorTerms',
    [{ owner: 'self', tags: { team: 'web' } }],
    'spec.amiSelector: v1 takes an image for every',
  ],
  [
    'amiFamily: Ubuntu, amiSelector: {aws-ids: ami-0a}',
    'amiFamily',
    'AL2',
    'spec.amiFamily: "Ubuntu"',
  ],
  [
    'amiFamily: Ubuntu',
    'amiSelectorTerms',
    ['amd64', 'arm64'].map((arch) => ({
      ssmParameter: `/aws/service/canonical/ubuntu/eks/20.04/\${KUBERNETES_VERSION}/stable/current/${arch}/hvm/ebs-gp2/ami-id`,
    })),
    'spec.amiSelector: not given: v1 has no alias for Ubuntu',
  ],
  ['instanceProfile: p', 'instanceProfile', 'p'],
  ['instanceProfile: p', 'role', undefined],
  [
    'tags: {a: b}',
    'role',
    `\${KARPENTER_NODE_ROLE}`,
    'spec.instanceProfile: not given, and v1 needs',
  ],
  ['tags: {a: b}', 'tags', { a: 'b' }],
  ['userData: "a"', 'userData', 'a'],
  ['detailedMonitoring: true', 'detailedMonitoring', true],
  ['associatePublicIPAddress: false', 'associatePublicIPAddress', false],
  ['context: c', 'context', 'c'],
  ['context: c', 'subnetSelectorTerms', [{ tags: { a: 'b' } }]],
  [
    'blockDeviceMappings: [{deviceName: d, ebs: {volumeSize: 107374182400}}]',
    'blockDeviceMappings',
    [{ deviceName: 'd', ebs: { volumeSize: '100Gi' } }],
  ],
  [
    'blockDeviceMappings: [{deviceName: d, ebs: {volumeSize: 1.5Gi}}]',
    'blockDeviceMappings',
    [{ deviceName: 'd', ebs: { volumeSize: '2Gi' } }],
  ],
  [
    'context: c',
    'metadataOptions.httpPutResponseHopLimit',
    2,
    'spec.metadataOptions.httpPutResponseHopLimit: not given: 2 is',
  ],
  [
    'metadataOptions: {httpPutResponseHopLimit: 3}',
    'metadataOptions',
    {
      httpEndpoint: 'enabled',
      httpProtocolIPv6: 'disabled',
      httpPutResponseHopLimit: 3,
      httpTokens: 'optional',
    },
    'spec.metadataOptions.httpTokens: not given: optional is written',
  ],
];

describe('an AWSNodeTemplate', () => {
  table(NODE_TEMPLATE, TEMPLATE_RULES);
});

describe('a NodePool of v1beta1', () => {
  table(NODE_POOL, [
    ['weight: 3', 'weight', 3],
    [
      'weight: 3',
      'template.spec.expireAfter',
      '720h',
      'spec.disruption.expireAfter: not given, which is 720h: v1 drains',
    ],
    ['disruption: {expireAfter: Never}', 'template.spec.expireAfter', 'Never'],
    [
      'disruption: {}',
      'disruption',
      { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: '0s' },
    ],
    [
      'disruption: {consolidationPolicy: WhenUnderutilized, consolidateAfter: Never}',
      'disruption',
      { consolidationPolicy: 'WhenEmptyOrUnderutilized', consolidateAfter: 'Never' },
    ],
    [
      'disruption: {consolidationPolicy: WhenEmpty, consolidateAfter: 1h30m}',
      'disruption',
      { consolidationPolicy: 'WhenEmpty', consolidateAfter: '1h30m' },
    ],
    ['disruption: {budgets: [{nodes: "5"}]}', 'disruption.budgets', [{ nodes: '5' }]],
    ['limits: {cpu: "9"}', 'limits', { cpu: '9' }],
  ]);
});

describe('an EC2NodeClass of v1beta1', () => {
  table(NODE_CLASS, [
    ['amiFamily: AL2023', 'amiSelectorTerms', [{ alias: 'al2023@latest' }]],
    ['amiFamily: AL2023, amiSelectorTerms: []', 'amiSelectorTerms', [{ alias: 'al2023@latest' }]],
    ['amiFamily: Windows2019', 'amiSelectorTerms', [{ alias: 'windows2019@latest' }]],
    ['amiFamily: AL2023, amiSelectorTerms: [{id: ami-0a}]', 'amiFamily', 'AL2023'],
    ['amiFamily: Custom, amiSelectorTerms: [{id: ami-0a}]', 'amiSelectorTerms', [{ id: 'ami-0a' }]],
    ['amiFamily: AL2023', 'role', 'r'],
    [
      'amiFamily: AL2023, metadataOptions: {httpTokens: optional}',
      'metadataOptions.httpPutResponseHopLimit',
      2,
      'spec.metadataOptions.httpPutResponseHopLimit: not given: 2',
    ],
    [
      'amiFamily: AL2023, blockDeviceMappings: [{rootVolume: true, ebs: {volumeSize: 2T}}]',
      'blockDeviceMappings',
      [{ rootVolume: true, ebs: { volumeSize: '2T' } }],
    ],
  ]);
});

describe('kubelets', () => {
  const pool = (name: string, fields: string): string =>
    PROVISIONER.replace('{name: a}', `{name: ${name}}`).replace('FIELDS', fields);
  const kubelet = (maxPods: number): string => `kubeletConfiguration: {maxPods: ${maxPods}}`;

  async function classes(...pools: readonly string[]) {
    const text = [...pools, NODE_TEMPLATE.replace('FIELDS', 'instanceProfile: p')].join('---\n');
    const files = { 'a.yaml': text };
    const { stdout } = await inFolder(files, (folder) => joiner('convert', folder, '-o', 'json'));
    const { objects } = JSON.parse(stdout) as { objects: readonly unknown[] };
    const found = objects.map((each) => {
      const name = valueAt(each, 'metadata', 'name');
      const ref = valueAt(each, 'spec', 'template', 'spec', 'nodeClassRef', 'name');
      const most = valueAt(each, 'spec', 'kubelet', 'maxPods') ?? 'no kubelet';
      return ref === undefined ? `${name}: ${most}` : `${name} → ${ref}`;
    });
    return found.sort().join(', ');
  }

  it.each([
    ['one for all', [pool('x', kubelet(1)), pool('y', kubelet(1))], 'a: 1, x → a, y → a'],
    ['none', [pool('x', 'weight: 1')], 'a: no kubelet, x → a'],
    [
      'one of two pools',
      [pool('x', kubelet(1)), pool('y', 'weight: 1')],
      'a-x: 1, a: no kubelet, x → a-x, y → a',
    ],
    [
      'two, whatever the order',
      [pool('y', kubelet(2)), pool('x', kubelet(1)), pool('z', kubelet(2))],
      'a-y: 2, a: 1, x → a, y → a-y, z → a-y',
    ],
  ])('%s', async (_, pools, expected) => {
    expect(await classes(...pools)).toBe(expected);
    expect(await classes(...[...pools].reverse())).toBe(expected);
  });
});
