import { expect, it } from 'vitest';
import { instanceLabels } from '../../../shared/core/instance-types/instance-labels.ts';
import { instanceType, offering } from '../../builders/overlays.ts';

it('are those of which the type has one value, and what the offering adds', () => {
  const type = instanceType('c7g.large', [], {
    one: ['a'],
    several: ['a', 'b'],
    none: [],
    never: null,
  });
  const plain = offering('us-east-1a', 'spot', 1);
  const labels = {
    one: 'a',
    'node.kubernetes.io/instance-type': 'c7g.large',
    'topology.kubernetes.io/region': 'us-east-1',
    'topology.kubernetes.io/zone': 'us-east-1a',
    'karpenter.sh/capacity-type': 'spot',
  };
  expect(instanceLabels(type, plain, 'us-east-1')).toEqual(labels);
  const reserved = {
    ...plain,
    capacityType: 'reserved',
    zoneId: 'use1-az1',
    reservation: { id: 'cr-1', type: 'default', capacity: 1 },
  } as const;
  expect(instanceLabels(type, reserved, 'us-east-1')).toEqual({
    ...labels,
    'karpenter.sh/capacity-type': 'reserved',
    'topology.k8s.aws/zone-id': 'use1-az1',
    'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
    'karpenter.k8s.aws/capacity-reservation-type': 'default',
  });
});

it('only nodes of a reservation have its labels, whatever else their type is bought as', () => {
  const ofReservation = {
    'karpenter.k8s.aws/capacity-reservation-id': 'cr-1',
    'karpenter.k8s.aws/capacity-reservation-type': 'capacity-block',
    'karpenter.k8s.aws/capacity-reservation-interruptible': 'false',
  };
  const described = Object.entries(ofReservation).map(([key, value]) => [key, [value]] as const);
  const plain = offering('us-east-1a', 'on-demand', 1);
  const reserved = {
    ...plain,
    capacityType: 'reserved',
    reservation: { id: 'cr-1', type: 'capacity-block', capacity: 1 },
  } as const;
  const type = instanceType('p5.48xlarge', [plain, reserved], Object.fromEntries(described));
  const bought = instanceLabels(type, plain, 'us-east-1');
  expect(Object.keys(bought).filter((key) => key in ofReservation)).toEqual([]);
  expect(instanceLabels(type, reserved, 'us-east-1')).toMatchObject(ofReservation);
});

it('says of a reservation of several whether its owner may take it back', () => {
  const key = 'karpenter.k8s.aws/capacity-reservation-interruptible';
  const reservation = { id: 'cr-1', type: 'default', capacity: 1, interruptible: true } as const;
  const lent = { ...offering('us-east-1a', 'reserved', 1), reservation };
  const type = instanceType('c7g.large', [lent], { [key]: ['false', 'true'] });
  expect(instanceLabels(type, lent, 'us-east-1')).toMatchObject({ [key]: 'true' });
});
