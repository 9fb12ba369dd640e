import type { PricedOffering } from '../../core/explain/parameters.ts';
import { type Reason, reason } from '../../core/explain/reason.ts';
import { missing } from '../../core/missing.ts';
import { type Currency, currencyOf } from '../../core/model/currency.ts';
import { MIN_VALUES_RELAXED } from '../../core/model/labels.ts';
import type { OfferingChoice } from '../../core/model/plan.ts';
import type { Pod } from '../../core/model/pod.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import type { PartClaim, PartPlan } from '../../core/rollouts/part-plan.ts';
import type { Ports, WrittenClaim } from '../../ports.ts';
import { launchedForAnnotation } from '../planning/launch-backoffs.ts';
import { plannedClaim } from '../planning/new-claims.ts';
import type { ProvisioningInput } from '../planning/provisioning-input.ts';
import { atOnce, WRITES_AT_ONCE } from '../writes/at-once.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { recordDecision } from '../writes/decisions.ts';
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

async function createClaim(
  ports: Ports,
  input: ProvisioningInput,
  planned: PartClaim,
  pool: NodePool,
  waiting: readonly Pod[],
): Promise<WrittenClaim> {
  const types = input.snapshot.instanceTypes.get(pool.name) ?? missing(pool.name);
  const name = `${pool.name}-${ports.ids.suffix()}`;
  const uids = waiting.map(({ uid }) => uid);
  const claim = plannedClaim(planned, pool, types, name, uids);
  const launchedFor = launchedForAnnotation(input.backoffs, waiting);
  const wanted = { ...claim, annotations: { ...claim.annotations, ...launchedFor } };
  const made = await ports.cluster.createNodeClaim(wanted);
  ports.recorder.count('nodeclaims_created_total', {
    reason: 'provisioned',
    nodepool: pool.name,
    min_values_relaxed: planned.annotations[MIN_VALUES_RELAXED] ?? 'false',
  });
  await recordClaim(ports, input, planned, name);
  return made;
}

/** A planned claim as it was written, with the pods that it is for. */
export interface PlannedWritten extends WrittenClaim {
  readonly pods: readonly string[];
}

/** Writes the planned claims, several at once; one that is refused leaves the others alone. */
export async function createClaims(
  ports: Ports,
  input: ProvisioningInput,
  plan: PartPlan,
): Promise<readonly PlannedWritten[]> {
  const { failures, snapshot } = input;
  const waiting = waitingPods(input);
  const parts = plan.newNodeClaims.map((planned) => {
    const written: PlannedWritten[] = [];
    const refused: Failure[] = [];
    return { planned, written, refused };
  });
  await atOnce(WRITES_AT_ONCE, parts, async ({ planned, written, refused }) => {
    const { nodePool } = planned;
    const pool = snapshot.nodePools.find((each) => each.name === nodePool) ?? missing(nodePool);
    const { pods } = planned;
    const create = async (): Promise<void> => {
      const own = pods.flatMap((pod) => waiting.get(pod) ?? []);
      written.push({ ...(await createClaim(ports, input, planned, pool, own)), pods });
    };
    refused.push(...(await attempt(`NodePool/${pool.name}`, create)));
  });
  failures.push(...parts.flatMap(({ refused }) => refused));
  return parts.flatMap(({ written }) => written);
}
