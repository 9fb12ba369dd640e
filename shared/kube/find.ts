import type { Resource } from '../api/resources.ts';
import type { KubeClient } from './client.ts';
import { isKubeFault, KubeError, type KubeFault } from './errors.ts';
import type { Address } from './resource-paths.ts';

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

/** Faults of the server, whatever it was asked for. */
const OF_THE_SERVER: ReadonlySet<KubeFault['kind']> = new Set([
  'unavailable',
  'unauthorised',
  'throttled',
]);

/** `object` is undefined where it is not there. */
export type Named =
  | { readonly kind: 'answered'; readonly object: unknown }
  | { readonly kind: 'refused'; readonly message: string };

/**
 * An object that another object names, which somebody else has written: where the server refuses to
 * look for it, that concerns nobody but whoever asks for that one.
 */
export async function findNamed(
  client: KubeClient,
  resource: Resource,
  address: Address,
): Promise<Named> {
  try {
    return { kind: 'answered', object: await find(client, resource, address) };
  } catch (error) {
    if (!(error instanceof KubeError) || OF_THE_SERVER.has(error.fault.kind)) throw error;
    return { kind: 'refused', message: error.message };
  }
}
