import { type Reason, reason } from '../../explain/reason.ts';
import { typeMeets } from '../../instance-types/type-requirements.ts';
import { offeringMeets } from '../../launch/overrides.ts';
import type { InstanceType } from '../../model/instance-type.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { ClusterSnapshot, SchedulingSettings } from '../../model/snapshot.ts';
import { requirementsOf } from '../../requirements/value-set.ts';
import { compileProblem } from '../problem/compile.ts';
import { GATING, isOffered } from '../problem/launch-space.ts';
import { SearchContext } from '../search/search-context.ts';
import { SearchState } from '../search/search-state.ts';

/** Why the pool launches nothing whatever the pod; empty: it may. */
export function unusableBecause(pool: NodePool): readonly Reason[] {
  const failing = pool.conditions.find(({ type, status }) => GATING.has(type) && status !== 'True');
  const condition =
    failing === undefined || failing.reason === ''
      ? failing?.type
      : `${failing.type}: ${failing.reason}`;
  return [
    ...(pool.isDeleting ? [reason('nodepool-deleting', {})] : []),
    ...(pool.replicas === undefined ? [] : [reason('nodepool-static', {})]),
    ...(pool.invalid === undefined ? [] : [reason('nodepool-invalid', { fault: pool.invalid })]),
    ...(condition === undefined ? [] : [reason('nodepool-not-ready', { condition })]),
  ];
}

/** How many of a pool's types are left. */
interface UsableTypes {
  /** By its requirements. */
  readonly allowed: number;
  /** Of these, by what can be had now; of all types, where the requirements allow none. */
  readonly available: number;
}

export function usableTypes(
  { template }: NodePool,
  types: readonly InstanceType[],
  reservedCapacity: boolean,
): UsableTypes {
  const requirements = requirementsOf(template.requirements);
  const allowed = types
    .filter((type) => typeMeets(requirements, type, 'open'))
    .map((type) => type.offerings.filter((each) => offeringMeets(requirements, each)))
    .filter((offerings) => offerings.length > 0);
  const open = allowed.length > 0 ? allowed : types.map(({ offerings }) => offerings);
  const available = open.filter((offerings) =>
    offerings.some((each) => isOffered(each, reservedCapacity)),
  );
  return { allowed: allowed.length, available: available.length };
}

/** The types with every offering to be had. */
function allOffered(types: readonly InstanceType[]): readonly InstanceType[] {
  return types.map((type) => ({
    ...type,
    offerings: type.offerings.map((each) => ({
      ...each,
      available: true,
      ...(each.reservation === undefined
        ? {}
        : {
            reservation: { ...each.reservation, capacity: Math.max(1, each.reservation.capacity) },
          }),
    })),
  }));
}

/**
 * The state before anything is placed in which the pools without a launch option have some: what
 * else keeps a pod from them can be seen there. Only what keeps them from launching is taken away:
 * their conditions, their requirements where these allow no type, and what makes their offerings
 * unavailable.
 */
export function asIfUsable(
  snapshot: ClusterSnapshot,
  settings: SchedulingSettings,
  hasOptions: (pool: string) => boolean,
): SearchState {
  const instanceTypes = new Map(snapshot.instanceTypes);
  const nodePools = snapshot.nodePools.map((pool): NodePool => {
    if (hasOptions(pool.name)) return pool;
    const types = snapshot.instanceTypes.get(pool.name) ?? [];
    const { allowed, available } = usableTypes(pool, types, settings.reservedCapacity);
    const requirements = allowed === 0 ? [] : pool.template.requirements;
    if (available === 0) instanceTypes.set(pool.name, allOffered(types));
    return {
      ...pool,
      isDeleting: false,
      replicas: undefined,
      invalid: undefined,
      conditions: [],
      template: { ...pool.template, requirements },
    };
  });
  const supposed = { ...snapshot, nodePools, instanceTypes };
  return new SearchState(
    new SearchContext(compileProblem(supposed, settings), { kinds: new Set() }),
  );
}
