import { type Reason, reason, sentence } from '../../core/explain/reason.ts';
import { isTrue } from '../../core/lifecycle/conditions.ts';
import { isProtected } from '../../core/lifecycle/drain.ts';
import {
  type GroupRoom,
  groupRooms,
  mostOf,
  refusalBy,
} from '../../core/limit-groups/group-room.ts';
import { replacedUids } from '../../core/model/annotations/replacements.ts';
import { currencyOf } from '../../core/model/currency.ts';
import { nodeOfClaim, podsOnNode } from '../../core/model/joins.ts';
import { DO_NOT_DISRUPT, NODE_POOL } from '../../core/model/labels.ts';
import { isOver } from '../../core/model/pod.ts';
import type { NodeClaim, NodePool } from '../../core/model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../core/model/snapshot.ts';
import { pauseWindow } from '../../core/pause-windows.ts';
import { type ClusterState, isTransient, type NewNodeClaim, type Ports } from '../../ports.ts';
import { nothingToLaunch } from '../launch/choice.ts';
import { staticClaim } from '../planning/new-claims.ts';
import type { TypesOf } from '../planning/provisioning-input.ts';
import type { SharedGroups } from '../planning/shared-groups.ts';
import { isPaused } from '../settings.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { claimNames } from '../writes/claim-names.ts';
import { recordNothing, saying } from '../writes/decisions.ts';
import { deleteWithEvents, recordDeletion } from '../writes/deletions.ts';
import { poolRef } from '../writes/references.ts';

interface Ranked {
  readonly claim: NodeClaim;
  /** Lower goes first: not launched, empty, then by pods; those that may not be disrupted last. */
  readonly rank: number;
}

/** Which claims of a static pool go first when there are too many, as in Karpenter. */
function byExpendability(
  state: ClusterState,
  claims: readonly NodeClaim[],
  nowMs: number,
): readonly NodeClaim[] {
  const { nodes, pods } = state.objects;
  const ranked = claims.map((claim): Ranked => {
    if (claim.providerId === undefined) return { claim, rank: -1 };
    const node = nodeOfClaim(nodes, claim);
    const running = podsOnNode(pods, node?.name).filter(
      (pod) => pod.controller?.kind !== 'DaemonSet' && !isOver(pod),
    );
    const isHeld =
      node?.annotations[DO_NOT_DISRUPT] === 'true' ||
      running.some((pod) => isProtected(pod, nowMs));
    return { claim, rank: running.length + (isHeld ? 1_000_000 : 0) };
  });
  return ranked
    .sort((a, b) => a.rank - b.rank || (a.claim.name < b.claim.name ? -1 : 1))
    .map((each) => each.claim);
}

/** A replacement counts from the moment when the node that it replaces leaves. */
function withoutSurge(claims: readonly NodeClaim[]): readonly NodeClaim[] {
  const staying = new Set(claims.map(({ uid }) => uid));
  return claims.filter(
    ({ annotations }) => !replacedUids(annotations).some((uid) => staying.has(uid)),
  );
}

/** What the pools are compared with. */
export interface StaticInput {
  readonly state: ClusterState;
  readonly pools: readonly NodePool[];
  readonly failures: Failure[];
  readonly typesOf: TypesOf;
  readonly snapshot: ClusterSnapshot;
  readonly shared: SharedGroups;
}

/** Launches that static nodes are counted against. */
interface Launches {
  readonly rooms: readonly GroupRoom[];
  readonly nameFor: ReturnType<typeof claimNames>;
  readonly onChange: () => void;
  readonly minValuesPolicy: SchedulingSettings['minValuesPolicy'];
}

/** Creates and deletes claims of NodePools with `replicas`; how many it changed. */
export async function keepStaticCapacity(
  ports: Ports,
  input: StaticInput,
  minValuesPolicy: SchedulingSettings['minValuesPolicy'],
): Promise<number> {
  let changed = 0;
  const onChange = (): void => {
    changed += 1;
  };
  const rooms = groupRooms(input.snapshot);
  const nameFor = claimNames(ports, input.state.objects.nodeClaims);
  const launches = { rooms, nameFor, onChange, minValuesPolicy };
  for (const pool of input.pools) {
    if (pool.isDeleting || !isTrue(pool, 'Ready')) continue;
    const keep = () => keepReplicas(ports, input, pool, launches);
    input.failures.push(...(await attempt(`NodePool/${pool.name}`, keep)));
  }
  return changed;
}

/** A claim that would be given up at once, and made again in the next second, is not written. */
async function publishWaiting(
  { cluster }: Ports,
  pool: NodePool,
  missing: number,
  nothing: Reason,
): Promise<void> {
  const why = reason('static-nodes-wait', { missing, why: sentence(nothing) });
  const event = { type: 'Warning', reason: 'InsufficientCapacityError', ...saying(why) } as const;
  await cluster.event({ regarding: poolRef(pool), ...event });
}

async function keepReplicas(
  ports: Ports,
  input: StaticInput,
  pool: NodePool,
  { rooms, nameFor, onChange, minValuesPolicy }: Launches,
): Promise<void> {
  const { state, typesOf, snapshot, shared } = input;
  if (pool.replicas === undefined) return;
  const all = state.objects.nodeClaims.filter((each) => each.labels[NODE_POOL] === pool.name);
  const claims = withoutSurge(all.filter((claim) => claim.deletedAtMs === undefined));
  const room = (pool.limits['nodes'] ?? Number.POSITIVE_INFINITY) - all.length;
  const missing = Math.min(pool.replicas - claims.length, room);
  const most = mostOf(pool, snapshot.instanceTypes.get(pool.name) ?? []);
  const currency = currencyOf(ports.catalog.region);
  const planned: NewNodeClaim[] = [];
  let nothing: Reason | undefined;
  while (planned.length < missing && nothing === undefined) {
    const claim = staticClaim(pool, nameFor(pool.name));
    nothing =
      refusalBy(rooms, pool.name, most, currency) ??
      nothingToLaunch(claim, typesOf(claim), minValuesPolicy);
    if (nothing !== undefined) break;
    planned.push(claim);
    for (const each of rooms) if (each.caps.pools.includes(pool.name)) each.take(most, 1);
  }
  const { names, refusals } = await shared.reserve(ports, snapshot, planned);
  const created = planned.filter(({ name }) => names.has(name));
  try {
    for (const claim of created) {
      await shared.create(ports, claim).catch((error: unknown) => {
        // It may be written: pods are not planned with the state from before it.
        if (isTransient(error)) onChange();
        throw error;
      });
      ports.recorder.count('nodeclaims_created_total', { reason: 'static', nodepool: pool.name });
      onChange();
    }
  } finally {
    await shared.settle(ports);
  }
  const why = nothing ?? refusals.get(pool.name);
  if (why !== undefined) await publishWaiting(ports, pool, missing, why);
  await removeSurplus(ports, state, pool, claims, onChange);
}

/** Deletes claims that the pool has too many, unless disruptions are paused. */
async function removeSurplus(
  ports: Ports,
  state: ClusterState,
  pool: NodePool,
  claims: readonly NodeClaim[],
  onChange: () => void,
): Promise<void> {
  const { name, replicas = 0 } = pool;
  if (claims.length <= replicas) return;
  const nowMs = ports.clock.nowMs();
  if (isPaused(state.pausedUntilMs.disrupt, nowMs)) {
    await recordNothing({ ports }, reason('disruptions-paused', {}), `NodePool/${name}`);
    return;
  }
  const window = pauseWindow(pool, 'disrupt', nowMs);
  if (window !== undefined) {
    const paused = reason('disruptions-paused-by-pool', { nodePool: name, window });
    await recordNothing({ ports }, paused, `NodePool/${name}`);
    return;
  }
  const why = reason('static-surplus', { nodePool: name, nodes: claims.length, replicas });
  const surplus = claims.length - replicas;
  for (const claim of byExpendability(state, claims, nowMs).slice(0, surplus)) {
    const node = nodeOfClaim(state.objects.nodes, claim);
    const atMs = ports.clock.nowMs();
    const by = { useCase: 'provision', label: 'static', said: why, reasons: [why] } as const;
    const deletion = { claim, node, atMs, ...by };
    await deleteWithEvents(ports, deletion);
    await recordDeletion(ports, deletion);
    onChange();
  }
}
