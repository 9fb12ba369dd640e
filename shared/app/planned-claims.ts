import { MIN_VALUES_RELAXED } from '../core/model/labels.ts';
import type { OfferingChoice } from '../core/model/plan.ts';
import type { NodePool } from '../core/model/provisioning.ts';
import type { Ports, WrittenClaim } from '../ports.ts';
import { attempt } from './attempt.ts';
import { sayNominated, waitingUids } from './existing-nodes.ts';
import type { PartClaim, PartPlan } from './expected-pods.ts';
import { plannedClaim } from './new-claims.ts';
import type { Outlook } from './outlook.ts';

function offeringText(choice: OfferingChoice): string {
  const { type, zone, capacityType, price, listPrice } = choice;
  const list = price === listPrice ? '' : `, list $${listPrice.toFixed(4)}`;
  return `${type} ${capacityType} in ${zone} at $${price.toFixed(4)}/h${list}`;
}

/** `3 pods`; those that stand for a CapacityBuffer, and those to come, are counted apart. */
function podsText({ pods, expectedPods }: PartClaim, virtual: ReadonlySet<string>): string {
  const buffered = pods.filter((pod) => virtual.has(pod)).length;
  const counted = (count: number, noun: string): readonly string[] =>
    count === 0 ? [] : [`${count} ${noun}${count === 1 ? '' : 's'}`];
  return [
    ...counted(pods.length - buffered, 'pod'),
    ...counted(buffered, 'buffer pod'),
    ...counted(expectedPods, 'expected pod'),
  ].join(' and ');
}

async function recordClaim(
  ports: Ports,
  { virtual }: Outlook,
  planned: PartClaim,
  name: string,
): Promise<void> {
  const { runnerUp, chosen, overlays, pods, expectedPods, instanceTypes, requests } = planned;
  const against =
    runnerUp === undefined
      ? 'nothing else would do'
      : `next best ${offeringText(runnerUp)}: ${runnerUp.why}`;
  const applied = overlays.length === 0 ? '' : `; overlays ${overlays.join(', ')}`;
  await ports.recorder.decision({
    id: `provision-${name}`,
    atMs: ports.clock.nowMs(),
    useCase: 'provision',
    object: `NodeClaim/${name}`,
    action: 'create',
    message: `${offeringText(chosen)} for ${podsText(planned, virtual)}${applied}; ${against}`,
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
  });
}

async function createClaim(
  ports: Ports,
  outlook: Outlook,
  planned: PartClaim,
  pool: NodePool,
  podUids: readonly string[],
): Promise<WrittenClaim> {
  const types = outlook.snapshot.instanceTypes.get(pool.name) ?? [];
  const name = `${pool.name}-${ports.ids.suffix()}`;
  const wanted = plannedClaim(planned, pool, types, name, podUids);
  const made = await ports.cluster.createNodeClaim(wanted);
  ports.recorder.count('nodeclaims_created_total', {
    reason: 'provisioned',
    nodepool: pool.name,
    min_values_relaxed: planned.annotations[MIN_VALUES_RELAXED] ?? 'false',
  });
  await recordClaim(ports, outlook, planned, name);
  return made;
}

/** Writes the planned claims; one that is refused leaves the others alone. */
export async function createClaims(
  ports: Ports,
  outlook: Outlook,
  plan: PartPlan,
): Promise<readonly WrittenClaim[]> {
  const { pools, shadow, failures, virtual } = outlook;
  const written: WrittenClaim[] = [];
  const waiting = waitingUids(outlook);
  for (const planned of plan.newNodeClaims) {
    const pool = pools.find((each) => each.name === planned.nodePool);
    if (pool === undefined) continue;
    if (await shadow.isCast()) break;
    const create = async (): Promise<void> => {
      const uids = planned.pods.flatMap((pod) => waiting.get(pod) ?? []);
      const made = await createClaim(ports, outlook, planned, pool, uids);
      written.push(made);
      for (const pod of planned.pods) {
        if (!virtual.has(pod)) await sayNominated(ports, pod, `nodeclaim/${made.claim.name}`);
      }
    };
    failures.push(...(await attempt(`NodePool/${pool.name}`, create)));
  }
  return written;
}
