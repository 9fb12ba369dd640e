import { describe, expect, it } from 'vitest';
import { compared } from '../../../shared/core/disruption/drift.ts';
import type { ReasonCode } from '../../../shared/core/explain/reason.ts';
import type { NodeClaim } from '../../../shared/core/model/provisioning.ts';
import { annotations, claim, classWith, imageOf, only, target } from '../../builders/drift.ts';
import { claimOf, typeOf } from '../../builders/scheduling.ts';

const HOUR = 3_600_000;

type Said = readonly [
  string,
  Partial<NodeClaim>,
  Parameters<typeof target>,
  ReasonCode,
  Readonly<Record<string, string>>,
];

const ofClass = { nodeClass: 'default' };
const ZONE_B = only('topology.kubernetes.io/zone', 'zone-b');

const SAID: readonly Said[] = [
  ['the pool', {}, [{}, { poolHash: 'new' }], 'nodepool-template-changed', { nodePool: 'general' }],
  [
    'the label and its value',
    {},
    [{ requirements: [ZONE_B] }],
    'requirements-changed',
    { nodePool: 'general', key: ZONE_B.key, value: 'zone-a' },
  ],
  [
    'the label that is absent',
    {},
    [{ requirements: [only('team', 'red')] }],
    'requirements-changed',
    { nodePool: 'general', key: 'team', value: '(absent)' },
  ],
  [
    'the type and its zone',
    {},
    [{}, { types: [typeOf('m.xlarge', 4, 16, 0.2)] }],
    'instance-type-withdrawn',
    { instanceType: 'm.large', zone: 'zone-a' },
  ],
  ['the class', {}, [{}, { nodeClassHash: 'new' }], 'nodeclass-changed', ofClass],
  [
    'both images',
    { imageId: 'ami-old' },
    [],
    'image-changed',
    { ...ofClass, selected: 'ami-amd64', image: 'ami-old' },
  ],
  [
    'the type that has no image',
    {},
    [{}, { nodeClass: classWith({ images: [imageOf('ami-arm64', 'arm64')] }) }],
    'image-changed',
    { ...ofClass, selected: 'no image for m.large', image: 'ami-amd64' },
  ],
  [
    'the security groups that it has',
    { annotations: { 'joiner.dev/security-groups': 'sg-a' } },
    [],
    'security-groups-changed',
    { ...ofClass, had: 'sg-a' },
  ],
  [
    'the subnet that it has',
    { annotations: { 'joiner.dev/subnet': 'subnet-z' } },
    [],
    'subnet-deselected',
    { ...ofClass, subnet: 'subnet-z' },
  ],
  [
    'the reservation that it has',
    { labels: { 'karpenter.k8s.aws/capacity-reservation-id': 'cr-1' } },
    [],
    'reservation-deselected',
    { ...ofClass, reservation: 'cr-1' },
  ],
];

describe('the reason of a drift names', () => {
  it.each(SAID)('%s', (_, changes, to, code, parameters) => {
    const [drift] = compared(claim(changes), target(...to), HOUR).drifts;
    expect(drift?.why).toEqual({ code, parameters });
  });

  it('no type and no zone where the claim has none', () => {
    const bare = claimOf('general-abcde', { annotations, imageId: 'ami-old' });
    expect(compared(bare, target(), HOUR).drifts.map(({ why }) => why)).toEqual([
      { code: 'instance-type-withdrawn', parameters: { instanceType: '', zone: 'any zone' } },
      {
        code: 'image-changed',
        parameters: { ...ofClass, selected: 'no image for ', image: 'ami-old' },
      },
    ]);
  });
});
