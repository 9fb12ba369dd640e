import { formatResources, parseResources } from '../../quantity.ts';
import { PLAN } from '../labels.ts';
import type { NodeClaim } from '../provisioning.ts';
import { NO_RESOURCES, type Resources } from '../resources.ts';
import { readJsonObject } from './json-object.ts';

/** An offering as the annotation names it. */
export interface PlannedOffering {
  readonly type: string;
  readonly zone: string;
  readonly capacityType: string;
  /** The capacity reservation of a reserved offering. */
  readonly reservationId: string | undefined;
  /** An hour, after overlays, in the currency of the region. */
  readonly price: number;
}

/** The offering that a plan chose for a NodeClaim, and what its node will have. */
export interface LaunchPlan extends PlannedOffering {
  /** The best offering that was not chosen; undefined: no other has room for the pods. */
  readonly runnerUp: PlannedOffering | undefined;
  /** Undefined: the instance type is not in the catalog. */
  readonly amounts:
    | {
        readonly allocatable: Resources;
        /** At least what any of the claim's types takes of what its NodePool limits. */
        readonly capacity: Resources;
      }
    | undefined;
}

/** What can be read of an offering in an annotation that somebody may have edited. */
export interface ReadOffering {
  readonly type: string | undefined;
  readonly zone: string | undefined;
  readonly capacityType: string | undefined;
  readonly reservationId: string | undefined;
  readonly price: number | undefined;
}

/** What can be read of the annotation. */
export interface ReadLaunchPlan extends ReadOffering {
  /** Undefined: the annotation does not say, as that of an older version; `none`: there is none. */
  readonly runnerUp: ReadOffering | 'none' | undefined;
  readonly allocatable: Resources;
  readonly capacity: Resources;
}

function offeringFields({ type, zone, capacityType, reservationId, price }: PlannedOffering) {
  const reservation = reservationId === undefined ? {} : { reservationId };
  return { type, zone, capacityType, ...reservation, price };
}

/** The text of the annotation {@link PLAN}. */
export function launchPlanText(plan: LaunchPlan): string {
  const { runnerUp, amounts } = plan;
  return JSON.stringify({
    ...offeringFields(plan),
    runnerUp: runnerUp === undefined ? null : offeringFields(runnerUp),
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

function readOffering(from: Readonly<Record<string, unknown>>): ReadOffering {
  const { type, zone, capacityType, reservationId, price } = from;
  return {
    type: textOf(type),
    zone: textOf(zone),
    capacityType: textOf(capacityType),
    reservationId: textOf(reservationId),
    price: typeof price === 'number' ? price : undefined,
  };
}

function runnerUpOf(value: unknown): ReadLaunchPlan['runnerUp'] {
  if (value === null) return 'none';
  return typeof value === 'object' ? readOffering({ ...value }) : undefined;
}

/** The plan of a claim; undefined: it has none that can be read. */
export function launchPlanOf({
  annotations,
}: Pick<NodeClaim, 'annotations'>): ReadLaunchPlan | undefined {
  const plan = readJsonObject(annotations[PLAN]);
  if (plan === undefined) return undefined;
  return {
    ...readOffering(plan),
    runnerUp: runnerUpOf(plan['runnerUp']),
    allocatable: amountsOf(plan['allocatable']),
    capacity: amountsOf(plan['capacity']),
  };
}
