import { type Labels, ZONE } from '../core/model/labels.ts';
import type { Json } from './json.ts';

/** Drivers whose volumes are in one zone. */
const ZONAL: ReadonlySet<string> = new Set([
  'ebs.csi.aws.com',
  'ebs.csi.eks.amazonaws.com',
  'kubernetes.io/aws-ebs',
]);

/** The zone of a volume that is made for a pod on such a node; undefined: it is in none. */
export function zoneOfVolume(provisioner: string, nodeLabels: Labels): string | undefined {
  return ZONAL.has(provisioner) ? nodeLabels[ZONE] : undefined;
}

/** The terms of a node selector that nodes of the zone meet. */
export function zoneTerms(zone: string): readonly Json[] {
  return [{ matchExpressions: [{ key: ZONE, operator: 'In', values: [zone] }] }];
}
