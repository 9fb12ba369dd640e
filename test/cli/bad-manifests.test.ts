import { describe, expect, it } from 'vitest';
import {
  CAPACITY_BUFFER,
  DEPLOYMENT,
  DISRUPTION_BUDGET,
  NODE_CLASS,
  NODE_OVERLAY,
  NODE_POOL,
  POD,
  PRIORITY_CLASS,
  STORAGE_CLASS,
} from './manifests.ts';
import { inFolder, joiner } from './run.ts';

const WORLD = {
  NodePool: NODE_POOL,
  EC2NodeClass: NODE_CLASS,
  NodeOverlay: NODE_OVERLAY,
  CapacityBuffer: CAPACITY_BUFFER,
  Deployment: DEPLOYMENT,
  Pod: POD,
  PodDisruptionBudget: DISRUPTION_BUDGET,
  PriorityClass: PRIORITY_CLASS,
  StorageClass: STORAGE_CLASS,
};
type Kind = keyof typeof WORLD;

function filesWith(kind: Kind, text: string): Readonly<Record<string, string>> {
  const changed = Object.entries({ ...WORLD, [kind]: text });
  return Object.fromEntries(changed.map(([name, each]) => [`${name}.yaml`, each]));
}

interface Row {
  readonly what: string;
  readonly kind: Kind;
  /** A part of the valid object … */
  readonly from: string;
  /** … and what stands there instead. */
  readonly to: string;
  /** The field, the value, and what would be valid. */
  readonly says: string;
}

/** Bad input, one fault each: what is said names file, line, object, field, value and what is valid. */
function row(what: string, kind: Kind, from: string, to: string, says: string): Row {
  return { what, kind, from, to, says };
}

const OVERLAYS: readonly Row[] = [
  row(
    'both prices',
    'NodeOverlay',
    'priceAdjustment:',
    'price: "1"\n  priceAdjustment:',
    "spec cannot set both 'price' and 'priceAdjustment'",
  ),
  row(
    'an unsigned adjustment',
    'NodeOverlay',
    '"+10%"',
    '"10%"',
    'spec.priceAdjustment must be signed',
  ),
  row('an adjustment below -100 %', 'NodeOverlay', '"+10%"', '"-150%"', 'not "-150%"'),
  row('an adjustment in words', 'NodeOverlay', '"+10%"', 'half', 'not "half"'),
  row(
    'a number as adjustment',
    'NodeOverlay',
    '"+10%"',
    '0.1',
    'spec.priceAdjustment must be a string, not 0.1',
  ),
  row(
    'a negative price',
    'NodeOverlay',
    'priceAdjustment: "+10%"',
    'price: "-1"',
    'spec.price must be a price',
  ),
  row('a price with a unit', 'NodeOverlay', 'priceAdjustment: "+10%"', 'price: "$1"', 'not "$1"'),
  row(
    'capacity of cpu',
    'NodeOverlay',
    'example.com/slice',
    'cpu',
    'spec.capacity invalid resource restricted',
  ),
  row(
    'capacity of memory',
    'NodeOverlay',
    'example.com/slice',
    'memory',
    'spec.capacity invalid resource restricted',
  ),
  row(
    'a quantity that is none',
    'NodeOverlay',
    '"4"',
    'four',
    'spec.capacity.example.com/slice must be a quantity of at least 0',
  ),
  row('a negative quantity', 'NodeOverlay', '"4"', '"-4"', 'not "-4"'),
  row(
    'the hostname label',
    'NodeOverlay',
    'node.kubernetes.io/instance-type',
    'kubernetes.io/hostname',
    'spec.requirements[0].key label "kubernetes.io/hostname" is restricted',
  ),
  row(
    'a label of Karpenter’s own',
    'NodeOverlay',
    'node.kubernetes.io/instance-type',
    'karpenter.sh/registered',
    'label domain "karpenter.sh" is restricted',
  ),
  row(
    'a label only decided at launch',
    'NodeOverlay',
    'node.kubernetes.io/instance-type',
    'karpenter.k8s.aws/capacity-reservation-id',
    'label domain "karpenter.k8s.aws" is restricted',
  ),
  row('In without values', 'NodeOverlay', '      values: [m6i.large]\n', '', "'In'"),
  row('In with no value', 'NodeOverlay', '[m6i.large]', '[]', "'In'"),
  row('Gt with a name', 'NodeOverlay', '["1"]', '[many]', "'Gt'"),
  row(
    'a number as value',
    'NodeOverlay',
    '["1"]',
    '[1]',
    'spec.requirements[1].values[0] must be a string, not 1',
  ),
  row('an unknown operator', 'NodeOverlay', 'operator: In', 'operator: Within', 'not "Within"'),
  row(
    'no requirements',
    'NodeOverlay',
    '  requirements:',
    '  requirement:',
    'spec.requirements is required',
  ),
  row(
    'a weight of 0',
    'NodeOverlay',
    'weight: 10',
    'weight: 0',
    'spec.weight must be at least 1, not 0',
  ),
  row(
    'a weight above 10000',
    'NodeOverlay',
    'weight: 10',
    'weight: 10001',
    'spec.weight must be at most 10000, not 10001',
  ),
  row(
    'an unknown field',
    'NodeOverlay',
    'weight: 10',
    'prio: 10',
    'spec.prio is not a known field; valid: requirements, price',
  ),
];

const POOLS: readonly Row[] = [
  row(
    'another version',
    'NodePool',
    'karpenter.sh/v1',
    'karpenter.sh/v1beta1',
    'apiVersion must be karpenter.sh/v1, not "karpenter.sh/v1beta1"',
  ),
  row(
    'a kind that was removed',
    'NodePool',
    'kind: NodePool',
    'kind: Provisioner',
    '"Provisioner"',
  ),
  row('a kind in another case', 'NodePool', 'kind: NodePool', 'kind: Nodepool', '"Nodepool"'),
  row('no kind', 'NodePool', 'kind: NodePool\n', '', 'kind is required'),
  row('no version', 'NodePool', 'apiVersion: karpenter.sh/v1\n', '', 'apiVersion is required'),
  row('no name', 'NodePool', 'name: general', 'labels: {}', 'metadata.name is required'),
  row(
    'an unknown field',
    'NodePool',
    'weight: 10',
    'wieght: 10',
    'spec.wieght is not a known field; valid: template, disruption',
  ),
  row(
    'an unknown field far inside',
    'NodePool',
    'expireAfter',
    'expires',
    'spec.template.spec.expires is not a known field',
  ),
  row(
    'an unknown field at the top',
    'NodePool',
    'spec:\n  weight',
    'extra: 1\nspec:\n  weight',
    'extra is not a known field',
  ),
  row(
    'a weight above 100',
    'NodePool',
    'weight: 10',
    'weight: 101',
    'spec.weight must be at most 100, not 101',
  ),
  row(
    'minValues above the values given',
    'NodePool',
    'minValues: 2',
    'minValues: 3',
    "'minValues' must have at least that many values",
  ),
  row(
    'minValues above 50',
    'NodePool',
    'minValues: 2',
    'minValues: 51',
    'minValues must be at most 50, not 51',
  ),
  row('Gt with a name', 'NodePool', '["1"]', '[many]', "'Gt'"),
  row(
    'a restricted label',
    'NodePool',
    'key: karpenter.k8s.aws/instance-cpu',
    'key: karpenter.sh/nodepool',
    'label "karpenter.sh/nodepool" is restricted',
  ),
  row(
    'an unknown label of AWS',
    'NodePool',
    'karpenter.k8s.aws/instance-cpu',
    'karpenter.k8s.aws/instance-cpus',
    'label domain "karpenter.k8s.aws" is restricted',
  ),
  row(
    'a restricted template label',
    'NodePool',
    '        team: web',
    '        kubernetes.io/hostname: web',
    'spec.template.metadata.labels',
  ),
  row(
    'a template label that is none',
    'NodePool',
    '        team: web',
    '        team: "web & more"',
    'not "web & more"',
  ),
  row(
    'a budget above 100 %',
    'NodePool',
    '20%',
    '120%',
    'spec.disruption.budgets[0].nodes must be a count such as 3, or 0% to 100%, not "120%"',
  ),
  row(
    'a schedule without a duration',
    'NodePool',
    '        duration: 8h\n',
    '',
    "'schedule' must be set with 'duration'",
  ),
  row(
    'a schedule that is none',
    'NodePool',
    '"0 9 * * mon-fri"',
    'mornings',
    'must be a cron expression of five fields',
  ),
  row(
    'an unknown reason',
    'NodePool',
    '[Drifted]',
    '[Drift]',
    'must be one of Underutilized, Empty, Drifted, not "Drift"',
  ),
  row(
    'a duration that is none',
    'NodePool',
    '720h',
    '30d',
    'spec.template.spec.expireAfter must be a duration such as 720h, or Never, not "30d"',
  ),
  row(
    'an unknown policy',
    'NodePool',
    'WhenEmpty',
    'WhenIdle',
    'must be one of WhenEmpty, WhenEmptyOrUnderutilized, Balanced, not "WhenIdle"',
  ),
  row(
    'a negative limit',
    'NodePool',
    '"1000"',
    '"-1"',
    'spec.limits.cpu must be a quantity of at least 0',
  ),
  row(
    'an unknown taint effect',
    'NodePool',
    'NoSchedule',
    'Never',
    'spec.template.spec.taints[0].effect must be one of NoSchedule, PreferNoSchedule, NoExecute, not "Never"',
  ),
  row(
    'no class',
    'NodePool',
    'nodeClassRef',
    'nodeClass',
    'spec.template.spec.nodeClassRef is required',
  ),
  row(
    'a class that is absent',
    'NodePool',
    '        name: default',
    '        name: other',
    '"other"',
  ),
  row(
    'a static pool with a weight',
    'NodePool',
    '  limits:\n    cpu: "1000"',
    '  replicas: 2',
    "'weight' is not supported on static NodePools",
  ),
  row(
    'a static pool with a cpu limit',
    'NodePool',
    'weight: 10',
    'replicas: 2',
    "only 'limits.nodes' is supported on static NodePools",
  ),
];

const CLASSES: readonly Row[] = [
  row(
    'role and instanceProfile',
    'EC2NodeClass',
    'role: node-role',
    'role: node-role\n  instanceProfile: profile',
    "exactly one of ['role', 'instanceProfile']",
  ),
  row(
    'neither role nor instanceProfile',
    'EC2NodeClass',
    '  role: node-role\n',
    '',
    "exactly one of ['role', 'instanceProfile']",
  ),
  row(
    'an alias beside another term',
    'EC2NodeClass',
    'alias: al2023@latest',
    'alias: al2023@latest\n    - id: ami-0123456789abcdef0',
    'spec.amiSelectorTerms',
  ),
  row(
    'an alias with an id',
    'EC2NodeClass',
    'alias: al2023@latest',
    'alias: al2023@latest\n      id: ami-0123456789abcdef0',
    'spec.amiSelectorTerms',
  ),
  row(
    'an alias without a version',
    'EC2NodeClass',
    'al2023@latest',
    'al2023',
    'spec.amiSelectorTerms[0].alias',
  ),
  row(
    'an unknown family',
    'EC2NodeClass',
    'al2023@latest',
    'ubuntu@latest',
    'spec.amiSelectorTerms[0].alias',
  ),
  row(
    'no family',
    'EC2NodeClass',
    'alias: al2023@latest',
    'id: ami-0123456789abcdef0',
    'must specify amiFamily',
  ),
  row(
    'an image id that is none',
    'EC2NodeClass',
    'alias: al2023@latest',
    'id: image-1',
    'spec.amiSelectorTerms[0].id',
  ),
  row(
    'no subnet term',
    'EC2NodeClass',
    'subnetSelectorTerms:\n    - tags:\n        team: web',
    'subnetSelectorTerms: []',
    'spec.subnetSelectorTerms',
  ),
  row(
    'a subnet term with nothing in it',
    'EC2NodeClass',
    'subnetSelectorTerms:\n    - tags:\n        team: web',
    'subnetSelectorTerms:\n    - {}',
    'spec.subnetSelectorTerms',
  ),
  row(
    'a restricted tag',
    'EC2NodeClass',
    '  tags:\n    team: web',
    '  tags:\n    karpenter.sh/nodepool: web',
    'spec.tags',
  ),
  row('negative maxPods', 'EC2NodeClass', '110', '-1', 'spec.kubelet.maxPods'),
  row(
    'a volume size that is none',
    'EC2NodeClass',
    '100Gi',
    'big',
    'spec.blockDeviceMappings[0].ebs.volumeSize',
  ),
  row(
    'an unknown token setting',
    'EC2NodeClass',
    'httpTokens: required',
    'httpTokens: never',
    'spec.metadataOptions.httpTokens must be one of required, optional, not "never"',
  ),
];

const REST: readonly Row[] = [
  row(
    'a quantity that is none',
    'Pod',
    '500m',
    'half',
    'spec.containers[0].resources.requests.cpu must be a quantity such as 500m or 2Gi, not "half"',
  ),
  row('a negative quantity', 'Pod', '500m', '-500m', 'must not be negative, but is "-500m"'),
  row(
    'containers that are no list',
    'Pod',
    'containers:\n    - name: single',
    'containers:\n      name: single',
    'spec.containers must be a list',
  ),
  row(
    'negative replicas',
    'Deployment',
    'replicas: 2',
    'replicas: -2',
    'spec.replicas must be a whole number of at least 0',
  ),
  row(
    'a negative quantity',
    'Deployment',
    '1Gi',
    '-1Gi',
    'spec.template.spec.containers[0].resources.requests.memory must not be negative',
  ),
  row(
    'an unknown toleration operator',
    'Deployment',
    'operator: Equal',
    'operator: Like',
    'spec.template.spec.tolerations[0].operator',
  ),
  row(
    'a skew of 0',
    'Deployment',
    'maxSkew: 1',
    'maxSkew: 0',
    'spec.template.spec.topologySpreadConstraints[0].maxSkew must be at least 1, not 0',
  ),
  row(
    'a port out of range',
    'Deployment',
    '8080',
    '80800',
    'hostPort must be between 0 and 65535, not 80800',
  ),
  row(
    'a share that is none',
    'PodDisruptionBudget',
    'maxUnavailable: 1',
    'maxUnavailable: some',
    'spec.maxUnavailable must be a number or a percentage such as 25%, not "some"',
  ),
  row(
    'a priority in words',
    'PriorityClass',
    'value: 1000',
    'value: high',
    'value must be an integer, not "high"',
  ),
  row(
    'an unknown binding mode',
    'StorageClass',
    'WaitForFirstConsumer',
    'Later',
    'volumeBindingMode must be one of Immediate, WaitForFirstConsumer, not "Later"',
  ),
  row(
    'two targets',
    'CapacityBuffer',
    'replicas: 2',
    'replicas: 2\n  podTemplateRef:\n    name: web',
    "exactly one of ['podTemplateRef', 'scalableRef']",
  ),
  row(
    'an unknown field',
    'CapacityBuffer',
    'replicas: 2',
    'count: 2',
    'spec.count is not a known field; valid:',
  ),
  row(
    'negative replicas',
    'CapacityBuffer',
    'replicas: 2',
    'replicas: -2',
    'spec.replicas must be at least 0, not -2',
  ),
];

describe('manifests that are refused', () => {
  it('the manifests that the rows change are accepted as they are', async () => {
    const answer = await inFolder(filesWith('Pod', POD), (folder) =>
      joiner('simulate', folder, '--duration', '1m'),
    );
    expect(answer).toMatchObject({ exitCode: 0 });
  });

  it.each([...OVERLAYS, ...POOLS, ...CLASSES, ...REST])('$kind: $what', async (each) => {
    const { kind, from, to, says } = each;
    expect(WORLD[kind]).toContain(from);
    const files = filesWith(kind, WORLD[kind].replace(from, to));
    const answer = await inFolder(files, (folder) =>
      joiner('simulate', folder, '--duration', '1m'),
    );
    expect(answer).toMatchObject({ exitCode: 2, stdout: '' });
    const lines = answer.stderr.split('\n').filter((line) => line.includes(says));
    expect(lines, answer.stderr).not.toHaveLength(0);
    expect(lines[0]).toMatch(placeOf(kind, nameIn(files[`${kind}.yaml`] ?? '')));
    expect(answer.stderr).not.toMatch(/ {4}at /);
  });
});

function nameIn(text: string): string {
  return /^metadata:\n {2}name: (\S+)/m.exec(text)?.[1] ?? '?';
}

/** File, line and object, before the field. */
function placeOf(kind: string, name: string): RegExp {
  return new RegExp(`^error: \\S+/${kind}\\.yaml:1: [\\w?]+/${name.replace('?', '\\?')}: `);
}
