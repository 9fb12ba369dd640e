import { describe, expect, it } from 'vitest';
import {
  allocationStrategy,
  imageFor,
  kubeletLabels,
  launchFacts,
  launchLines,
  launchTags,
  optionAnnotations,
  podsMaxByType,
} from '../../../shared/core/launch/launch-request.ts';
import type { Image } from '../../../shared/core/model/node-class.ts';
import type { RequirementExpression } from '../../../shared/core/model/requirement.ts';
import { aNodeClass, anOverride } from '../../builders/launches.ts';
import { instanceType, offering } from '../../builders/overlays.ts';
import { aNodeClaim } from './builders.ts';

it.each([
  ['spot', false, 'price-capacity-optimized'],
  ['spot', true, 'capacity-optimized-prioritized'],
  ['on-demand', false, 'lowest-price'],
  ['on-demand', true, 'prioritized'],
  ['reserved', false, 'lowest-price'],
  ['reserved', true, 'lowest-price'],
] as const)('%s, price overlaid %s: %s', (capacityType, overlaid, strategy) => {
  expect(allocationStrategy(capacityType, overlaid)).toBe(strategy);
});

const image = (
  id: string,
  requirements: readonly RequirementExpression[] = [],
  deprecated = false,
): Image => ({ id, name: id, deprecated, requirements });
const need = (
  key: string,
  operator: RequirementExpression['operator'],
  ...values: readonly string[]
): RequirementExpression => ({ key, operator, values });

describe('the image of an instance type', () => {
  const arm = { name: 'c7g.large', labels: { arch: ['arm64'], gpu: null } };
  it.each<[string, readonly Image[], string | undefined]>([
    ['the first that fits', [image('a', [need('arch', 'In', 'amd64')]), image('b')], 'b'],
    ['of several the first', [image('a'), image('b')], 'a'],
    ['a current one before one that is deprecated', [image('a', [], true), image('b')], 'b'],
    ['one that is deprecated where it alone fits', [image('a', [], true)], 'a'],
    ['none', [image('a', [need('arch', 'In', 'amd64')])], undefined],
    [
      'one that meets all it asks for',
      [
        image('a', [need('arch', 'In', 'arm64'), need('gpu', 'Exists')]),
        image('b', [need('arch', 'In', 'arm64'), need('gpu', 'DoesNotExist')]),
      ],
      'b',
    ],
    [
      'by the type’s name',
      [image('a', [need('node.kubernetes.io/instance-type', 'In', 'c7g.large')])],
      'a',
    ],
    [
      'not by another name',
      [image('a', [need('node.kubernetes.io/instance-type', 'In', 'c7g')])],
      undefined,
    ],
    ['by a label that it does not have', [image('a', [need('team', 'DoesNotExist')])], 'a'],
    ['not by a label that it does not have', [image('a', [need('team', 'Exists')])], undefined],
  ])('is %s', (_, images, expected) => {
    expect(imageFor(images, arm)?.id).toBe(expected);
  });

  it('is one for types of several values, and none for labels without a value', () => {
    const both = { name: 'x', labels: { arch: ['arm64', 'amd64'], gpu: [] } };
    expect(imageFor([image('a', [need('arch', 'In', 'amd64')])], both)?.id).toBe('a');
    expect(imageFor([image('a', [need('gpu', 'Exists')])], both)).toBeUndefined();
    expect(imageFor([image('a', [need('gpu', 'DoesNotExist')])], both)?.id).toBe('a');
  });
});

describe('the lines of a fleet', () => {
  const reserved = {
    ...offering('a', 'reserved', 0.5),
    reservation: { id: 'cr-1', type: 'default', capacity: 1 } as const,
  };
  const arm = instanceType('c7g', [], { arch: ['arm64'] });
  const amd = instanceType('c7i', [], { arch: ['amd64'] });
  const images = [image('ami-arm', [need('arch', 'In', 'arm64')])];

  it('are those of types with an image, in zones with a subnet', () => {
    const options = [
      { type: arm, offering: reserved },
      { type: amd, offering: offering('a', 'spot', 1) },
      { type: arm, offering: offering('b', 'spot', 1) },
      { type: arm, offering: offering('c', 'spot', 2) },
    ];
    expect(launchLines(options, images, new Set(['a', 'c']))).toEqual([
      {
        instanceType: 'c7g',
        zone: 'a',
        imageId: 'ami-arm',
        reservationId: 'cr-1',
        priority: 0.5,
      },
      {
        instanceType: 'c7g',
        zone: 'c',
        imageId: 'ami-arm',
        reservationId: undefined,
        priority: 2,
      },
    ]);
  });

  it('have as many pods as their type, 110 where it does not say', () => {
    const silent = { ...amd, capacity: { cpu: 1 } };
    const options = [arm, silent].map((type) => ({ type, offering: reserved }));
    const choice = { capacityType: 'reserved', options, priceOverlaid: false } as const;
    expect(podsMaxByType(choice)).toEqual({ c7g: 58, c7i: 110 });
  });
});

describe('the tags of an instance', () => {
  const nodeClass = aNodeClass({ tags: { team: 'a', 'example.com/fleet': 'x' } });

  it('say whose it is, beside the class’s own', () => {
    expect(launchTags(nodeClass, 'general', 'demo', 'token')).toEqual({
      team: 'a',
      'example.com/fleet': 'x',
      'kubernetes.io/cluster/demo': 'owned',
      'eks:eks-cluster-name': 'demo',
      'karpenter.k8s.aws/ec2nodeclass': 'default',
      'karpenter.sh/nodepool': 'general',
      'joiner.dev/fleet': 'token',
    });
  });

  it('are not the class’s where they are ours, and name no pool where there is none', () => {
    const tags = { 'joiner.dev/fleet': 'forged', 'eks:eks-cluster-name': 'forged' };
    const found = launchTags({ ...nodeClass, tags }, undefined, 'demo', 'token');
    expect(found).toMatchObject({
      'joiner.dev/fleet': 'token',
      'eks:eks-cluster-name': 'demo',
      'karpenter.sh/nodepool': '',
    });
  });
});

describe('labels for the kubelet', () => {
  const ASKED = {
    'example.com/tier': 'b',
    'karpenter.k8s.aws/instance-tenancy': 'dedicated',
    'karpenter.sh/capacity-type': 'spot',
    'karpenter.sh/nodepool': 'default',
    'notkubernetes.io/x': '1',
    'kubernetes.io.example.com/x': '1',
    team: 'a',
  };
  const labelsOf = (labels: Readonly<Record<string, string>>) =>
    kubeletLabels(aNodeClaim({ labels }));

  it('leave out what only registration may set', () => {
    const labels = {
      'node-role.kubernetes.io/worker': '',
      'sub.k8s.io/x': '1',
      'k8s.io/x': '1',
      'kubernetes.io/y': '1',
    };
    expect(labelsOf({ ...ASKED, ...labels })).toEqual(ASKED);
  });

  it('say that the tenancy is dedicated also where a requirement alone asks for it', () => {
    const key = 'karpenter.k8s.aws/instance-tenancy';
    const of = (operator: 'In' | 'NotIn', ...values: readonly string[]) =>
      kubeletLabels(aNodeClaim({ labels: {}, requirements: [{ key, operator, values }] }));
    expect(of('In', 'dedicated')).toEqual({ [key]: 'dedicated' });
    expect(of('NotIn', 'default')).toEqual({ [key]: 'dedicated' });
    expect(of('In', 'default', 'dedicated')).toEqual({});
  });

  it('are in order', () => {
    const turned = Object.fromEntries(Object.entries(ASKED).toReversed());
    expect(Object.keys(labelsOf(turned))).toEqual(Object.keys(ASKED).toSorted());
  });

  it('are the same before and after the claim has its instance', () => {
    const labels = {
      ...ASKED,
      'karpenter.k8s.aws/instance-family': 'c7g',
      'karpenter.k8s.aws/instance-cpu': '2',
      'topology.k8s.aws/zone-id': 'use1-az1',
      'topology.kubernetes.io/zone': 'us-east-1a',
      'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
    };
    expect(labelsOf(labels)).toEqual(labelsOf(ASKED));
  });
});

describe('what is noted of a launch', () => {
  const overrides = [
    anOverride('c7g.large', 'a', 1),
    anOverride('c7g.large', 'b', 1),
    anOverride('m7g.large', 'b', 1),
  ];
  const groups = ['sg-2', 'sg-1'].map((id) => ({ id, name: undefined }));

  it('is the subnet of its line, the groups in order, and the profile', () => {
    const nodeClass = aNodeClass({}, { securityGroups: groups });
    const instance = { instanceType: 'm7g.large', zone: 'us-east-1b' };
    expect(launchFacts({ nodeClass, overrides }, instance)).toEqual({
      'joiner.dev/security-groups': 'sg-1,sg-2',
      'joiner.dev/subnet': 'subnet-0000000000000000b',
      'karpenter.k8s.aws/instance-profile-name': 'demo_profile',
    });
    const other = { instanceType: 'c7g.large', zone: 'us-east-1a' };
    expect(launchFacts({ nodeClass, overrides }, other)['joiner.dev/subnet']).toBe(
      'subnet-0000000000000000a',
    );
  });

  it('is nothing where nothing is known', () => {
    const nodeClass = aNodeClass({}, { securityGroups: [], instanceProfile: undefined });
    const instance = { instanceType: 'm7g.large', zone: 'us-east-1c' };
    expect(launchFacts({ nodeClass, overrides }, instance)).toEqual({});
  });
});

it('a claim says what its option costs, and which overlays it has', () => {
  const type = instanceType('x', []);
  const plain = offering('a', 'spot', 0.0816);
  const laid = { ...plain, priceOverlay: 'o' };
  const larger = { ...type, capacityOverlays: ['o'] };
  const price = { 'joiner.dev/price': '0.0816' };
  expect(optionAnnotations({ type, offering: plain })).toEqual(price);
  expect(optionAnnotations({ type, offering: laid })).toEqual({
    ...price,
    'karpenter.sh/price-overlay-applied': 'true',
  });
  expect(optionAnnotations({ type: larger, offering: plain })).toEqual({
    ...price,
    'karpenter.sh/capacity-overlay-applied': 'true',
  });
});
