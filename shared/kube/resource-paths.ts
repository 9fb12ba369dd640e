import { RESOURCES, type Resource } from '../api/resources.ts';
import type { ObjectKind } from '../ports/cluster.ts';
import { KubeError } from './errors.ts';

/** Names one object of a resource. */
export interface Address {
  readonly namespace?: string | undefined;
  readonly name: string;
}

/** The resource of each kind that use cases name. */
export const KINDS: Readonly<Record<ObjectKind, Resource>> = {
  NodePool: RESOURCES.nodePools,
  NodeClaim: RESOURCES.nodeClaims,
  NodeOverlay: RESOURCES.nodeOverlays,
  EC2NodeClass: RESOURCES.nodeClasses,
  CapacityBuffer: RESOURCES.capacityBuffers,
  Node: RESOURCES.nodes,
  Pod: RESOURCES.pods,
};

/** No object's name is longer. */
const NAME_MAX = 253;

/**
 * A name as a part of a path. Names that come from other objects may be anything: what no object
 * can be named is refused here, since a server might read another path out of it.
 * https://kubernetes.io/docs/concepts/overview/working-with-objects/names/#path-segment-names
 */
function segment(name: string): string {
  const isDots = name === '' || name === '.' || name === '..';
  if (isDots || name.length > NAME_MAX || /[/%\p{Cs}]/u.test(name)) {
    const message = `no object can be named ${JSON.stringify(name.slice(0, NAME_MAX))}`;
    throw new KubeError({ kind: 'invalid', causes: [] }, 'name', message);
  }
  return encodeURIComponent(name);
}

/** The path of a collection, or with an address of one object or its subresource. */
export function resourcePath(
  resource: Resource,
  address: { readonly namespace?: string | undefined; readonly name?: string } = {},
  subresource?: string,
): string {
  const root = resource.group === '' ? '/api' : `/apis/${resource.group}`;
  const parts = [`${root}/${resource.version}`];
  if (resource.namespaced && address.namespace !== undefined) {
    parts.push('namespaces', segment(address.namespace));
  }
  parts.push(resource.plural);
  if (address.name !== undefined) parts.push(segment(address.name));
  if (subresource !== undefined) parts.push(subresource);
  return parts.join('/');
}

/** How errors name what was asked for: `nodeclaims.karpenter.sh/default-x7k2p`. */
export function resourceName(resource: Resource, address: Partial<Address> = {}): string {
  const type = resource.group === '' ? resource.plural : `${resource.plural}.${resource.group}`;
  const object = [address.namespace, address.name].filter((part) => part !== undefined);
  return [type, ...object].join('/');
}
