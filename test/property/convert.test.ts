import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Conversion, convert } from '../../cli/convert/convert.ts';
import { type Manifest, nameOf } from '../../cli/manifests.ts';
import { decodeEC2NodeClass } from '../../shared/api/ec2-node-class.ts';
import { decodeNodePool } from '../../shared/api/node-pool.ts';
import type { Json } from '../../shared/sim/json.ts';

const CLASSES = ['a', 'b', 'elsewhere'];
const seconds = fc.nat({ max: 10_000_000 });
const list = (...of: readonly string[]) => fc.subarray([...of], { minLength: 1 });
const texts = fc.dictionary(
  fc.constantFrom('a', 'example.com/b'),
  fc.constantFrom('x', '', 'true'),
);

const requirement = fc.oneof(
  fc.record({
    key: fc.constantFrom('kubernetes.io/arch', 'beta.kubernetes.io/arch'),
    operator: fc.constantFrom('In', 'NotIn'),
    values: list('amd64', 'arm64'),
  }),
  fc.record({
    key: fc.constantFrom('node.kubernetes.io/instance-type', 'karpenter.k8s.aws/instance-family'),
    operator: fc.constantFrom('Exists', 'DoesNotExist'),
  }),
  fc.record({
    key: fc.constant('karpenter.k8s.aws/instance-cpu'),
    operator: fc.constantFrom('Gt', 'Lt'),
    values: fc.constantFrom(['3'], ['64']),
  }),
);

const taints = fc.array(
  fc.record({ key: fc.constantFrom('a', 'b'), effect: fc.constantFrom('NoSchedule', 'NoExecute') }),
  { maxLength: 2 },
);
const kubelet = fc.record({ maxPods: fc.constantFrom(10, 20) });
const limits = fc.dictionary(fc.constantFrom('cpu', 'memory'), fc.constantFrom('10', 5, '1.5Gi'));
const optional: { requiredKeys: never[] } = { requiredKeys: [] };

const provisionerSpec = fc
  .record(
    {
      annotations: fc.dictionary(
        fc.constantFrom('karpenter.sh/do-not-evict', 'karpenter.sh/do-not-consolidate', 'a'),
        fc.constant('true'),
      ),
      labels: texts,
      taints,
      startupTaints: taints,
      requirements: fc.array(requirement, { maxLength: 3 }),
      kubeletConfiguration: kubelet,
      ttlSecondsAfterEmpty: seconds,
      ttlSecondsUntilExpired: seconds,
      limits: fc.record({ resources: limits }),
      weight: fc.integer({ min: 1, max: 100 }),
    },
    optional,
  )
  .chain((spec) =>
    fc.oneof(
      fc.constantFrom(...CLASSES).map((name) => ({ ...spec, providerRef: { name } })),
      fc.constant({
        ...spec,
        provider: { subnetSelector: { a: 'b,c' }, securityGroupSelector: { 'aws-ids': 'sg-0a' } },
      }),
    ),
  );

const poolSpec = fc.record({
  template: fc.record({
    spec: fc.record(
      {
        requirements: fc.array(requirement, { maxLength: 3 }),
        nodeClassRef: fc.constantFrom(...CLASSES).map((name) => ({ name })),
        kubelet,
        taints,
      },
      { requiredKeys: ['requirements', 'nodeClassRef'] },
    ),
  }),
  disruption: fc.constantFrom<Json>(
    {},
    { consolidationPolicy: 'WhenUnderutilized', expireAfter: 'Never' },
    { consolidationPolicy: 'WhenEmpty', consolidateAfter: '30s', budgets: [{ nodes: '0' }] },
  ),
});

const family = fc.constantFrom('AL2', 'Bottlerocket', 'Ubuntu', 'Windows2019', 'Windows2022');
const selector = fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom('x', 'x, y', '*'), {
  minKeys: 1,
});
const metadataOptions = fc.record(
  {
    httpTokens: fc.constantFrom('required', 'optional'),
    httpPutResponseHopLimit: fc.integer({ min: 1, max: 64 }),
  },
  optional,
);
const devices = fc.array(
  fc.record({
    deviceName: fc.constant('/dev/xvda'),
    ebs: fc.record({ volumeSize: fc.constantFrom('20Gi', '1000Mi', '1T', 21474836480, '1.5Ti') }),
  }),
  { maxLength: 2 },
);
const instance = { amiFamily: family, metadataOptions, blockDeviceMappings: devices, tags: texts };

const templateSpec = fc.record(
  {
    ...instance,
    subnetSelector: selector,
    securityGroupSelector: selector,
    amiSelector: fc.oneof(selector, fc.constant({ 'aws::name': 'a,b', 'aws::owners': 'self' })),
    instanceProfile: fc.constant('p'),
  },
  { requiredKeys: ['subnetSelector', 'securityGroupSelector'] },
);
const classSpec = fc.record(
  {
    ...instance,
    subnetSelectorTerms: fc.constant([{ id: 'subnet-0a' }]),
    securityGroupSelectorTerms: fc.constant([{ name: 'nodes' }]),
    amiSelectorTerms: fc.constantFrom<readonly Json[]>([], [{ name: 'a', owner: 'self' }]),
    role: fc.constant('r'),
  },
  { requiredKeys: ['subnetSelectorTerms', 'securityGroupSelectorTerms', 'amiFamily'] },
);

/** Objects of one kind; the index keeps names apart. */
function objects(
  apiVersion: string,
  kind: string,
  names: readonly string[],
  spec: fc.Arbitrary<object>,
) {
  return fc
    .subarray([...names])
    .chain((some) =>
      fc.tuple(
        ...some.map((name) =>
          spec.map((own) => ({ apiVersion, kind, metadata: { name }, spec: own })),
        ),
      ),
    );
}

const worlds = fc
  .tuple(
    objects('karpenter.sh/v1alpha5', 'Provisioner', ['p1', 'p2', 'p3'], provisionerSpec),
    objects('karpenter.sh/v1beta1', 'NodePool', ['n1', 'n2', 'n3'], poolSpec),
    objects('karpenter.k8s.aws/v1alpha1', 'AWSNodeTemplate', ['a'], templateSpec),
    objects('karpenter.k8s.aws/v1beta1', 'EC2NodeClass', ['b'], classSpec),
  )
  .map((kinds): readonly Json[] => kinds.flat());

function converted(all: readonly Json[]): Conversion {
  const manifests = all.map(
    (object): Manifest => ({
      object,
      text: undefined,
      place: (path = '') => `a.yaml:1: ${nameOf(object)} ${path}`,
    }),
  );
  return convert(manifests, undefined);
}

function sortedText(all: readonly unknown[]): string {
  return all
    .map((each) => JSON.stringify(each))
    .sort()
    .join('\n');
}

describe('what convert makes', () => {
  it('is valid, has a class for each reference it converts, and converts to itself', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const { outputs, problems } = converted(world);
        expect(problems).toEqual([]);
        const made = outputs.map(({ object }) => object);
        for (const object of made) {
          const isPool = object['kind'] === 'NodePool';
          const decoded = isPool ? decodeNodePool(object) : decodeEC2NodeClass(object);
          expect(decoded).toMatchObject({ ok: true });
        }
        const again = converted(made);
        expect(again.outputs.map(({ object }) => object)).toEqual(made);
        expect(again.notes).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });

  it('does not depend on the order of the files', () => {
    fc.assert(
      fc.property(worlds, (world) => {
        const one = converted(world);
        const other = converted([...world].reverse());
        const text = ({ outputs }: Conversion) => sortedText(outputs.map(({ object }) => object));
        expect(text(other)).toBe(text(one));
        expect(sortedText(other.notes)).toBe(sortedText(one.notes));
      }),
      { numRuns: 100 },
    );
  });
});
