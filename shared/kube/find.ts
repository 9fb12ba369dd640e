import type { KubeClient } from './client.ts';
import { isKubeFault } from './errors.ts';
import type { Address, Resource } from './resources.ts';

/** The object as the API server has it; undefined: it is not there. */
export async function find(
  client: KubeClient,
  resource: Resource,
  address: Address,
): Promise<unknown> {
  try {
    return await client.get(resource, address);
  } catch (error) {
    if (isKubeFault(error, 'notFound')) return undefined;
    throw error;
  }
}
