import { type FailedLaunches, haltedUntilMs, isOfBefore } from '../../core/launch/halted-pools.ts';
import {
  isOurs,
  isStatusCurrent,
  NODE_CLASS_KIND,
  nodeClassOf,
} from '../../core/launch/node-classes.ts';
import { nodePoolHashAnnotations } from '../../core/launch/template-hash.ts';
import {
  type ConditionClaim,
  conditionOf,
  isTrue,
  readiness,
  sameConditions,
  withChanged,
  withConditions,
} from '../../core/lifecycle/conditions.ts';
import { NODE_POOL } from '../../core/model/labels.ts';
import type { NodePool } from '../../core/model/provisioning.ts';
import { addResources, type Resources } from '../../core/model/resources.ts';
import type { OverlayReport } from '../../core/overlay/resolve.ts';
import { launchPauseText } from '../../core/pause-windows.ts';
import type { ClusterState, Degradation, Ports } from '../../ports.ts';
import { attempt, type Failure } from '../writes/attempt.ts';
import { publishNewlyFalse } from '../writes/condition-changes.ts';
import { poolRef } from '../writes/references.ts';

function yes(type: string): ConditionClaim {
  return { type, status: 'True', reason: type, message: '' };
}

/** The group of what EKS Auto Mode makes nodes of. */
const AUTO_MODE = 'eks.amazonaws.com';

function nodeClassReady(state: ClusterState, pool: NodePool): ConditionClaim {
  const type = 'NodeClassReady';
  const { nodeClassRef } = pool.template;
  if (!isOurs(nodeClassRef)) {
    const isAuto = nodeClassRef.group === AUTO_MODE;
    const whose = isAuto
      ? ' is of EKS Auto Mode, whose nodes AWS runs'
      : ` is of ${nodeClassRef.group}`;
    const message = `${nodeClassRef.kind} ${nodeClassRef.name}${whose}: name an ${NODE_CLASS_KIND}`;
    const reason = isAuto ? 'NodeClassOfEKSAutoMode' : 'NodeClassNotOfEC2';
    return { type, status: 'False', reason, message };
  }
  const nodeClass = nodeClassOf(state, nodeClassRef);
  if (nodeClass === undefined) {
    const message = `${NODE_CLASS_KIND} ${nodeClassRef.name} does not exist`;
    return { type, status: 'False', reason: 'NodeClassNotFound', message };
  }
  if (nodeClass.isDeleting) {
    const message = `${NODE_CLASS_KIND} ${nodeClassRef.name} is being deleted`;
    return { type, status: 'False', reason: 'NodeClassTerminating', message };
  }
  const ready = nodeClass.status.conditions.find((each) => each.type === 'Ready');
  if (ready === undefined || !isStatusCurrent(nodeClass)) {
    const message = `${NODE_CLASS_KIND} ${nodeClassRef.name} has not been reconciled yet`;
    return { type, status: 'Unknown', reason: 'NodeClassReadinessUnknown', message };
  }
  if (ready.status === 'True') return yes(type);
  return { type, status: ready.status, reason: ready.reason, message: ready.message };
}

function validation({ invalid }: NodePool) {
  const type = 'ValidationSucceeded';
  if (invalid === undefined) return yes(type);
  return { type, status: 'False', reason: 'NodePoolValidationFailed', message: invalid } as const;
}

/** So many launches in a row that did not join are no accident. */
const UNHEALTHY_LAUNCHES = 2;

/** Informational: whether the pool's launches join. Unknown until one has or two have not. */
function registrationHealth(
  state: ClusterState,
  pool: NodePool,
  failed: FailedLaunches | undefined,
): ConditionClaim {
  const type = 'NodeRegistrationHealthy';
  const isFailing = failed !== undefined && !isOfBefore(failed);
  if (isFailing && failed.count >= UNHEALTHY_LAUNCHES) {
    const untilMs = haltedUntilMs(failed);
    const wait =
      untilMs === undefined ? '' : `; no launch before ${new Date(untilMs).toISOString()}`;
    const cause = failed.cause === undefined ? '' : `; the last one: ${failed.cause}`;
    const message = `${failed.count} launches in a row did not register a node${cause}${wait}`;
    const reason = untilMs === undefined ? 'RegistrationFailed' : 'LaunchesHalted';
    return { type, status: 'False', reason, message };
  }
  const isJoined = state.objects.nodeClaims.some(
    (claim) => claim.labels[NODE_POOL] === pool.name && isTrue(claim, 'Registered'),
  );
  if (failed === undefined && isJoined) return yes(type);
  const before = conditionOf(pool, type);
  if (before !== undefined && before.status !== 'False') return before;
  return { type, status: 'Unknown', reason: 'AwaitingReconciliation', message: '' };
}

/** False in a window of the annotation; absent where there never was one. */
function launchesAllowed(pool: NodePool, nowMs: number): readonly ConditionClaim[] {
  const type = 'LaunchesAllowed';
  const message = launchPauseText(pool, nowMs);
  if (message === undefined) return conditionOf(pool, type) === undefined ? [] : [yes(type)];
  return [{ type, status: 'False', reason: 'LaunchesPaused', message }];
}

/**
 * The pool as one that is not ready, in a window that pauses its launches: `provision` may not have
 * written so yet.
 */
export function withLaunchWindow(pool: NodePool, nowMs: number): NodePool {
  const [allowed] = launchesAllowed(pool, nowMs);
  if (allowed?.status !== 'False') return pool;
  const conditions = withConditions(
    pool.conditions,
    [allowed, { ...allowed, type: 'Ready' }],
    nowMs,
  );
  return { ...pool, conditions };
}

/** What a pool's conditions say beside its own objects. */
export interface PoolSurroundings {
  readonly failed: FailedLaunches | undefined;
  readonly degradations: readonly Degradation[];
}

/** Informational: False while something is missing; absent where nothing ever was. */
function degraded(pool: NodePool, degradations: readonly Degradation[]): readonly ConditionClaim[] {
  return (['MemoryReachable', 'PricesFresh', 'ZonesUsable'] as const).flatMap((type) => {
    const found = degradations.find((each) => each.type === type);
    if (found !== undefined) return [{ ...found, status: 'False' as const }];
    return conditionOf(pool, type) === undefined ? [] : [yes(type)];
  });
}

/** The pool with the conditions that it has now: what planning goes by, written or not. */
export function withPoolConditions(
  state: ClusterState,
  pool: NodePool,
  nowMs: number,
  { failed, degradations }: PoolSurroundings,
): NodePool {
  const health = registrationHealth(state, pool, failed);
  const missing = degraded(pool, degradations);
  const allowed = launchesAllowed(pool, nowMs);
  const set = [validation(pool), nodeClassReady(state, pool), health, ...missing, ...allowed];
  const conditions = withConditions(pool.conditions, set, nowMs);
  const ready = readiness(conditions, [
    'NodeClassReady',
    'ValidationSucceeded',
    ...allowed.map(({ type }) => type),
  ]);
  return { ...pool, conditions: withConditions(conditions, [ready], nowMs) };
}

/** Capacity of the pool's claims, the pseudo-resource `nodes` included. */
export function poolUsage(state: ClusterState, pool: string): Resources {
  const claims = state.objects.nodeClaims.filter((claim) => claim.labels[NODE_POOL] === pool);
  const total = claims.reduce<Resources>((sum, claim) => addResources(sum, claim.capacity), {});
  return { ...total, nodes: claims.length };
}

/** Statuses and hash annotations of all NodePools; only what changed is written. */
export async function writePoolStatuses(
  ports: Ports,
  state: ClusterState,
  pools: readonly NodePool[],
): Promise<readonly Failure[]> {
  const failures: Failure[] = [];
  for (const pool of pools.filter(({ template }) => isOurs(template.nodeClassRef))) {
    const write = async (): Promise<void> => {
      failures.push(...(await writePoolStatus(ports, state, pool)));
    };
    failures.push(...(await attempt(`NodePool/${pool.name}`, write)));
  }
  return failures;
}

async function writePoolStatus(
  ports: Ports,
  state: ClusterState,
  pool: NodePool,
): Promise<readonly Failure[]> {
  const hash = nodePoolHashAnnotations(pool);
  if (Object.entries(hash).some(([key, value]) => pool.annotations[key] !== value)) {
    await ports.cluster.patchNodePool(poolRef(pool), { annotations: hash });
  }
  const before = state.objects.nodePools.find((each) => each.name === pool.name)?.conditions ?? [];
  const resources = poolUsage(state, pool.name);
  const usage = state.nodePoolUsage.get(pool.name);
  const isSame = usage !== undefined && sameResources(usage, resources);
  if (isSame && sameConditions(before, pool.conditions)) return [];
  await ports.cluster.patchNodePoolStatus(poolRef(pool), {
    resources,
    nodes: resources['nodes'] ?? 0,
    // `disrupt` writes others.
    conditions: (now) => withChanged(now, before, pool.conditions),
  });
  return await publishNewlyFalse(ports, poolRef(pool), before, pool.conditions);
}

function sameResources(a: Resources, b: Resources): boolean {
  const names = new Set([...Object.keys(a), ...Object.keys(b)]);
  return [...names].every((name) => (a[name] ?? 0) === (b[name] ?? 0));
}

/** ValidationSucceeded and Ready of every overlay; a conflict names its winner. */
export async function writeOverlayStatuses(
  ports: Ports,
  state: ClusterState,
  verdicts: readonly OverlayReport[],
): Promise<readonly Failure[]> {
  const nowMs = ports.clock.nowMs();
  const failures: Failure[] = [];
  for (const { name, ready, reason, message } of verdicts) {
    const validation: ConditionClaim = ready
      ? yes('ValidationSucceeded')
      : { type: 'ValidationSucceeded', status: 'False', reason, message };
    const before = state.nodeOverlayConditions.get(name) ?? [];
    const set = withConditions(before, [validation], nowMs);
    const conditions = withConditions(set, [readiness(set, ['ValidationSucceeded'])], nowMs);
    if (sameConditions(before, conditions)) continue;
    const write = async (): Promise<void> => {
      const ref = { kind: 'NodeOverlay', name } as const;
      await ports.cluster.patchNodeOverlayStatus(ref, conditions);
      failures.push(...(await publishNewlyFalse(ports, ref, before, conditions)));
    };
    failures.push(...(await attempt(`NodeOverlay/${name}`, write)));
  }
  return failures;
}
