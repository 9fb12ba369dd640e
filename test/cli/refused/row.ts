import {
  CAPACITY_BUFFER,
  DEPLOYMENT,
  DISRUPTION_BUDGET,
  NODE_CLASS,
  NODE_OVERLAY,
  NODE_POOL,
  POD,
  PRIORITY_CLASS,
  STORAGE_CLASS,
} from '../manifests.ts';

/** Every kind of manifest, valid. */
export const WORLD = {
  NodePool: NODE_POOL,
  EC2NodeClass: NODE_CLASS,
  NodeOverlay: NODE_OVERLAY,
  CapacityBuffer: CAPACITY_BUFFER,
  Deployment: DEPLOYMENT,
  Pod: POD,
  PodDisruptionBudget: DISRUPTION_BUDGET,
  PriorityClass: PRIORITY_CLASS,
  StorageClass: STORAGE_CLASS,
};
export type Kind = keyof typeof WORLD;

export interface Row {
  readonly what: string;
  readonly kind: Kind;
  /** A part of the valid object … */
  readonly from: string;
  /** … and what stands there instead. */
  readonly to: string;
  /** The field, the value, and what would be valid. */
  readonly says: string;
}

/** Bad input, one fault each: what is said names file, line, object, field, value and what is valid. */
export function row(what: string, kind: Kind, from: string, to: string, says: string): Row {
  return { what, kind, from, to, says };
}
