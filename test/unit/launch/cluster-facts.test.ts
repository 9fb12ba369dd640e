import { expect, it } from 'vitest';
import { clusterDnsAddress } from '../../../shared/core/launch/cluster-facts.ts';

it.each([
  ['10.100.0.0/16', '10.100.0.10'],
  ['172.20.0.0/16', '172.20.0.10'],
  ['192.168.3.0/24', '192.168.3.10'],
  ['fd12:3456::/108', 'fd12:3456::a'],
])('DNS of %s is %s', (serviceCidr, expected) => {
  expect(clusterDnsAddress({ serviceCidr })).toBe(expected);
});
