import { expect, it } from 'vitest';
import { karpenterLeases } from '../../../cli/handover/lease.ts';
import { listingClient } from '../../builders/listing-client.ts';

function lease(namespace: string, renewTime: string) {
  return { metadata: { namespace }, spec: { holderIdentity: 'karpenter-0', renewTime } };
}

it.each([
  ['the last renewed Lease comes first', ['2026-01-02T00:00:00Z', '2026-01-01T00:00:00Z'], 'a'],
  ['whatever the order', ['2026-01-01T00:00:00Z', '2026-01-02T00:00:00Z'], 'b'],
  [
    'a time that is still to come counts as none',
    ['9999-01-01T00:00:00Z', '2026-01-01T00:00:00Z'],
    'b',
  ],
])('%s', async (_, [ofA = '', ofB = ''], first) => {
  const [found] = await karpenterLeases(listingClient([lease('a', ofA), lease('b', ofB)]));
  expect(found?.namespace).toBe(first);
});
