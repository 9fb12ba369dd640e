import { type ReasonOf, reason } from '../../explain/reason.ts';
import type { NodePool } from '../../model/provisioning.ts';

/** By resource: the most that pods on a node may come to, as a multiple of its allocatable. */
export type GuardRatios = ReadonlyMap<string, number>;

/** A guard that is an annotation of NodePools, such as `cpu=4,memory=1.2`. */
export interface RatioGuard {
  readonly annotation: string;
  /** What its values are to be like. */
  readonly like: string;
  /** The ratio is greater than zero. */
  readonly isValid: (resource: string, ratio: number) => boolean;
}

const ENTRY = /^([a-z0-9./-]+)=(\d+(?:\.\d+)?)$/i;

/** What the NodePool's annotation says; empty where there is none, a reason where it is unreadable. */
export function guardRatiosOf(
  { annotations }: Pick<NodePool, 'annotations'>,
  { annotation, like, isValid }: RatioGuard,
): GuardRatios | ReasonOf<'guard-unreadable'> {
  const value = annotations[annotation];
  const ratios = new Map<string, number>();
  if (value === undefined) return ratios;
  for (const entry of value.split(',')) {
    const [, resource, text] = ENTRY.exec(entry.trim()) ?? [];
    const ratio = Number(text);
    if (resource === undefined || !(ratio > 0) || !isValid(resource, ratio)) {
      return reason('guard-unreadable', { annotation, value, like });
    }
    ratios.set(resource, ratio);
  }
  return ratios;
}
