import { allocatable } from '../core/instance-types/allocatable.ts';
import { CPU, EPHEMERAL_STORAGE, MEMORY, PODS, type Resources } from '../core/model/resources.ts';
import { formatResources } from '../core/quantity.ts';
import type { Machine } from './cloud/compute.ts';
import type { Json } from './json.ts';

/** How much longer than others a node takes. */
export interface Slowness {
  /** Until its Node object is there. */
  readonly joinMs: number;
  /** Then until it is Ready. */
  readonly readyMs: number;
  /** Then until the agents are at work that take the startup taints off. */
  readonly agentsMs: number;
}

export const NOT_SLOW: Slowness = { joinMs: 0, readyMs: 0, agentsMs: 0 };

/** What a driver says of a node once its own pod has come there. */
export interface AttachLimit {
  readonly driver: string;
  /** Volumes that the node may have of it. */
  readonly count: number;
  /** So long after the Node object. */
  readonly afterMs: number;
}

/** What device plugins find. */
export interface Devices {
  readonly has: Resources;
  /** So long after the node is ready they say so, and what its type and overlays have of them. */
  readonly afterMs: number;
}

export const NO_DEVICES: Devices = { has: {}, afterMs: 0 };

/** What kubelets measure themselves: no overlay changes these. */
export const KUBELET_RESOURCES: ReadonlySet<string> = new Set([
  CPU,
  MEMORY,
  EPHEMERAL_STORAGE,
  PODS,
]);

/** Capacity and allocatable of a node with only the resources that are reported. */
export function statusResources(
  { type, offering }: Pick<Machine, 'type' | 'offering'>,
  isReported: (resource: string) => boolean,
): Json {
  const capacity = only(type.capacity, isReported);
  return {
    capacity: formatResources(capacity),
    allocatable: formatResources(only(allocatable({ ...type, capacity }, offering), isReported)),
  };
}

function only(resources: Resources, isReported: (resource: string) => boolean): Resources {
  return Object.fromEntries(Object.entries(resources).filter(([name]) => isReported(name)));
}

/** Resources with a domain come from device plugins, which start after the kubelet. */
export function isOfKubelet(resource: string): boolean {
  return !resource.includes('/');
}
