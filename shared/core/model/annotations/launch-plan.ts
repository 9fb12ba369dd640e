import { formatResources, parseResources } from '../../quantity.ts';
import { PLAN } from '../labels.ts';
import type { NodeClaim } from '../provisioning.ts';
import { NO_RESOURCES, type Resources } from '../resources.ts';
import { readJsonObject } from './json-object.ts';

/** The offering that a plan chose for a NodeClaim, and what its node will have. */
export interface LaunchPlan {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The capacity reservation of a reserved offering. */
  readonly reservationId: string | undefined;
  /** USD an hour. */
  readonly price: number;
  /** Undefined: the instance type is not in the catalog. */
  readonly amounts:
    | {
        readonly allocatable: Resources;
        /** At least what any of the claim's types takes of what its NodePool limits. */
        readonly capacity: Resources;
      }
    | undefined;
}

/** What can be read of an annotation that somebody may have edited. */
export interface ReadLaunchPlan {
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  readonly reservationId: string | undefined;
  readonly allocatable: Resources;
  readonly capacity: Resources;
}

/** The text of the annotation {@link PLAN}. */
export function launchPlanText(plan: LaunchPlan): string {
  const { type, zone, capacityType, reservationId, price, amounts } = plan;
  return JSON.stringify({
    type,
    zone,
    capacityType,
    ...(reservationId === undefined ? {} : { reservationId }),
    price,
    ...(amounts === undefined
      ? {}
      : {
          allocatable: formatResources(amounts.allocatable),
          capacity: formatResources(amounts.capacity),
        }),
  });
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function amountsOf(value: unknown): Resources {
  if (typeof value !== 'object' || value === null) return NO_RESOURCES;
  const texts = Object.entries(value).flatMap(([name, amount]) =>
    typeof amount === 'string' ? [[name, amount] as const] : [],
  );
  return parseResources(Object.fromEntries(texts), 'down').resources;
}

/** The plan of a claim; undefined: it has none that can be read. */
export function launchPlanOf({
  annotations,
}: Pick<NodeClaim, 'annotations'>): ReadLaunchPlan | undefined {
  const plan = readJsonObject(annotations[PLAN]);
  if (plan === undefined) return undefined;
  return {
    type: textOf(plan['type']),
    zone: textOf(plan['zone']),
    capacityType: textOf(plan['capacityType']),
    reservationId: textOf(plan['reservationId']),
    allocatable: amountsOf(plan['allocatable']),
    capacity: amountsOf(plan['capacity']),
  };
}
