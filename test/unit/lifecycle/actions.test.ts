import { expect, it } from 'vitest';
import {
  EXCLUDE_FROM_LOAD_BALANCERS,
  instanceIdOf,
  providerIdOf,
} from '../../../shared/core/lifecycle/actions.ts';

it.each([
  ['aws:///us-east-1a/i-0123456789abcdef0', 'i-0123456789abcdef0'],
  ['aws:///use1-az1/i-1', 'i-1'],
  ['aws:///us-east-1a/i-1/more', undefined],
  ['x-aws:///us-east-1a/i-1', undefined],
  ['aws:///us-east-1a/I-1', undefined],
  ['aws:////i-1', undefined],
  ['aws://i-1', undefined],
  ['', undefined],
  [undefined, undefined],
])('the instance of %s is %s', (providerId, instanceId) => {
  expect(instanceIdOf(providerId)).toBe(instanceId);
});

it('a provider id names the zone and the instance', () => {
  expect(providerIdOf('us-east-1a', 'i-1')).toBe('aws:///us-east-1a/i-1');
});

it('load balancers leave a node alone by the label of Kubernetes', () => {
  expect(EXCLUDE_FROM_LOAD_BALANCERS).toBe(
    'node.kubernetes.io/exclude-from-external-load-balancers',
  );
});
