import { withPlannedLabels } from '../app/planning/new-claims.ts';
import type { PlannedWritten } from '../app/provision/planned-claims.ts';
import { claimRef } from '../app/writes/references.ts';
import { allocatable } from '../core/instance-types/allocatable.ts';
import { launchedLabels } from '../core/launch/launch-request.ts';
import { isOurs } from '../core/launch/node-classes.ts';
import { chooseLaunch } from '../core/launch/overrides.ts';
import { withConditions } from '../core/lifecycle/conditions.ts';
import { replacedUids } from '../core/model/annotations/replacements.ts';
import type { InstanceType } from '../core/model/instance-type.ts';
import {
  CAPACITY_TYPE,
  INSTANCE_TYPE,
  type Labels,
  NODE_POOL,
  ZONE,
} from '../core/model/labels.ts';
import type { OfferingChoice, Plan, PlannedNodeClaim } from '../core/model/plan.ts';
import type { NodeClaim } from '../core/model/provisioning.ts';
import type { DryCluster } from './dry-cluster.ts';

/** A NodeClaim that would be written, or that waits for an instance. */
export interface Launch {
  readonly nodeClaim: string;
  readonly nodePool: string;
  /** Undefined: EC2 chooses among all that the claim allows. */
  readonly chosen: OfferingChoice | undefined;
  /** `namespace/name`. */
  readonly pods: readonly string[];
  /** The claims whose nodes it replaces, with commas. */
  readonly replaces: string | undefined;
  readonly why: string;
}

export type Types = ReadonlyMap<string, readonly InstanceType[]>;

/** The offering that labels name, with its prices. */
function offeringOf(claim: NodeClaim, types: Types): OfferingChoice | undefined {
  const { [NODE_POOL]: pool = '', [INSTANCE_TYPE]: name, [ZONE]: zone } = claim.labels;
  const type = types.get(pool)?.find((each) => each.name === name);
  const found = type?.offerings.find(
    (each) => each.zone === zone && each.capacityType === claim.labels[CAPACITY_TYPE],
  );
  if (type === undefined || found === undefined) return undefined;
  const { capacityType, price, listPrice, reservation } = found;
  return {
    type: type.name,
    zone: found.zone,
    capacityType,
    reservationId: reservation?.id,
    price,
    listPrice,
  };
}

/**
 * Gives claims of static pools an instance, as `provision` does before it plans pods: the cheapest
 * that they allow, where EC2 may choose another.
 */
export async function launchStatic(
  cluster: DryCluster,
  types: Types,
  region: string,
  nowMs: number,
): Promise<void> {
  for (const claim of cluster.created) {
    const own = types.get(claim.labels[NODE_POOL] ?? '') ?? [];
    // What minValues forbids was not written.
    const choice = chooseLaunch(claim, own, 1, 'BestEffort');
    const [first] = 'options' in choice ? choice.options : [];
    if (first === undefined) continue;
    const { type, offering } = first;
    const ref = claimRef(claim);
    const labels = launchedLabels(claim, first, region);
    await cluster.patchNodeClaim(ref, { labels });
    const launched = { type: 'Launched', status: 'True', reason: 'Launched', message: '' } as const;
    await cluster.patchNodeClaimStatus(ref, {
      providerId: `planned/${claim.name}`,
      capacity: type.capacity,
      allocatable: allocatable(type, offering),
      conditions: (now) => withConditions(now, [launched], nowMs),
    });
  }
}

/** What else the planned claim could have been. */
function comparison({ runnerUp }: PlannedNodeClaim): string {
  if (runnerUp === undefined) return 'no other offering fits';
  const { type, zone, capacityType, why } = runnerUp;
  return `runner-up ${type} ${capacityType} in ${zone}: ${why}`;
}

function replacedNames(
  annotations: Labels,
  names: ReadonlyMap<string, string>,
): string | undefined {
  const replaced = replacedUids(annotations).flatMap((uid) => names.get(uid) ?? []);
  return replaced.length === 0 ? undefined : replaced.sort().join(',');
}

function withReplaced(launch: Launch): Launch {
  return launch.replaces === undefined ? launch : { ...launch, why: `for ${launch.replaces}` };
}

/** What was planned, and what was written of it. */
export interface Planned {
  readonly plan: Plan;
  readonly written: readonly PlannedWritten[];
  readonly types: Types;
  readonly region: string;
}

/** Claims that were written on the copy, as they are there, and those that wait already. */
export function launchesOf(
  { plan, written, types, region }: Planned,
  created: readonly NodeClaim[],
  claims: readonly NodeClaim[],
): readonly Launch[] {
  const names = new Map(claims.map(({ uid, name }) => [uid, name]));
  const planned = new Map(
    written.map(({ claim, pods }) => [
      claim.name,
      plan.newNodeClaims.find((each) => each.pods === pods),
    ]),
  );
  const launchOf = (claim: NodeClaim): Launch => {
    const { name, labels, annotations } = claim;
    const own = planned.get(name);
    return {
      nodeClaim: name,
      nodePool: labels[NODE_POOL] ?? '',
      chosen: own?.chosen ?? plannedOffering(claim, types, region),
      pods: own?.pods ?? [],
      replaces: replacedNames(annotations, names),
      why: own === undefined ? 'spec.replicas of its NodePool' : comparison(own),
    };
  };
  // Others launch their own.
  const waiting = claims.filter(
    ({ providerId, deletedAtMs, nodeClassRef }) =>
      providerId === undefined && deletedAtMs === undefined && isOurs(nodeClassRef),
  );
  return [
    ...created.map(launchOf).map(withReplaced),
    ...waiting.map((claim) => ({ ...launchOf(claim), why: 'it waits for an instance' })),
  ];
}

/** What the claim's plan chose. */
export function plannedOffering(
  claim: NodeClaim,
  types: Types,
  region: string,
): OfferingChoice | undefined {
  const own = types.get(claim.labels[NODE_POOL] ?? '') ?? [];
  return offeringOf(withPlannedLabels(claim, own, region), types);
}
