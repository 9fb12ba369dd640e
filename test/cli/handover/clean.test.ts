import { expect, it } from 'vitest';
import { cleaningsOf } from '../../../cli/handover/clean.ts';
import { kubernetesClient } from '../../../shared/contract.ts';
import type { ClusterWriter } from '../../../shared/ports.ts';
import { listingClient } from '../../builders/listing-client.ts';
import { clusterState } from './state.ts';

/** A pending pod with a nomination, as the API server notes who wrote it. */
function nominated(name: string, manager: string): object {
  const fieldsV1 = { 'f:status': { 'f:nominatedNodeName': {} } };
  const managedFields = [{ manager, operation: 'Update', subresource: 'status', fieldsV1 }];
  const metadata = { namespace: 'shop', name, uid: `uid-${name}`, managedFields };
  return { metadata, status: { nominatedNodeName: 'planned' } };
}

it('nominations of Joiner are removed, and those of kube-scheduler stay', async () => {
  const client = listingClient([
    nominated('ours', kubernetesClient('provision')),
    nominated('preempting', 'kube-scheduler'),
  ]);
  const found = await cleaningsOf(client, {} as ClusterWriter, clusterState({}));
  expect(found.map(({ object, what }) => [object, what])).toEqual([
    ['Pod/shop/ours', 'its nomination'],
  ]);
});
