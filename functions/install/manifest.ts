import { RESOURCES, type Resource, resourceOf } from '../../shared/api/resources.ts';
import { kubernetesGroup } from '../../shared/contract.ts';
import { property, text } from '../../shared/kube/list.ts';
import type { Address } from '../../shared/kube/resource-paths.ts';

/** A refusal that a person has to do something about; the message says what. */
export class InstallFault extends Error {
  override readonly name = 'InstallFault';
}

/** The resource of an object that the installer applies. */
export function resourceFor(manifest: object): Resource {
  const [version, kind] = [
    text(property(manifest, 'apiVersion')),
    text(property(manifest, 'kind')),
  ];
  const resource = resourceOf(version, kind);
  if (resource === undefined) throw new Error(`no resource is known for ${version} ${kind}`);
  return resource;
}

/** Where an object is. */
export function addressOf(manifest: object): Address {
  const namespace = property(property(manifest, 'metadata'), 'namespace');
  return { name: nameOf(manifest), ...(typeof namespace === 'string' ? { namespace } : {}) };
}

export function nameOf(manifest: object): string {
  return text(property(property(manifest, 'metadata'), 'name'));
}

/** e.g. `ClusterRole joiner:watch` */
export function describe(manifest: object): string {
  return `${text(property(manifest, 'kind'))} ${nameOf(manifest)}`;
}

/** Definitions outlive the stack: without them the users' objects would go. */
export function isDefinition(manifest: object): boolean {
  return resourceFor(manifest) === RESOURCES.customResourceDefinitions;
}

/** Roles hold rules; bindings say whose they are. */
export function isRole(manifest: object): boolean {
  const resource: Resource = resourceFor(manifest);
  return resource === RESOURCES.clusterRoles || resource === RESOURCES.roles;
}

const SHADOW_GROUPS: ReadonlySet<string> = new Set([
  kubernetesGroup('shadow'),
  kubernetesGroup('install'),
]);

/** Of what a stack applies, what one that never acts needs: the definitions are Karpenter's. */
export function isOfShadow(manifest: object): boolean {
  return SHADOW_GROUPS.has(nameOf(manifest));
}
