import { sentence } from '../../core/explain/reason.ts';
import { sha256 } from '../../core/launch/sha256.ts';
import type { OfferingChoice, Plan, PlannedNodeClaim, Stranded } from '../../core/model/plan.ts';
import type { RequirementExpression } from '../../core/model/requirement.ts';
import type { OverlayReport } from '../../core/overlay/resolve.ts';
import { formatResources } from '../../core/quantity.ts';
import { encodeOverlay } from './overlays.ts';

/** What solving cost. */
export interface Timings {
  /** Milliseconds from the parsed file to the problem: reading the objects, overlays. */
  readonly setupMs: number;
  readonly solveMs: number;
  /** CPU time of both, all threads. */
  readonly cpuMs: number;
  /** Playing the finished plan back. */
  readonly playbackMs: number;
  readonly maxRssMiB: number;
  /** Of the last of several runs in one process. */
  readonly warm?: { readonly setupMs: number; readonly solveMs: number; readonly cpuMs: number };
}

export interface ResultParts {
  /** Version of this program. */
  readonly joiner: string;
  readonly plan: Plan;
  readonly overlays: readonly OverlayReport[];
  readonly rejected: Readonly<Record<string, readonly string[]>>;
  readonly timings: Timings;
  readonly stranded: Stranded;
  readonly bound:
    | {
        readonly pricePerHour: number;
        readonly gapPercent: number | undefined;
        readonly weaker: boolean;
      }
    | undefined;
}

function encodeRequirement({ key, operator, values, minValues }: RequirementExpression): object {
  return {
    key,
    operator,
    ...(values.length === 0 ? {} : { values }),
    ...(minValues === undefined ? {} : { minValues }),
  };
}

function encodeChoice({
  type,
  zone,
  capacityType,
  reservationId,
  price,
  listPrice,
}: OfferingChoice) {
  return {
    type,
    zone,
    capacityType,
    ...(reservationId === undefined ? {} : { reservationId }),
    price,
    listPrice,
  };
}

function encodeClaim(claim: PlannedNodeClaim): object {
  const { runnerUp } = claim;
  const chosen = encodeChoice(claim.chosen);
  return {
    nodePool: claim.nodePool,
    requirements: claim.requirements.map(encodeRequirement),
    instanceTypes: claim.instanceTypes,
    instanceTypeCount: claim.instanceTypes.length,
    cheapest: chosen,
    chosen,
    runnerUp:
      runnerUp === undefined
        ? null
        : {
            ...encodeChoice(runnerUp),
            priceDifference: runnerUp.priceDifference,
            why: runnerUp.why,
          },
    pods: claim.pods,
    requests: formatResources(claim.requests),
    labels: claim.labels,
    annotations: claim.annotations,
    ...(claim.taints.length === 0 ? {} : { taints: claim.taints }),
    overlays: claim.overlays,
  };
}

function sortedEntries<Value>(
  map: ReadonlyMap<string, Value>,
): readonly (readonly [string, Value])[] {
  return [...map].sort(([a], [b]) => (a < b ? -1 : 1));
}

/** A text that is equal for equal decisions, whatever they cost to find. */
function digestOf(plan: Plan): string {
  const claims = plan.newNodeClaims.map(({ nodePool, chosen, instanceTypes, pods }) => [
    nodePool,
    chosen.type,
    chosen.zone,
    chosen.capacityType,
    chosen.reservationId ?? '',
    instanceTypes,
    pods,
  ]);
  const existing = plan.existing.map(({ node, pods }) => [node, pods]);
  const left = sortedEntries(plan.unplaced).map(([pod]) => pod);
  return sha256(JSON.stringify([claims, existing, left])).slice(0, 16);
}

function countPods(list: readonly { readonly pods: readonly string[] }[]): number {
  return list.reduce((sum, each) => sum + each.pods.length, 0);
}

/** The answer to a case, as `joiner solve` prints it. */
export function encodeResult(parts: ResultParts): object {
  const { plan, bound } = parts;
  const onNew = countPods(plan.newNodeClaims);
  const onExisting = countPods(plan.existing);
  const left = sortedEntries(plan.unplaced);
  const errors = left.map(([pod, { message }]) => [pod, message]);
  const reasons = left.map(([pod, each]) => [pod, each.reasons]);
  const ignored = sortedEntries(plan.ignored).map(([pod, why]) => [pod, sentence(why)]);
  return {
    joiner: parts.joiner,
    newNodeClaims: plan.newNodeClaims.map(encodeClaim),
    existing: plan.existing,
    errors: Object.fromEntries(errors),
    ...(left.length === 0 ? {} : { reasons: Object.fromEntries(reasons) }),
    ...(plan.ignored.size === 0 ? {} : { ignored: Object.fromEntries(ignored) }),
    ...(Object.keys(parts.rejected).length === 0 ? {} : { rejected: parts.rejected }),
    overlays: parts.overlays.map(encodeOverlay),
    preferences: plan.preferences,
    stranded: parts.stranded,
    timings: parts.timings,
    summary: {
      pendingPods: onNew + onExisting + plan.unplaced.size,
      newNodes: plan.newNodeClaims.length,
      podsOnNewNodes: onNew,
      podsOnExistingNodes: onExisting,
      failed: plan.unplaced.size,
    },
    totalCheapestPricePerHour: plan.pricePerHour,
    totalListPricePerHour: plan.listPricePerHour,
    ...(bound === undefined ? {} : { bound }),
    digest: digestOf(plan),
  };
}
