import type { PoolStages, Stage } from '../../explain/parameters.ts';
import { type Reason, reason } from '../../explain/reason.ts';
import { fullTexts, type GroupRoom } from '../../limit-groups/group-room.ts';
import { leftText, takenOf } from '../../limit-groups/limit-groups.ts';
import { missing } from '../../missing.ts';
import { HOSTNAME, INSTANCE_TYPE } from '../../model/labels.ts';
import { type UnplacedReason, unplacedBecause } from '../../model/plan.ts';
import type { NodePool } from '../../model/provisioning.ts';
import type { Resources } from '../../model/resources.ts';
import type { ClusterSnapshot } from '../../model/snapshot.ts';
import { taintText, untoleratedTaints } from '../../model/taint.ts';
import type { LaunchOption } from '../problem/launch-options.ts';
import { launchMeets } from '../problem/launch-space.ts';
import { taintsAllowed } from '../problem/node-rules.ts';
import type { PodClass } from '../problem/problem.ts';
import { emptyHost, hostAllows } from '../search/host.ts';
import { insistsOnMinValues, keepsMinValues, ReservedOptions } from '../search/min-values.ts';
import { fits } from '../search/search-context.ts';
import type { SearchState } from '../search/search-state.ts';
import { placeOfGroup } from '../search/topology.ts';
import { Elimination, typesOf } from './elimination.ts';
import { keepTerms } from './node-affinity.ts';
import { tooLarge } from './too-large.ts';
import { topologyRules } from './topology-rules.ts';
import { asIfUsable, unusableBecause, usableTypes } from './unusable-pools.ts';

/** What of one NodePool's types a pod could be given a node of. */
export interface LaunchOptions {
  readonly nodePool: string;
  /** All of the NodePool. */
  readonly types: number;
  /** What took types away; stages that took none are left out. */
  readonly stages: readonly Stage[];
  /** Types that remain. */
  readonly left: number;
}

/** What pools can launch, in a state. */
interface Launches {
  readonly state: SearchState;
  readonly optionsOf: ReadonlyMap<string, readonly LaunchOption[]>;
  /** Labels that some type describes. */
  readonly typeKeys: ReadonlySet<string>;
}

function launchesOf(state: SearchState): Launches {
  const optionsOf = new Map<string, LaunchOption[]>();
  const variants = new Set<LaunchOption['type']>();
  for (const group of state.context.problem.groups) {
    for (const option of group.all) {
      variants.add(option.type);
      const { name } = option.pool.pool;
      const known = optionsOf.get(name);
      if (known === undefined) optionsOf.set(name, [option]);
      else known.push(option);
    }
  }
  const typeKeys = new Set([INSTANCE_TYPE]);
  for (const { type, chosen } of variants) {
    for (const key of [...Object.keys(type.labels), ...chosen.keys()]) typeKeys.add(key);
  }
  return { state, optionsOf, typeKeys };
}

/** What a pool itself leaves, whatever the pod. */
interface OfPool {
  readonly left: Elimination;
  /** Where what else keeps pods from it is looked at; undefined: it has no types at all. */
  readonly launches: Launches | undefined;
}

/** Why pods were left over: for each class and NodePool the stages that took its types away. */
export class Reasons {
  private readonly launches: Launches;
  private readonly snapshot: ClusterSnapshot;
  private readonly pools: readonly NodePool[];
  /** The same for all classes. */
  private readonly byPool = new Map<string, OfPool>();
  /** What the node rules leave, by pool and rule: classes share rules. */
  private readonly byRule = new Map<string, Elimination>();
  /** As if pools without a launch option had some; made when it is first needed. */
  private supposed: Launches | undefined;
  /** The same without DaemonSets. */
  private supposedBare: Launches | undefined;

  constructor(state: SearchState, snapshot: ClusterSnapshot) {
    this.launches = launchesOf(state);
    this.snapshot = snapshot;
    this.pools = [...snapshot.nodePools].sort(
      (a, b) => b.weight - a.weight || (a.name < b.name ? -1 : 1),
    );
  }

  of(podClass: PodClass): UnplacedReason {
    const { state } = this.launches;
    const all = this.pools.map((pool) => {
      const left = this.narrowed(podClass, pool);
      if (left.obstacles === 0) left.end(this.lastReason(podClass, left, pool));
      return { nodePool: pool.name, left };
    });
    const nodePools: readonly PoolStages[] = all
      .toSorted((a, b) => a.left.obstacles - b.left.obstacles || b.left.passed - a.left.passed)
      .map(({ nodePool, left }) => ({ nodePool, stages: left.stages }));
    const existingNodes = state.existingNodes.length;
    return unplacedBecause([reason('pod-unplaced', { nodePools, existingNodes })]);
  }

  /**
   * What a node of its own could be for a pod of the class, in a state in which none of the class
   * is placed yet.
   */
  options(podClass: PodClass): readonly LaunchOptions[] {
    return this.pools.map((pool) => {
      const { stages, left } = this.narrowed(podClass, pool);
      const types = this.snapshot.instanceTypes.get(pool.name)?.length ?? 0;
      return { nodePool: pool.name, types, stages, left };
    });
  }

  /** Each obstacle of the class is away, and the plan has found no place all the same. */
  private lastReason({ id, requests }: PodClass, { options }: Elimination, pool: NodePool): Reason {
    const { state } = this.launches;
    const { context, budgets, steps } = state;
    const { problem, resolvedClasses } = context;
    const { stepsMax } = problem.settings;
    if (steps > stepsMax) return reason('steps-used-up', { steps: stepsMax });
    const resolved = resolvedClasses[id] ?? missing(id);
    const reserved = new ReservedOptions(context, budgets, [resolved], requests);
    const isHeldByMinValues =
      insistsOnMinValues(problem, pool) && options.every((each) => reserved.of(each) === undefined);
    return reason(isHeldByMinValues ? 'min-values' : 'room-beside-other-pods', {});
  }

  private narrowed(podClass: PodClass, pool: NodePool): Elimination {
    const { left, launches } = this.allowedByPool(pool);
    if (launches === undefined) return left.copy();
    const own = classIn(launches, podClass);
    const rules = this.allowedByRules(own, pool, left, launches).copy();
    const requests = this.keepFitting(rules, own, launches);
    this.keepAllowed(rules, own, pool, launches);
    if (hasRoomInPlan(rules, requests, launches)) {
      rules.withdraw('limits-reached');
      rules.withdraw('limit-group-reached');
    }
    return rules;
  }

  private allowedByPool(pool: NodePool): OfPool {
    const known = this.byPool.get(pool.name);
    if (known !== undefined) return known;
    const found = this.lookedAt(pool);
    this.byPool.set(pool.name, found);
    return found;
  }

  private lookedAt(pool: NodePool): OfPool {
    const types = this.snapshot.instanceTypes.get(pool.name) ?? [];
    const left = new Elimination(types.length, []);
    for (const each of unusableBecause(pool)) left.end(each);
    if (types.length === 0) {
      left.end(reason('nodepool-without-types', {}));
      return { left, launches: undefined };
    }
    const { reservedCapacity } = this.launches.state.context.problem.settings;
    const { allowed, available } = usableTypes(pool, types, reservedCapacity);
    left.narrow(reason('nodepool-requirements', {}), allowed);
    left.narrow(reason('offerings-unavailable', {}), available);
    const { launches, isFull } = this.launchesFor(pool);
    left.options = launches.optionsOf.get(pool.name) ?? [];
    left.narrow(reason('daemonset-requests', {}), isFull ? 0 : typesOf(left.options));
    return { left, launches };
  }

  /** `isFull`: DaemonSets leave no launch option of the pool, and are left out. */
  private launchesFor({ name }: NodePool): { launches: Launches; isFull: boolean } {
    const has = (launches: Launches) => (launches.optionsOf.get(name)?.length ?? 0) > 0;
    if (has(this.launches)) return { launches: this.launches, isFull: false };
    const { settings } = this.launches.state.context.problem;
    const hasOptions = (pool: string) => this.launches.optionsOf.has(pool);
    const made = (snapshot: ClusterSnapshot) =>
      launchesOf(asIfUsable(snapshot, settings, hasOptions));
    this.supposed ??= made(this.snapshot);
    if (has(this.supposed)) return { launches: this.supposed, isFull: false };
    this.supposedBare ??= made({ ...this.snapshot, daemonSets: [] });
    return { launches: this.supposedBare, isFull: true };
  }

  private allowedByRules(
    podClass: PodClass,
    pool: NodePool,
    left: Elimination,
    { typeKeys }: Launches,
  ): Elimination {
    const text = `${pool.name}|${podClass.rule.id}|${podClass.affinityRule.id}`;
    const known = this.byRule.get(text);
    if (known !== undefined) return known;
    const own = left.copy();
    // Pods select pools by labels: one that they select and do not tolerate is a near miss.
    keepTerms(own, podClass.affinityRule, typeKeys);
    keepTolerated(own, podClass, pool);
    const { terms } = podClass.volumes;
    own.keep(reason('volume-zones', {}), (each) =>
      terms.some((term) => launchMeets(term, each.pool, each.type, each.domain)),
    );
    this.byRule.set(text, own);
    return own;
  }

  /** Returns the requests without those that are too large for every option. */
  private keepFitting(left: Elimination, podClass: PodClass, { state }: Launches): Float64Array {
    const requests = podClass.requests.slice();
    for (const [r, name] of state.context.problem.resources.entries()) {
      const amount = podClass.requests[r] ?? missing(r);
      if (amount === 0) continue;
      const why = tooLarge(name, amount);
      if (!left.keep(why, ({ free }) => (free[r] ?? missing(r)) >= amount)) requests[r] = 0;
    }
    return requests;
  }

  private keepAllowed(
    left: Elimination,
    podClass: PodClass,
    pool: NodePool,
    launches: Launches,
  ): void {
    const { state } = launches;
    const resolved = state.context.resolvedClasses[podClass.id] ?? missing(podClass.id);
    left.keep(reason('host-ports-of-daemonsets', {}), (each) =>
      state.clearOfDaemonPorts(resolved, each),
    );
    left.keep(
      (lost) => this.limitReason(pool, lost, state),
      (option) => state.budgets.ownAllowance(option, 1) > 0,
    );
    for (const group of state.budgets.groupsOf(pool.name)) {
      left.keep(
        (lost) => this.groupReason(group, lost, state),
        ({ type }) => group.allowance(type.type.capacity, 1) > 0,
      );
    }
    for (const { why, allows } of topologyRules(state.topology, podClass)) {
      left.keepAlike(why, 'group', ({ group }) => allows(placeOfGroup(group)));
    }
    if (!hostAllows(resolved.host, emptyHost(), state.totals)) {
      left.end(reason('pod-affinity', { key: HOSTNAME }));
    }
    const ofPool = launches.optionsOf.get(pool.name) ?? [];
    if (!keepsMinValues(state.context.problem, pool, left.options, ofPool)) {
      left.end(reason('min-values', {}));
    }
  }

  private limitReason(pool: NodePool, lost: readonly LaunchOption[], state: SearchState): Reason {
    const { budgets, context } = state;
    const { currency } = context.problem.settings;
    const left = budgets.remainingOwn(pool.name);
    const names = exceededBy(lost, left).filter((name) => Number.isFinite(pool.limits[name]));
    if (names.length === 0) return reason('limits-or-reservations-reached', {});
    const texts = names.map((name) =>
      leftText(name, left[name] ?? 0, pool.limits[name] ?? 0, currency),
    );
    return reason('limits-reached', { resources: names, left: texts });
  }

  private groupReason(
    room: GroupRoom,
    lost: readonly LaunchOption[],
    { context }: SearchState,
  ): Reason {
    const { currency } = context.problem.settings;
    const byAll = exceededBy(lost, room.left);
    const resources = byAll.length > 0 ? byAll : Object.keys(room.left).sort();
    const texts = fullTexts(room, resources, currency);
    return reason('limit-group-reached', { resources, ...texts });
  }
}

/** Of what is left the resources of which each of the options takes more. */
function exceededBy(lost: readonly LaunchOption[], left: Resources): readonly string[] {
  return Object.keys(left)
    .sort()
    .filter((name) =>
      lost.every(({ type }) => takenOf(type.type.capacity, name) > Math.max(0, left[name] ?? 0)),
    );
}

/** Whether a new node of the plan has room for a pod of the class, were it not for its obstacles. */
function hasRoomInPlan(
  { options }: Elimination,
  requests: Float64Array,
  { state }: Launches,
): boolean {
  const possible = new Set(options);
  return state.bins.some(({ options: larger, reserved, used }) => {
    const { pool } = reserved.pool;
    const remaining = state.budgets.remaining(pool.name) ?? {};
    const isWithin = ({ type }: LaunchOption): boolean =>
      Object.entries(remaining).every(([name, left]) => {
        const [now, before] = [type, reserved.type].map((each) =>
          takenOf(each.type.capacity, name),
        );
        return (now ?? 0) - (before ?? 0) <= left;
      });
    return larger.some(
      (each) => possible.has(each) && fits(requests, used, each.free) && isWithin(each),
    );
  });
}

/** The class of the same pods in the problem of the launches. */
function classIn({ state }: Launches, podClass: PodClass): PodClass {
  const { classes } = state.context.problem;
  if (classes[podClass.id] === podClass) return podClass;
  const [first] = podClass.pods;
  return classes.find(({ pods }) => pods.some((pod) => pod === first)) ?? missing(podClass.id);
}

function keepTolerated(left: Elimination, { rule }: PodClass, pool: NodePool): void {
  const taints = untoleratedTaints(rule.tolerations ?? [], pool.template.taints);
  left.keep(reason('taint-not-tolerated', { taints: taints.map(taintText) }), (each) =>
    taintsAllowed(rule, each.pool.taints),
  );
}
