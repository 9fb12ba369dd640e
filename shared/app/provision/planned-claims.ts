import type { PricedOffering } from '../../core/explain/parameters.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { missing } from '../../core/missing.ts';
import { type Currency, currencyOf } from '../../core/model/currency.ts';
import { MIN_VALUES_RELAXED } from '../../core/model/labels.ts';
import type { OfferingChoice } from '../../core/model/plan.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import type { PartClaim, PartPlan } from '../../core/rollouts/part-plan.ts';
import type { NewNodeClaim, Ports, WrittenClaim } from '../../ports.ts';
import { launchedForAnnotation } from '../planning/launch-backoffs.ts';
import { plannedClaim } from '../planning/new-claims.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { claimNames } from '../writes/claim-names.ts';
import { recordDecision, recordNothing, saying } from '../writes/decisions.ts';
import { poolRef } from '../writes/references.ts';
import { waitingPods } from './existing-nodes.ts';

function pricedIn(currency: Currency, choice: OfferingChoice): PricedOffering {
  const { type, zone, capacityType, price, listPrice } = choice;
  return {
    type,
    zone,
    capacityType,
    price: { amount: price, currency },
    listPrice: { amount: listPrice, currency },
  };
}

/** What was chosen for the pods, and against what. */
function reasonsOf(
  currency: Currency,
  virtual: ReadonlySet<string>,
  { chosen, runnerUp, overlays, pods, expectedPods }: PartClaim,
): readonly Reason[] {
  // Those that stand for a CapacityBuffer, and those to come, are counted apart.
  const bufferPods = pods.filter((pod) => virtual.has(pod)).length;
  return [
    reason('nodeclaim-planned', {
      chosen: pricedIn(currency, chosen),
      pods: pods.length - bufferPods,
      bufferPods,
      expectedPods,
      overlays,
    }),
    runnerUp === undefined
      ? reason('only-offering', {})
      : reason('runner-up', {
          other: pricedIn(currency, runnerUp),
          difference: { amount: runnerUp.priceDifference, currency },
        }),
  ];
}

async function recordClaim(
  ports: Ports,
  { virtual }: ProvisioningInput,
  planned: PartClaim,
  name: string,
): Promise<void> {
  const { runnerUp, chosen, overlays, pods, expectedPods, instanceTypes, requests } = planned;
  await recordDecision(
    { ports },
    {
      id: `provision-${name}`,
      useCase: 'provision',
      object: `NodeClaim/${name}`,
      action: 'create',
      reasons: reasonsOf(currencyOf(ports.catalog.region), virtual, planned),
      detail: {
        nodePool: planned.nodePool,
        chosen,
        runnerUp: runnerUp ?? null,
        overlays,
        pods,
        expectedPods,
        requests,
        instanceTypes: instanceTypes.slice(0, 20),
        instanceTypeCount: instanceTypes.length,
      },
    },
  );
}

/** A planned claim as it is to be written. */
function claimOf(
  { snapshot, backoffs }: ProvisioningInput,
  planned: PartClaim,
  pool: NodePool,
  name: string,
  waiting: readonly Pod[],
): NewNodeClaim {
  const types = snapshot.instanceTypes.get(pool.name) ?? missing(pool.name);
  const uids = waiting.map(({ uid }) => uid);
  const claim = plannedClaim(planned, pool, types, name, uids);
  const launchedFor = launchedForAnnotation(backoffs, waiting);
  return { ...claim, annotations: { ...claim.annotations, ...launchedFor } };
}

async function createClaim(
  ports: Ports,
  input: ProvisioningInput,
  planned: PartClaim,
  pool: NodePool,
  wanted: NewNodeClaim,
): Promise<WrittenClaim> {
  const made = await input.shared.create(ports, wanted);
  ports.recorder.count('nodeclaims_created_total', {
    reason: 'provisioned',
    nodepool: pool.name,
    min_values_relaxed: planned.annotations[MIN_VALUES_RELAXED] ?? 'false',
  });
  await recordClaim(ports, input, planned, wanted.name);
  return made;
}

/** A planned claim as it was written, with the pods that it is for. */
export interface PlannedWritten extends WrittenClaim {
  readonly pods: readonly string[];
}

/** Says of the NodePools why claims that were planned are not written. */
async function publishUnreserved(
  ports: Ports,
  { pools }: ProvisioningInput,
  refusals: ReadonlyMap<string, Reason>,
): Promise<void> {
  for (const pool of pools) {
    const why = refusals.get(pool.name);
    if (why === undefined) continue;
    await recordNothing({ ports }, why, `NodePool/${pool.name}`);
    const event = { type: 'Warning', reason: 'LimitGroupReached', ...saying(why) } as const;
    await ports.cluster.event({ regarding: poolRef(pool), ...event });
  }
}

/**
 * Writes the planned claims, several at once; one that is refused leaves the others alone. Of a
 * shared limit group only those are written for which there is room yet.
 */
export async function createClaims(
  ports: Ports,
  input: ProvisioningInput,
  plan: PartPlan,
): Promise<readonly PlannedWritten[]> {
  const { failures, snapshot, shared } = input;
  const waiting = waitingPods(input);
  const nameFor = claimNames(ports, input.state.objects.nodeClaims);
  const all = plan.newNodeClaims.map((planned) => {
    const { nodePool, pods } = planned;
    const pool = snapshot.nodePools.find((each) => each.name === nodePool) ?? missing(nodePool);
    const own = pods.flatMap((pod) => waiting.get(pod) ?? []);
    const wanted = claimOf(input, planned, pool, nameFor(nodePool), own);
    const written: PlannedWritten[] = [];
    const refused: Failure[] = [];
    return { planned, pool, wanted, written, refused };
  });
  const claims = all.map(({ wanted }) => wanted);
  const { names, refusals } = await shared.reserve(ports, snapshot, claims);
  const parts = all.filter(({ wanted }) => names.has(wanted.name));
  await atOnce(WRITES_AT_ONCE, parts, async ({ planned, pool, wanted, written, refused }) => {
    const { pods } = planned;
    const create = async (): Promise<void> => {
      written.push({ ...(await createClaim(ports, input, planned, pool, wanted)), pods });
    };
    refused.push(...(await attempt(`NodePool/${pool.name}`, create)));
  });
  await shared.settle(ports);
  await publishUnreserved(ports, input, refusals);
  failures.push(...parts.flatMap(({ refused }) => refused));
  return parts.flatMap(({ written }) => written);
}
